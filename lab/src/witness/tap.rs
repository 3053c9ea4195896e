//! Sees packets that reach no listener of ours: ICMP, other IP protocols, UDP to any port, hand-made TCP segments,
//! frames that are not IP. One packet socket for all interfaces of this namespace.

mod filter;

use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{
    ControlMessageOwned, LinkAddr, MsgFlags, RecvMsg, recvmsg, setsockopt, sockopt::RxqOvfl,
};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::Interest;
use tokio::net::UdpSocket;

use super::packet::{Layer, Packet, protocol};
use super::{Arrival, Kind, Witness, find_nonce};
use crate::{LabError, ports};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Longest part of a packet that is read: headers, and more than an arrival keeps.
const SNAP: usize = 2048;
/// Asked for; the kernel gives what net.core.rmem_max allows. An overflow is counted by the kernel and read back.
const RECEIVE_BUFFER: usize = 16 * 1024 * 1024;

/// An open tap that nobody reads yet. What arrives from now on is queued.
pub(crate) struct Tap {
    /// Not a UDP socket: tokio has no type for packet sockets, and of this one only its readiness is used.
    socket: UdpSocket,
}

impl Tap {
    pub(crate) fn open() -> Result<Self, LabError> {
        let socket = open().map_err(LabError::Tap)?;
        setsockopt(&socket, RxqOvfl, &1).map_err(|error| LabError::Tap(error.into()))?;
        let socket = UdpSocket::from_std(socket.into()).map_err(LabError::Tap)?;
        Ok(Self { socket })
    }

    /// Reads until the task is dropped.
    pub(crate) async fn watch(self, witness: Witness) {
        let mut overflow = 0;
        loop {
            let Ok(seen) = self.socket.async_io(Interest::READABLE, || receive(&self.socket)).await else {
                // The interface went down, or another error of the moment; reading takes it off the socket.
                continue;
            };
            if let Some(arrival) = seen.arrival {
                witness.add(arrival);
            }
            // The kernel's counter only grows, and wraps.
            witness.add_lost(u64::from(seen.overflow.unwrap_or(overflow).wrapping_sub(overflow)));
            overflow = seen.overflow.unwrap_or(overflow);
        }
    }
}

struct Seen {
    arrival: Option<Arrival>,
    overflow: Option<u32>,
}

fn open() -> io::Result<Socket> {
    // SOCK_DGRAM: the link-layer header is cut off, so that loopback and Ethernet look the same.
    let all = Protocol::from(i32::from((nix::libc::ETH_P_ALL as u16).to_be()));
    let kind = Type::DGRAM.nonblocking().cloexec();
    let socket = Socket::new(Domain::PACKET, kind, Some(all))?;
    socket.attach_filter(&filter::program())?;
    // Best effort: a small buffer costs arrivals under a flood, and those are counted.
    let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
    Ok(socket)
}

fn receive(socket: &UdpSocket) -> io::Result<Seen> {
    let mut buffer = [0_u8; SNAP];
    let mut control = nix::cmsg_space!(u32);
    let mut parts = [io::IoSliceMut::new(&mut buffer)];
    // MSG_TRUNC: the length is the packet's, not what fitted.
    let message: RecvMsg<'_, '_, LinkAddr> =
        recvmsg(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_TRUNC)?;
    let length = message.bytes;
    let ethertype = message.address.map_or(0, |address| u16::from_be(address.protocol()));
    let overflow = message.cmsgs().ok().and_then(|mut all| {
        all.find_map(|one| match one {
            ControlMessageOwned::RxqOvfl(count) => Some(count),
            _ => None,
        })
    });
    let bytes = buffer.get(..length.min(SNAP)).unwrap_or_default();
    Ok(Seen { arrival: arrival(ethertype, bytes, length as u64), overflow })
}

