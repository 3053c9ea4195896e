//! One datagram, and what comes back.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::{PATIENCE, reply};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// Sends a datagram from a connected socket, so that ICMP errors come back, and waits for an answer. Silence is told from
/// refusal by a second datagram: the kernel reports the first one's error there at the latest.
pub fn exchange(to: SocketAddr, octets: &[u8], nonce: &Nonce) -> Seen {
    exchange_within(to, octets, nonce, PATIENCE)
}

/// The same with another time limit.
pub fn exchange_within(to: SocketAddr, octets: &[u8], nonce: &Nonce, within: Duration) -> Seen {
    let from: SocketAddr = match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    match UdpSocket::bind(from) {
        Ok(socket) => converse(&socket, to, octets, nonce, within),
        Err(error) => Seen::of_error("bind", &error),
    }
}

/// The same from a socket that somebody has prepared.
pub fn converse(socket: &UdpSocket, to: SocketAddr, octets: &[u8], nonce: &Nonce, within: Duration) -> Seen {
    let sent = socket
        .connect(to)
        .and_then(|()| socket.set_read_timeout(Some(within)))
        .and_then(|()| socket.send(octets));
    if let Err(error) = sent {
        return Seen::of_error("sendto", &error);
    }
    received(socket, nonce)
}

/// The same without connecting the socket: an answer may come from anybody, and ICMP errors don't come back.
pub fn converse_unconnected(
    socket: &UdpSocket,
    to: SocketAddr,
    octets: &[u8],
    nonce: &Nonce,
    within: Duration,
) -> Seen {
    let sent = socket.set_read_timeout(Some(within)).and_then(|()| socket.send_to(octets, to));
    if let Err(error) = sent {
        return Seen::of_error("sendto", &error);
    }
    received(socket, nonce)
}

fn received(socket: &UdpSocket, nonce: &Nonce) -> Seen {
    let mut answer = [0_u8; 4096];
    match socket.recv(&mut answer) {
        Ok(count) => reply::classify(answer.get(..count).unwrap_or_default(), nonce),
        Err(error) => Seen::of_error("recv", &error),
    }
}
