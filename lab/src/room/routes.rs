//! The network of a lab's namespace: one interface, `lo`, to which every address belongs.
//!
//! `local 0.0.0.0/0 dev lo` makes the kernel take packets for any address as its own ("AnyIP"), and lets any address
//! be bound and answered from. The dead addresses are the exception; their routes stand in the same table, since the
//! table `local` is looked up before `main` as soon as a rule of its own is added.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::link::{LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::net::if_::if_nametoindex;

use crate::world::{DEAD, Dead, DeadRoute};

/// Makes all of it. The namespace must be a fresh one.
pub(super) fn lay() -> io::Result<()> {
    let lo = if_nametoindex("lo")?;
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    ask(&socket, up(lo))?;
    ask(&socket, route(lo, IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0, RouteType::Local))?;
    match ask(&socket, route(lo, IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0, RouteType::Local)) {
        // A kernel booted without IPv6: the lab has v4 only.
        Err(error) if error.raw_os_error() == Some(nix::libc::EAFNOSUPPORT) => {
            return dead(&socket, lo, IpAddr::is_ipv4);
        }
        done => done?,
    }
    dead(&socket, lo, |_| true)
}

fn dead(socket: &Socket, lo: u32, wanted: impl Fn(&IpAddr) -> bool) -> io::Result<()> {
    for Dead { address, route: kind } in DEAD.into_iter().filter(|dead| wanted(&dead.address)) {
        let kind = match kind {
            DeadRoute::Unreachable => RouteType::Unreachable,
            DeadRoute::Swallowed => RouteType::Unicast,
        };
        let length = if address.is_ipv4() { 32 } else { 128 };
        ask(socket, route(lo, address, length, kind))?;
    }
    Ok(())
}

fn up(lo: u32) -> RouteNetlinkMessage {
    let mut link = LinkMessage::default();
    link.header.index = lo;
    link.header.flags = LinkFlags::Up;
    link.header.change_mask = LinkFlags::Up;
    RouteNetlinkMessage::SetLink(link)
}

fn route(lo: u32, destination: IpAddr, length: u8, kind: RouteType) -> RouteNetlinkMessage {
    let mut route = RouteMessage::default();
    let (address_family, scope) = match (destination, kind) {
        (IpAddr::V4(_), RouteType::Local) => (AddressFamily::Inet, RouteScope::Host),
        (IpAddr::V4(_), RouteType::Unicast) => (AddressFamily::Inet, RouteScope::Link),
        (IpAddr::V4(_), _) => (AddressFamily::Inet, RouteScope::Universe),
        (IpAddr::V6(_), _) => (AddressFamily::Inet6, RouteScope::Universe),
    };
    route.header = RouteHeader {
        address_family,
        destination_prefix_length: length,
        table: nix::libc::RT_TABLE_LOCAL,
        protocol: RouteProtocol::Static,
        scope,
        kind,
        ..RouteHeader::default()
    };
    if length > 0 {
        route.attributes.push(RouteAttribute::Destination(RouteAddress::from(destination)));
    }
    if kind != RouteType::Unreachable {
        route.attributes.push(RouteAttribute::Oif(lo));
    }
    RouteNetlinkMessage::NewRoute(route)
}

/// Sends a request and waits for the kernel's word on it.
fn ask(socket: &Socket, request: RouteNetlinkMessage) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    let (reply, _) = socket.recv_from_full()?;
    let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&reply).map_err(io::Error::other)?;
    match reply.payload {
        NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
        NetlinkPayload::Error(_) => Ok(()),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}
