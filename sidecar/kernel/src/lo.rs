//! The loopback device: the only one a sealed namespace has, and what everything in it is routed to.
//!
//! Every function here acts on the network namespace of the *calling thread*.

use std::{
    fs, io,
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
use nix::{
    errno::Errno,
    libc,
    sys::socket::{AddressFamily as Domain, SockFlag, SockType, socket},
    unistd::getegid,
};
use thiserror::Error;

use crate::netlink::{self, Channel};

/// The task's own IPv4 address, which its connections to anywhere come from.
pub const TASK_V4: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 1);

/// The task's own IPv6 address.
pub const TASK_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x5a, 0, 0, 0, 0, 0, 1);

/// `LOOPBACK_IFINDEX` of the kernel: `lo` is the first device of every namespace.
const LOOPBACK: u32 = 1;

/// `RT_TABLE_LOCAL`: looked at before every other table.
const TABLE_LOCAL: u8 = 255;

/// Devices the kernel itself puts into new namespaces when the tunnel modules are loaded. They are down, can't
/// be deleted, and what is sent into them comes out at `lo`, the only device their outer packets can take.
const FALLBACK_TUNNELS: [&str; 9] =
    ["tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "sit0", "ip6tnl0", "ip6_vti0", "ip6gre0"];

/// Which IP versions the namespace can speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv6 is absent from the kernel or switched off; there is none to guard.
    V4Only,
    /// Both.
    Dual,
}

/// What [`seal`] could do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loopback {
    /// IP versions with an address and a default route.
    pub family: Family,
    /// Settings that couldn't be written (a read-only `/proc/sys`, say). The task notices them only as what it
    /// would notice in a container without them: ports below 1024 and `ping` need root.
    pub unset: Vec<&'static str>,
}

/// A network in prefix notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    /// First address.
    pub address: IpAddr,
    /// Leading bits that count.
    pub length: u8,
}

