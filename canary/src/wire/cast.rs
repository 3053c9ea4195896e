//! One datagram to many: multicast and broadcast.

use std::ffi::CString;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV6};
use std::time::Duration;

use nix::ifaddrs::getifaddrs;
use nix::net::if_::if_nametoindex;
use socket2::{Domain, Protocol, Socket, Type};

use super::{routes, udp};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// An answer, where there is one, comes from the same link.
const ANSWER: Duration = Duration::from_millis(500);

/// Sends a datagram to a group or to everybody, by the device of the way out.
pub fn send(to: SocketAddr, octets: &[u8], nonce: &Nonce) -> Seen {
    let device = routes::way_out();
    let socket = match prepared(to, &device) {
        Ok(socket) => socket,
        Err(seen) => return seen,
    };
    let to = match to {
        SocketAddr::V6(to) => scoped(to, &device),
        to => to,
    };
    match udp::converse_unconnected(&socket.into(), to, octets, nonce, ANSWER) {
        // Nobody has to answer.
        Seen::Silence => Seen::Sent,
        seen => seen,
    }
}

fn prepared(to: SocketAddr, device: &str) -> Result<Socket, Seen> {
    let socket = Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP))
        .map_err(|error| Seen::of_error("socket", &error))?;
    if to.is_ipv4() {
        socket.set_broadcast(true).map_err(|error| Seen::of_error("setsockopt(SO_BROADCAST)", &error))?;
        // Without it the routing table decides, and it may have no route for groups.
        socket
            .bind_device(Some(device.as_bytes()))
            .map_err(|error| Seen::of_error("setsockopt(SO_BINDTODEVICE)", &error))?;
    }
    Ok(socket)
}

/// On the device's link: addresses of that scope mean nothing without it (RFC 4007 section 6).
pub fn scoped(to: SocketAddrV6, device: &str) -> SocketAddr {
    let index = CString::new(device).ok().and_then(|name| if_nametoindex(name.as_c_str()).ok());
    SocketAddrV6::new(*to.ip(), to.port(), 0, index.unwrap_or(0)).into()
}

/// The broadcast address of the way out's subnet; Docker's usual one where there is none.
pub fn of_the_subnet() -> Ipv4Addr {
    const USUAL: Ipv4Addr = Ipv4Addr::new(172, 17, 255, 255);
    let device = routes::way_out();
    let found = getifaddrs().ok().and_then(|mut all| {
        all.find_map(|one| match one.interface_name == device {
            true => one.broadcast.and_then(|address| address.as_sockaddr_in().map(|v4| v4.ip())),
            false => None,
        })
    });
    found.unwrap_or(USUAL)
}
