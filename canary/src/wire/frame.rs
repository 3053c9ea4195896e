//! Frames by packet socket (packet(7)): they go past the hooks that IP packets go through.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsRawFd as _;

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{LinkAddr, bind};
use socket2::{Domain, Socket, Type};

use super::routes;
use crate::seen::Seen;

/// Ethertypes (IEEE).
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// Local experiments: no stack reads it.
    pub const EXPERIMENT: u16 = 0x88b5;
}

/// Sends a frame by this device, to the next hop on the way to `to`.
pub fn send(device: &str, to: IpAddr, ethertype: u16, payload: &[u8]) -> Seen {
    // Protocol 0: it receives nothing.
    let socket = match Socket::new(Domain::PACKET, Type::RAW, None) {
        Ok(socket) => socket,
        Err(error) => return Seen::of_error("socket(AF_PACKET)", &error),
    };
    let Some(link) = link(device) else { return Seen::failed(format!("no link-layer address of {device}")) };
    if let Err(error) = bind(socket.as_raw_fd(), &link) {
        return Seen::of_error("bind(AF_PACKET)", &error.into());
    }
    let own = link.addr().unwrap_or_default();
    let next = if device == "lo" { own } else { next_hop(to) };
    match socket.send(&frame(next, own, ethertype, payload)) {
        Ok(_) => Seen::Sent,
        Err(error) => Seen::of_error("send(AF_PACKET)", &error),
    }
}

/// Ethernet II, which loopback has as well.
fn frame(to: [u8; 6], from: [u8; 6], ethertype: u16, payload: &[u8]) -> Vec<u8> {
    [&to[..], &from, &ethertype.to_be_bytes(), payload].concat()
}

fn link(device: &str) -> Option<LinkAddr> {
    let mut all = getifaddrs().ok()?;
    all.find_map(|one| match one.interface_name == device {
        true => one.address.and_then(|address| address.as_link_addr().copied()),
        false => None,
    })
}

/// The gateway's address where the kernel knows it; else every station's.
fn next_hop(to: IpAddr) -> [u8; 6] {
    const EVERYBODY: [u8; 6] = [0xff; 6];
    let hop = match (routes::default_route().and_then(|route| route.gateway), to) {
        (Some(gateway), _) => gateway,
        (None, IpAddr::V4(to)) => to,
        (None, IpAddr::V6(_)) => return EVERYBODY,
    };
    neighbour(&std::fs::read_to_string("/proc/net/arp").unwrap_or_default(), hop).unwrap_or(EVERYBODY)
}

/// A line of /proc/net/arp: address, type, flags, link-layer address.
fn neighbour(table: &str, of: Ipv4Addr) -> Option<[u8; 6]> {
    let line = table.lines().find(|line| line.split_whitespace().next() == Some(of.to_string().as_str()))?;
    let mut address = [0_u8; 6];
    let text = line.split_whitespace().nth(3)?;
    for (octet, digits) in address.iter_mut().zip(text.split(':')) {
        *octet = u8::from_str_radix(digits, 16).ok()?;
    }
    (address != [0; 6]).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_is_found_by_its_whole_address() {
        let table = "IP address HW type Flags HW address Mask Device\n\
                     172.17.0.11 0x1 0x2 02:42:ac:11:00:0b * eth0\n172.17.0.1 0x1 0x2 02:42:ac:11:00:01 * eth0\n\
                     172.17.0.9 0x1 0x0 00:00:00:00:00:00 * eth0\n";
        assert_eq!(neighbour(table, Ipv4Addr::new(172, 17, 0, 1)), Some([2, 0x42, 0xac, 0x11, 0, 1]));
        assert_eq!(neighbour(table, Ipv4Addr::new(172, 17, 0, 9)), None);
        assert_eq!(neighbour(table, Ipv4Addr::new(172, 17, 0, 2)), None);
    }

    #[test]
    fn a_frame_has_its_type_behind_the_addresses() {
        assert_eq!(
            frame([1; 6], [2; 6], 0x88b5, b"x"),
            [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x88, 0xb5, b'x']
        );
    }
}