/// What to write down about a packet; `None` for what a listener of ours writes down itself.
fn arrival(ethertype: u16, bytes: &[u8], length: u64) -> Option<Arrival> {
    // Only the ethertype tells: what begins like an IP header may be anything.
    let packet = matches!(ethertype, IPV4 | IPV6).then(|| Packet::parse(bytes)).flatten();
    let Some(packet) = packet else {
        return Some(
            Arrival::new(Kind::Frame, bytes)
                .detailed(format!("ethertype {ethertype:#06x}"))
                .totalling(length),
        );
    };
    let (local, peer) = (packet.destination, packet.source);
    let arrival = match packet.layer {
        Layer::Tcp { source, destination, flags, payload } => {
            let kind = if flags & 0x3f == 0x02 { Kind::TcpSyn } else { Kind::TcpSegment };
            Arrival::new(kind, payload)
                .between((local, destination).into(), (peer, source).into())
                .detailed(format!("flags {flags:#04x}"))
        }
        // A listener of ours holds the source port of our answers, so nobody here can send from it. Groups it has not
        // joined: what is sent to one never gets to it.
        Layer::Udp { source, destination, .. }
            if !local.is_multicast() && (ports::is_udp(source) || ports::is_udp(destination)) =>
        {
            return None;
        }
        Layer::Udp { source, destination, payload } => {
            Arrival::new(Kind::Udp, payload).between((local, destination).into(), (peer, source).into())
        }
        Layer::Other(payload) => {
            let kind = match packet.protocol {
                protocol::ICMP => Kind::Icmp,
                protocol::ICMPV6 => Kind::Icmpv6,
                _ => Kind::Ip,
            };
            let number = packet.protocol;
            // The kernel's own errors quote what they are about, nonce and all; the type tells them apart.
            let detail = match (kind, payload.first()) {
                (Kind::Icmp | Kind::Icmpv6, Some(message)) => format!("protocol {number} type {message}"),
                _ => format!("protocol {number}"),
            };
            Arrival::new(kind, payload).hosts(local, peer).detailed(detail).totalling(length)
        }
    };
    // A nonce in the headers has arrived as well.
    Some(match arrival.nonce {
        Some(_) => arrival,
        None => arrival.with_nonce(find_nonce(bytes).as_deref()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_listeners_write_down_is_left_to_them() {
        let datagram = |source: u16, destination: u16| {
            let mut bytes = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1];
            bytes.extend(source.to_be_bytes());
            bytes.extend(destination.to_be_bytes());
            bytes.extend([0, 8, 0, 0]);
            arrival(0x0800, &bytes, 28)
        };
        assert_eq!(datagram(40000, 53), None);
        assert_eq!(datagram(53, 40000), None);
        assert_eq!(datagram(40000, 443), None);
        assert_eq!(datagram(40000, 40001).unwrap().proto, Kind::Udp);
    }

    #[test]
    fn what_is_sent_to_a_group_reaches_no_listener() {
        let mut bytes = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 1, 17, 0, 0, 127, 0, 0, 1, 224, 0, 0, 252];
        bytes.extend([0x9c, 0x40, 0x14, 0xeb, 0, 8, 0, 0]);
        let arrival = arrival(0x0800, &bytes, 28).unwrap();
        assert_eq!((arrival.proto, arrival.local_port), (Kind::Udp, Some(5355)));
    }

    #[test]
    fn a_frame_that_is_not_ip_is_an_arrival() {
        // The letter N would be the first octet of an IPv4 header with options.
        for frame in [&b"N0NCE-frame"[..], b"N0NCE-frame behind which there is more than a header"] {
            let arrival = arrival(0x88b5, frame, 11).unwrap();
            assert_eq!((arrival.proto, arrival.nonce.as_deref()), (Kind::Frame, Some("N0NCE-frame")));
        }
    }

    #[test]
    fn a_nonce_in_the_options_is_found() {
        let mut bytes = vec![0x4a, 0, 0, 40, 0, 0, 0, 0, 64, 253, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1];
        bytes.extend(b"\x94\x14N0NCE-option\0\0\0\0\0\0");
        assert_eq!(arrival(0x0800, &bytes, 40).unwrap().nonce.as_deref(), Some("N0NCE-option"));
    }
}