/// Why the namespace isn't laid out.
#[derive(Debug, Error)]
pub enum LoError {
    /// The process lacks `CAP_NET_ADMIN` in the user namespace that owns the network namespace.
    #[error("laying out the loopback device needs CAP_NET_ADMIN in the network namespace")]
    NotPermitted,
    /// The kernel refused one change.
    #[error("the kernel refused to {doing}")]
    Refused {
        /// What was to be done.
        doing: &'static str,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// The namespace has a device beside `lo`.
    #[error("the network namespace has other devices than lo: {}", .0.join(", "))]
    OtherDevices(Vec<String>),
}

/// Makes `lo` carry everything: brings it up, gives it [`TASK_V4`] and [`TASK_V6`], and routes every
/// destination to it. Before that every connection fails with `ENETUNREACH` (G6). May be repeated.
///
/// # Errors
/// [`LoError::NotPermitted`] and [`LoError::Refused`]; what was done before the error stays done.
pub fn seal() -> Result<Loopback, LoError> {
    let mut rtnetlink = Rtnetlink::open()?;
    rtnetlink.up()?;
    rtnetlink.home(TASK_V4.into())?;
    let family = match ipv6_switched_on() {
        false => Family::V4Only,
        true => {
            rtnetlink.home(TASK_V6.into())?;
            Family::Dual
        }
    };
    Ok(Loopback { family, unset: container_like_settings() })
}

/// Makes *every* address an address of this namespace, so that one server bound to the wildcard answers for all
/// of them.
///
/// # Errors
/// [`LoError::NotPermitted`] and [`LoError::Refused`].
pub fn any_local() -> Result<Family, LoError> {
    let mut rtnetlink = Rtnetlink::open()?;
    rtnetlink.up()?;
    let mut everything = |address: IpAddr| {
        let mut route = route(Prefix { address, length: 0 }, RouteType::Local);
        route.header.scope = RouteScope::Host;
        route.header.table = TABLE_LOCAL;
        route.attributes.push(RouteAttribute::Oif(LOOPBACK));
        rtnetlink.replace_route("make every address local", route)
    };
    everything(Ipv4Addr::UNSPECIFIED.into())?;
    if !ipv6_switched_on() {
        return Ok(Family::V4Only);
    }
    everything(Ipv6Addr::UNSPECIFIED.into())?;
    Ok(Family::Dual)
}

/// Makes a network unreachable (`EHOSTUNREACH`), also where [`any_local`] made it local.
///
/// # Errors
/// [`LoError::NotPermitted`] and [`LoError::Refused`].
pub fn unreachable(prefix: Prefix) -> Result<(), LoError> {
    let mut route = route(prefix, RouteType::Unreachable);
    // Beside the routes of `any_local`, where the longest prefix wins: other tables are asked only for what
    // this one doesn't know.
    route.header.table = TABLE_LOCAL;
    Rtnetlink::open()?.replace_route("make a network unreachable", route)
}

/// G2: there is no device but `lo`.
///
/// The kernel's own fallback tunnels are passed over as long as they are down.
///
/// # Errors
/// [`LoError::OtherDevices`] names them; other errors mean that the list couldn't be read.
pub fn assert_only_loopback() -> Result<(), LoError> {
    let others: Vec<String> = Rtnetlink::open()?
        .devices()?
        .into_iter()
        .filter(|device| !device.is_harmless())
        .map(|device| device.name)
        .collect();
    if others.is_empty() { Ok(()) } else { Err(LoError::OtherDevices(others)) }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Device {
    index: u32,
    name: String,
    up: bool,
}

impl Device {
    fn is_harmless(&self) -> bool {
        self.index == LOOPBACK || (!self.up && FALLBACK_TUNNELS.contains(&self.name.as_str()))
    }
}

/// A conversation about links, addresses and routes.
struct Rtnetlink {
    channel: Channel,
    sequence: u32,
}

impl Rtnetlink {
    fn open() -> Result<Self, LoError> {
        let channel = Channel::open(NETLINK_ROUTE).map_err(refused("open a routing socket"))?;
        Ok(Self { channel, sequence: 0 })
    }

    fn up(&mut self) -> Result<(), LoError> {
        let mut link = LinkMessage::default();
        link.header.index = LOOPBACK;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        self.request("bring lo up", RouteNetlinkMessage::SetLink(link), 0)
    }

    /// An address on `lo`, and the default route that prefers it as source.
    fn home(&mut self, address: IpAddr) -> Result<(), LoError> {
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

        let everything = match address {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let mut default = route(Prefix { address: everything, length: 0 }, RouteType::Unicast);
        default.header.table = RouteHeader::RT_TABLE_MAIN;
        // As `ip route add default dev lo` would have it: no gateway, so the link itself is the destination.
        default.header.scope = if address.is_ipv4() { RouteScope::Link } else { RouteScope::Universe };
        default
            .attributes
            .extend([RouteAttribute::Oif(LOOPBACK), RouteAttribute::PrefSource(address.into())]);
        self.replace_route("route everything to lo", default)
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

    fn devices(&mut self) -> Result<Vec<Device>, LoError> {
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

/// Repeating a step changes nothing: a helper that restarts finds its own addresses and routes.
const REPLACE: i32 = libc::NLM_F_CREATE | libc::NLM_F_REPLACE;

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

/// Container engines switch IPv6 off in namespaces without a network. It is switched on where that is possible,
/// so that IPv6 attempts are answered and recorded like all others.
fn ipv6_switched_on() -> bool {
    let socket = socket(Domain::Inet6, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None);
    if socket.is_err() {
        return false;
    }
    ["all", "lo"].iter().all(|device| {
        let switch = format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6");
        let off = fs::read_to_string(&switch).is_ok_and(|value| value.trim() != "0");
        !off || fs::write(&switch, "0").is_ok()
    })
}

/// What container engines set as well, so that programs find here what they are used to. `/proc/sys/net` shows
/// the namespace of the thread that opens it.
fn container_like_settings() -> Vec<&'static str> {
    let own_group = getegid();
    // A group that a user namespace doesn't know can't be in the range.
    let groups = ["0 2147483647".to_owned(), format!("{own_group} {own_group}")];
    let set = |path: &str, values: &[String]| values.iter().any(|value| fs::write(path, value).is_ok());
    let mut unset = Vec::new();
    if !set("/proc/sys/net/ipv4/ip_unprivileged_port_start", &["0".to_owned()]) {
        unset.push("net.ipv4.ip_unprivileged_port_start");
    }
    if !set("/proc/sys/net/ipv4/ping_group_range", &groups) {
        unset.push("net.ipv4.ping_group_range");
    }
    unset
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
