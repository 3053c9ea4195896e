//! The sockets that the task's traffic is redirected to.
//!
//! Bound inside the task's namespace, served from outside: a socket stays in the namespace it was made in, whoever
//! holds it. That is the whole bridge between the two.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::libc;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use thiserror::Error;

/// Where TCP is redirected to.
pub const PROXY_PORT: u16 = 12345;
/// Where DNS is redirected to, UDP and TCP.
pub const DNS_PORT: u16 = 15053;
/// Connections that the kernel completes before they are accepted; more are retried by their clients.
const BACKLOG: i32 = 4096;

/// All listeners of one namespace: on 127.0.0.1, and on ::1 where the kernel has IPv6.
#[derive(Debug, Default)]
pub struct Listeners {
    /// Redirected TCP connections.
    pub tcp: Vec<TcpListener>,
    /// DNS over UDP.
    pub dns_udp: Vec<UdpSocket>,
    /// DNS over TCP.
    pub dns_tcp: Vec<TcpListener>,
    /// Copies of the packets that the rules refused.
    pub packet_log: Option<OwnedFd>,
}

/// The address families of a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Families {
    /// The kernel has no IPv6.
    V4,
    /// Both.
    V4AndV6,
}

/// Why the listeners were not made or not taken over.
#[derive(Debug, Error)]
pub enum ListenError {
    /// A port is taken, or a family is missing.
    #[error("can't listen on {address} ({kind})")]
    Bind {
        /// Where.
        address: SocketAddr,
        /// TCP or UDP.
        kind: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A descriptor that was handed over is not a socket.
    #[error("what was handed over is not a socket")]
    NotASocket(#[source] io::Error),
    /// A socket that was handed over is not one of ours.
    #[error("a socket was handed over that is not one of closedbook's listeners: {0:?}")]
    Foreign(Option<SocketAddr>),
    /// Something is missing from what was handed over.
    #[error(
        "the listeners that were handed over are not complete: {tcp} TCP, {udp} DNS over UDP, {dns} DNS over TCP"
    )]
    Incomplete {
        /// How many listeners for TCP.
        tcp: usize,
        /// How many sockets for DNS over UDP.
        udp: usize,
        /// How many listeners for DNS over TCP.
        dns: usize,
    },
}

impl Listeners {
    /// Binds them all in the current network namespace.
    pub fn bind(families: Families) -> Result<Self, ListenError> {
        let mut listeners = Self::default();
        for address in addresses(families) {
            listeners.tcp.push(listen(SocketAddr::new(address, PROXY_PORT))?);
            listeners.dns_tcp.push(listen(SocketAddr::new(address, DNS_PORT))?);
            listeners.dns_udp.push(receive(SocketAddr::new(address, DNS_PORT))?);
        }
        Ok(listeners)
    }

    /// The families they serve.
    pub fn families(&self) -> Families {
        if self.tcp.iter().any(|l| l.local_addr().is_ok_and(|a| a.is_ipv6())) {
            Families::V4AndV6
        } else {
            Families::V4
        }
    }

    /// Together with the socket for copies of refused packets.
    #[must_use]
    pub fn with_packet_log(mut self, packet_log: OwnedFd) -> Self {
        self.packet_log = Some(packet_log);
        self
    }

    /// Their descriptors, to hand over.
    pub fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let tcp = self.tcp.iter().chain(&self.dns_tcp).map(AsFd::as_fd);
        let udp = self.dns_udp.iter().map(AsFd::as_fd);
        tcp.chain(udp).chain(self.packet_log.as_ref().map(AsFd::as_fd)).collect()
    }

    /// Takes over what another process bound; each is recognised by what it is, not by its place.
    pub fn adopt(descriptors: Vec<OwnedFd>) -> Result<Self, ListenError> {
        let mut listeners = Self::default();
        for descriptor in descriptors {
            let socket = Socket::from(descriptor);
            if socket.domain().map_err(ListenError::NotASocket)? == Domain::from(libc::AF_NETLINK) {
                listeners.packet_log = Some(socket.into());
                continue;
            }
            let kind = socket.r#type().map_err(ListenError::NotASocket)?;
            let address = socket.local_addr().map_err(ListenError::NotASocket)?.as_socket();
            match (kind, address) {
                (Type::STREAM, Some(at)) if ours(at, PROXY_PORT) => listeners.tcp.push(socket.into()),
                (Type::STREAM, Some(at)) if ours(at, DNS_PORT) => listeners.dns_tcp.push(socket.into()),
                (Type::DGRAM, Some(at)) if ours(at, DNS_PORT) => listeners.dns_udp.push(socket.into()),
                (_, address) => return Err(ListenError::Foreign(address)),
            }
        }
        let (tcp, udp, dns) = (listeners.tcp.len(), listeners.dns_udp.len(), listeners.dns_tcp.len());
        match tcp == udp && udp == dns && (1..=2).contains(&tcp) {
            true => Ok(listeners),
            false => Err(ListenError::Incomplete { tcp, udp, dns }),
        }
    }
}

fn addresses(families: Families) -> impl Iterator<Item = IpAddr> {
    let v6 = matches!(families, Families::V4AndV6).then_some(IpAddr::V6(Ipv6Addr::LOCALHOST));
    std::iter::once(IpAddr::V4(Ipv4Addr::LOCALHOST)).chain(v6)
}

fn ours(address: SocketAddr, port: u16) -> bool {
    address.ip().is_loopback() && address.port() == port
}

/// SO_REUSEADDR alone: SO_REUSEPORT, or SO_REUSEADDR on UDP, would let the task bind the same port and take over.
fn listen(address: SocketAddr) -> Result<TcpListener, ListenError> {
    let make = || {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.set_reuse_address(true)?;
        socket.bind(&SockAddr::from(address))?;
        socket.listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    make().map_err(|source| ListenError::Bind { address, kind: "TCP", source })
}

fn receive(address: SocketAddr) -> Result<UdpSocket, ListenError> {
    let make = || {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&SockAddr::from(address))?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    make().map_err(|source| ListenError::Bind { address, kind: "UDP", source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(listeners: &Listeners) -> Vec<OwnedFd> {
        listeners.descriptors().into_iter().map(|fd| fd.try_clone_to_owned().unwrap()).collect()
    }

    #[test]
    fn only_our_own_sockets_are_taken_over() {
        let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = Listeners::adopt(vec![stranger.into()]);
        assert!(matches!(refused, Err(ListenError::Foreign(Some(_)))), "{refused:?}");
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(Listeners::adopt(vec![file.into()]), Err(ListenError::NotASocket(_))));
        assert!(matches!(Listeners::adopt(Vec::new()), Err(ListenError::Incomplete { .. })));
        assert!(owned(&Listeners::default()).is_empty());
    }
}
