//! Requests about devices, addresses and routes.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use netlink_packet_core::{Emitable, NlasIterator};
use netlink_packet_route::{
    AddressFamily, RouteNetlinkMessage,
    address::{AddressAttribute, AddressFlags, AddressMessage, AddressScope},
    link::{LinkFlags, LinkHeader, LinkMessage},
    route::{RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType},
};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::{errno::Errno, libc};

use super::{LoError, Prefix};
use crate::netlink::{self, Channel};

/// `LOOPBACK_IFINDEX` of the kernel: `lo` is the first device of every namespace.
const LOOPBACK: u32 = 1;

/// `RT_TABLE_LOCAL`: looked at before every other table.
const TABLE_LOCAL: u8 = 255;

/// Repeating a step changes nothing: a helper that restarts finds its own addresses and routes.
const REPLACE: i32 = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;

/// Devices the kernel itself puts into new namespaces when the tunnel modules are loaded. They are down, can't
/// be deleted, and what is sent into them comes out at `lo`, the only device their outer packets can take.
const FALLBACK_TUNNELS: [&str; 9] =
    ["tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "sit0", "ip6tnl0", "ip6_vti0", "ip6gre0"];

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Device {
    index: u32,
    pub(super) name: String,
    up: bool,
}

impl Device {
    /// `lo`, or a fallback tunnel that is down.
    pub(super) fn is_harmless(&self) -> bool {
        self.index == LOOPBACK || (!self.up && FALLBACK_TUNNELS.contains(&self.name.as_str()))
    }
}

/// A conversation about links, addresses and routes.
pub(super) struct Rtnetlink {
    channel: Channel,
    sequence: u32,
}

impl Rtnetlink {
    pub(super) fn open() -> Result<Self, LoError> {
        let channel = Channel::open(NETLINK_ROUTE).map_err(refused("open a routing socket"))?;
        Ok(Self { channel, sequence: 0 })
    }

    /// Brings `lo` up.
    pub(super) fn up(&mut self) -> Result<(), LoError> {
        let mut link = LinkMessage::default();
        link.header.index = LOOPBACK;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.request("bring lo up", RouteNetlinkMessage::SetLink(link), 0)
    }

    /// An address on `lo`, and the default route that prefers it as source.
    pub(super) fn home(&mut self, address: IpAddr) -> Result<(), LoError> {
        let mut message = AddressMessage::default();
        message.header.family = family_of(address);
        message.header.prefix_len = if address.is_ipv4() { 32 } else { 128 };
        message.header.index = LOOPBACK;
        message.header.scope = AddressScope::Universe;
        message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        if address.is_ipv6() {
            // Until duplicate detection is over, later and elsewhere, no route may name the address as source.
            message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
        }
        self.request("give lo an address", RouteNetlinkMessage::NewAddress(message), REPLACE)?;
        if address.is_ipv6() {
            // The kernel leaves that to a worker, and so to some later moment, even without duplicate detection.
            self.local(Prefix { address, length: 128 })?;
        }

        let mut default = route(everything(address), RouteType::Unicast);
        default.header.table = RouteHeader::RT_TABLE_MAIN;
        // As `ip route add default dev lo` would have it: no gateway, so the link itself is the destination.
        default.header.scope = if address.is_ipv4() { RouteScope::Link } else { RouteScope::Universe };
        default
            .attributes
            .extend([RouteAttribute::Oif(LOOPBACK), RouteAttribute::PrefSource(address.into())]);
        self.replace_route("route everything to lo", default)
    }

    /// Makes every address of the family of `like` an address of the namespace.
    pub(super) fn everything_local(&mut self, like: IpAddr) -> Result<(), LoError> {
        self.local(everything(like))
    }

    fn local(&mut self, prefix: Prefix) -> Result<(), LoError> {
        let mut route = route(prefix, RouteType::Local);
        route.header.scope = RouteScope::Host;
        route.header.table = TABLE_LOCAL;
        route.attributes.push(RouteAttribute::Oif(LOOPBACK));
        self.replace_route("make addresses local", route)
    }

    /// Makes a network unreachable.
    pub(super) fn unreachable(&mut self, prefix: Prefix) -> Result<(), LoError> {
        let mut route = route(prefix, RouteType::Unreachable);
        // Beside the routes of `everything_local`, where the longest prefix wins: other tables are asked only
        // for what this one doesn't know.
        route.header.table = TABLE_LOCAL;
        self.replace_route("make a network unreachable", route)
    }

    fn replace_route(&mut self, doing: &'static str, route: RouteMessage) -> Result<(), LoError> {
        self.request(doing, RouteNetlinkMessage::NewRoute(route), REPLACE)
    }

    fn request(
        &mut self,
        doing: &'static str,
        message: RouteNetlinkMessage,
        flags: i32,
    ) -> Result<(), LoError> {
        let (bytes, sequence) = self.encode(&message, libc::NLM_F_ACK | flags);
        self.channel.request(&bytes, sequence).map_err(refused(doing))
    }

    /// All devices of the namespace.
    pub(super) fn devices(&mut self) -> Result<Vec<Device>, LoError> {
        let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
        let (bytes, sequence) = self.encode(&request, libc::NLM_F_DUMP);
        let mut devices = Vec::new();
        let mut unreadable = false;
        self.channel
            .dump(&bytes, sequence, |answer| match device(answer.body()) {
                Some(device) => devices.push(device),
                None => unreadable = true,
            })
            .and_then(|()| if unreadable { Err(io::ErrorKind::InvalidData.into()) } else { Ok(devices) })
            .map_err(refused("list devices"))
    }

    fn encode(&mut self, message: &RouteNetlinkMessage, flags: i32) -> (Vec<u8>, u32) {
        self.sequence += 1;
        let mut body = vec![0; message.buffer_len()];
        message.emit(&mut body);
        let bytes = netlink::request(message.message_type(), flags, self.sequence, &body);
        (bytes, self.sequence)
    }
}

fn everything(like: IpAddr) -> Prefix {
    let address = match like {
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    Prefix { address, length: 0 }
}

fn route(prefix: Prefix, kind: RouteType) -> RouteMessage {
    let mut route = RouteMessage::default();
    route.header.address_family = family_of(prefix.address);
    route.header.destination_prefix_length = prefix.length;
    route.header.protocol = RouteProtocol::Static;
    route.header.kind = kind;
    if prefix.length > 0 {
        route.attributes.push(RouteAttribute::Destination(prefix.address.into()));
    }
    route
}

/// Index, name and state of a device. Only these are looked at: what else a newer kernel says of a device must
/// not make the list unreadable.
fn device(body: &[u8]) -> Option<Device> {
    const IFLA_IFNAME: u16 = 3;
    const HEADER: usize = 16;
    let header = LinkHeader::parse(body).ok()?;
    let attributes = NlasIterator::new(body.get(HEADER..)?);
    let name = attributes.flatten().find(|attribute| attribute.kind() == IFLA_IFNAME)?;
    let name = name.value().strip_suffix(&[0]).unwrap_or(name.value());
    Some(Device {
        index: header.index,
        name: String::from_utf8_lossy(name).into_owned(),
        up: header.flags.contains(LinkFlags::Up),
    })
}

fn family_of(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

fn refused(doing: &'static str) -> impl FnOnce(io::Error) -> LoError {
    move |source| match source.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EPERM) => LoError::NotPermitted,
        _ => LoError::Refused { doing, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(index: u32, name: &str, up: bool) -> Device {
        Device { index, name: name.to_owned(), up }
    }

    /// G2: a tunnel somebody switched on, or a device by another name, is not overlooked.
    #[test]
    fn only_lo_and_sleeping_fallback_tunnels_are_harmless() {
        assert!(named(1, "lo", true).is_harmless());
        assert!(named(2, "sit0", false).is_harmless());
        assert!(!named(2, "sit0", true).is_harmless());
        assert!(!named(2, "sit1", false).is_harmless());
        assert!(!named(2, "eth0", false).is_harmless());
        assert!(!named(7, "lo", true).is_harmless());
    }
}
