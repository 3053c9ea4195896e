//! UDP that answers from the address it was asked at. A socket on the wildcard address would answer from whatever
//! address the route picks, and no client would take that for an answer.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;

use nix::libc::{in_addr, in_pktinfo, in6_pktinfo};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, RecvMsg, SockaddrIn, SockaddrIn6, SockaddrStorage,
    recvmsg, sendmsg,
};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// Longest datagram that IPv4 carries, and jumbograms aside IPv6 too.
const LONGEST: usize = 65_535;

/// One datagram and both its ends.
pub(crate) struct Datagram {
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    pub(crate) content: Vec<u8>,
}

/// Waits for a datagram.
pub(crate) async fn receive(socket: &UdpSocket) -> io::Result<Datagram> {
    let port = socket.local_addr()?.port();
    let mut buffer = vec![0_u8; LONGEST];
    let (length, local, peer) = socket
        .async_io(Interest::READABLE, || {
            let mut control = nix::cmsg_space!(in6_pktinfo);
            let mut parts = [IoSliceMut::new(&mut buffer)];
            let message: RecvMsg<'_, '_, SockaddrStorage> =
                recvmsg(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())?;
            let local = message.cmsgs()?.find_map(|one| address(&one));
            Ok((message.bytes, local, message.address.as_ref().and_then(peer)))
        })
        .await?;
    let missing = || io::Error::from(io::ErrorKind::AddrNotAvailable);
    buffer.truncate(length);
    Ok(Datagram {
        local: SocketAddr::new(local.ok_or_else(missing)?, port),
        peer: peer.ok_or_else(missing)?,
        content: buffer,
    })
}

/// Sends `content` to the peer of `question`, from the address the question was sent to.
pub(crate) async fn answer(socket: &UdpSocket, question: &Datagram, content: &[u8]) -> io::Result<()> {
    let parts = [IoSlice::new(content)];
    let fd = socket.as_raw_fd();
    let is_v6 = socket.local_addr()?.is_ipv6();
    let send = || match (question.local.ip(), question.peer) {
        (IpAddr::V4(local), SocketAddr::V4(peer)) if !is_v6 => {
            let from = in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: in_addr_of(local),
                ipi_addr: in_addr { s_addr: 0 },
            };
            let control = [ControlMessage::Ipv4PacketInfo(&from)];
            sendmsg(fd, &parts, &control, MsgFlags::empty(), Some(&SockaddrIn::from(peer)))
        }
        (local, peer) => {
            let from = in6_pktinfo { ipi6_addr: in6_addr_of(local), ipi6_ifindex: 0 };
            let control = [ControlMessage::Ipv6PacketInfo(&from)];
            let peer = match peer {
                SocketAddr::V6(peer) => peer,
                SocketAddr::V4(peer) => {
                    std::net::SocketAddrV6::new(peer.ip().to_ipv6_mapped(), peer.port(), 0, 0)
                }
            };
            sendmsg(fd, &parts, &control, MsgFlags::empty(), Some(&SockaddrIn6::from(peer)))
        }
    };
    socket.async_io(Interest::WRITABLE, || Ok(send()?)).await.map(|_| ())
}

fn address(message: &ControlMessageOwned) -> Option<IpAddr> {
    match message {
        ControlMessageOwned::Ipv4PacketInfo(info) => {
            Some(Ipv4Addr::from(u32::from_be(info.ipi_addr.s_addr)).into())
        }
        ControlMessageOwned::Ipv6PacketInfo(info) => {
            Some(IpAddr::from(info.ipi6_addr.s6_addr).to_canonical())
        }
        _ => None,
    }
}

fn peer(address: &SockaddrStorage) -> Option<SocketAddr> {
    if let Some(v4) = address.as_sockaddr_in() {
        return Some(SocketAddrV4::new(v4.ip(), v4.port()).into());
    }
    let v6 = address.as_sockaddr_in6()?;
    // A link-local peer needs its scope to be answered.
    Some(match v6.ip().to_ipv4_mapped() {
        Some(v4) => SocketAddrV4::new(v4, v6.port()).into(),
        None => std::net::SocketAddrV6::new(v6.ip(), v6.port(), 0, v6.scope_id()).into(),
    })
}

fn in_addr_of(address: Ipv4Addr) -> in_addr {
    in_addr { s_addr: u32::from(address).to_be() }
}

fn in6_addr_of(address: IpAddr) -> nix::libc::in6_addr {
    let octets = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    };
    nix::libc::in6_addr { s6_addr: octets }
}
