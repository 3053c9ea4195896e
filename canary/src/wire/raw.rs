//! Raw sockets: IP packets that no transport of the kernel has made. All of this needs CAP_NET_RAW, ping sockets aside.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::{PATIENCE, ip, reply};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// Sends this as the payload of this protocol.
pub fn send(to: IpAddr, protocol: u8, payload: &[u8]) -> Seen {
    open(to, protocol).map_or_else(|seen| seen, |socket| send_on(&socket, to, &[payload.to_vec()]))
}

/// Sends these packets as they are, their headers included.
pub fn send_whole(to: IpAddr, packets: &[Vec<u8>]) -> Seen {
    // IPPROTO_RAW: for both families that means that the header is the caller's.
    open(to, 255).map_or_else(|seen| seen, |socket| send_on(&socket, to, packets))
}

fn open(to: IpAddr, protocol: u8) -> Result<Socket, Seen> {
    let domain = Domain::for_address(SocketAddr::new(to, 0));
    Socket::new(domain, Type::RAW, Some(Protocol::from(i32::from(protocol))))
        .map_err(|error| Seen::of_error("socket(SOCK_RAW)", &error))
}

fn send_on(socket: &Socket, to: IpAddr, packets: &[Vec<u8>]) -> Seen {
    for packet in packets {
        if let Err(error) = socket.send_to(packet, &SocketAddr::new(to, 0).into()) {
            return Seen::of_error("sendto", &error);
        }
    }
    Seen::Sent
}

/// How an echo request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ping {
    /// By a socket of type DGRAM, which a sysctl gives to users without any capability.
    Unprivileged,
    /// By a raw socket.
    Raw,
}

/// Sends an echo request with the nonce for its payload, and waits for its reply.
pub fn ping(to: IpAddr, how: Ping, nonce: &Nonce) -> Seen {
    /// Chosen by hand for raw sockets; the kernel puts its own for the others.
    const ID: u16 = 0x0cb0;
    let protocol = if to.is_ipv6() { Protocol::ICMPV6 } else { Protocol::ICMPV4 };
    let (kind, call) = match how {
        Ping::Unprivileged => (Type::DGRAM, "socket(SOCK_DGRAM, IPPROTO_ICMP)"),
        Ping::Raw => (Type::RAW, "socket(SOCK_RAW)"),
    };
    let socket = match Socket::new(Domain::for_address(SocketAddr::new(to, 0)), kind, Some(protocol)) {
        Ok(socket) => socket,
        Err(error) => return Seen::of_error(call, &error),
    };
    let message = ip::echo(to.is_ipv6(), ID, nonce.as_str().as_bytes());
    // Only a connected socket is told of ICMP errors.
    let sent = socket.connect(&SocketAddr::new(to, 0).into()).and_then(|()| socket.send(&message));
    if let Err(error) = sent {
        return Seen::of_error("sendto", &error);
    }
    answer_to_ping(&socket.into(), to, how, nonce)
}

/// Reads until the reply comes. A raw socket sees every message of its protocol, our own request on loopback too.
fn answer_to_ping(socket: &UdpSocket, to: IpAddr, how: Ping, nonce: &Nonce) -> Seen {
    let end = Instant::now() + PATIENCE;
    let mut octets = [0_u8; 2048];
    loop {
        let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let received = socket.set_read_timeout(Some(left)).and_then(|()| socket.recv(&mut octets));
        let received = match received {
            Ok(count) => octets.get(..count).unwrap_or_default(),
            Err(error) => return Seen::of_error("recv", &error),
        };
        // Raw IPv4 sockets are given the IP header too.
        let message = match (how, to) {
            (Ping::Raw, IpAddr::V4(_)) => {
                let header = usize::from(received.first().map_or(0, |first| first & 0x0f)) * 4;
                received.get(header..).unwrap_or_default()
            }
            _ => received,
        };
        if is_reply(message, to, nonce) {
            return Seen::Proof { proof: String::new() };
        }
        if Instant::now() >= end {
            return Seen::Silence;
        }
    }
}

fn is_reply(message: &[u8], to: IpAddr, nonce: &Nonce) -> bool {
    let wanted = if to.is_ipv6() { 129 } else { 0 };
    let text = reply::text(message.get(8..).unwrap_or_default());
    message.first() == Some(&wanted) && text.contains(nonce.as_str())
}

/// The address that packets to `to` leave from. Sends nothing.
pub fn source(to: IpAddr) -> Result<IpAddr, Seen> {
    let any: SocketAddr = match to {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let address = UdpSocket::bind(any)
        .and_then(|socket| socket.connect(SocketAddr::new(to, 9)).and_then(|()| socket.local_addr()))
        .map_err(|error| Seen::of_error("connect", &error))?;
    Ok(address.ip())
}
