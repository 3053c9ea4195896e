//! Sockets on every address of the namespace, both families in one.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use nix::sys::socket::{setsockopt, sockopt};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::{TcpListener, UdpSocket};

use crate::LabError;

/// Connections that wait for `accept`: a burst of thousands must not see its SYNs dropped.
const BACKLOG: i32 = 4096;
/// IANA's number; the socket crate has no name for it on every platform.
const IPPROTO_SCTP: i32 = 132;

/// A TCP listener on `port`.
pub(crate) fn tcp(port: u16) -> Result<TcpListener, LabError> {
    stream(port, Protocol::TCP).map_err(|source| LabError::Listen { protocol: "tcp", port, source })
}

/// An SCTP listener on `port`; `None` when the kernel has no SCTP. One-to-one style sockets (RFC 6458 section 4) take
/// the same calls as TCP's.
pub(crate) fn sctp(port: u16) -> Result<Option<TcpListener>, LabError> {
    match stream(port, Protocol::from(IPPROTO_SCTP)) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if error.raw_os_error() == Some(nix::libc::EPROTONOSUPPORT) => Ok(None),
        Err(source) => Err(LabError::Listen { protocol: "sctp", port, source }),
    }
}

/// A UDP socket on `port` that tells which of our addresses a datagram was sent to (RFC 3542 section 6.1).
pub(crate) fn udp(port: u16) -> Result<UdpSocket, LabError> {
    datagram(port).map_err(|source| LabError::Listen { protocol: "udp", port, source })
}

fn stream(port: u16, protocol: Protocol) -> io::Result<TcpListener> {
    let socket = bind(port, Type::STREAM, protocol, Reuse::Address)?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

fn datagram(port: u16) -> io::Result<UdpSocket> {
    // Without any reuse option nobody else can bind the port (with it, any user could, and take our datagrams).
    let socket = bind(port, Type::DGRAM, Protocol::UDP, Reuse::Never)?;
    if socket.domain()? == Domain::IPV6 {
        setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?;
        // IPv6 calls an address its own only if an interface has it; a local route is not enough to answer from it.
        socket.set_freebind_v6(true)?;
    } else {
        setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?;
    }
    UdpSocket::from_std(socket.into())
}

enum Reuse {
    /// TCP's lingering connections of an earlier lab must not stand in the way.
    Address,
    Never,
}

fn bind(port: u16, kind: Type, protocol: Protocol, reuse: Reuse) -> io::Result<Socket> {
    let kind = kind.nonblocking().cloexec();
    // A kernel booted without IPv6 has v4 only.
    let (socket, address): (Socket, SocketAddr) = match Socket::new(Domain::IPV6, kind, Some(protocol)) {
        Ok(socket) => {
            socket.set_only_v6(false)?;
            (socket, (Ipv6Addr::UNSPECIFIED, port).into())
        }
        Err(error) if error.raw_os_error() == Some(nix::libc::EAFNOSUPPORT) => {
            (Socket::new(Domain::IPV4, kind, Some(protocol))?, (Ipv4Addr::UNSPECIFIED, port).into())
        }
        Err(error) => return Err(error),
    };
    if matches!(reuse, Reuse::Address) {
        socket.set_reuse_address(true)?;
    }
    socket.bind(&address.into())?;
    Ok(socket)
}
