//! The loopback device: the only one a sealed namespace has, and what everything in it is routed to.
//!
//! Every function here acts on the network namespace of the *calling thread*.

mod rtnetlink;

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use nix::{
    sys::socket::{AddressFamily, SockFlag, SockType, socket},
    unistd::getegid,
};
use thiserror::Error;

use rtnetlink::Rtnetlink;

/// The task's own IPv4 address, which its connections to anywhere come from.
pub const TASK_V4: Ipv4Addr = Ipv4Addr::new(10, 200, 0, 1);

/// The task's own IPv6 address.
pub const TASK_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x5a, 0, 0, 0, 0, 0, 1);

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
    /// Settings that couldn't be written (a read-only `/proc/sys`, say). None of them guards anything: without
    /// them ports below 1024 and `ping` need root, and thousands of short connections get slow.
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
    Ok(Loopback { family, unset: comfort() })
}

/// Makes *every* address an address of this namespace, so that one server bound to the wildcard answers for all
/// of them.
///
/// # Errors
/// [`LoError::NotPermitted`] and [`LoError::Refused`].
pub fn any_local() -> Result<Family, LoError> {
    let mut rtnetlink = Rtnetlink::open()?;
    rtnetlink.up()?;
    rtnetlink.everything_local(TASK_V4.into())?;
    if !ipv6_switched_on() {
        return Ok(Family::V4Only);
    }
    rtnetlink.everything_local(TASK_V6.into())?;
    Ok(Family::Dual)
}

/// Makes a network unreachable (`EHOSTUNREACH`), also where [`any_local`] made it local.
///
/// # Errors
/// [`LoError::NotPermitted`] and [`LoError::Refused`].
pub fn unreachable(prefix: Prefix) -> Result<(), LoError> {
    Rtnetlink::open()?.unreachable(prefix)
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

/// Container engines switch IPv6 off in namespaces without a network. It is switched on where that is possible,
/// so that IPv6 attempts are answered and recorded like all others.
fn ipv6_switched_on() -> bool {
    let socket = socket(AddressFamily::Inet6, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None);
    if socket.is_err() {
        return false;
    }
    ["all", "lo"].iter().all(|device| {
        let switch = format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6");
        let off = fs::read_to_string(&switch).is_ok_and(|value| value.trim() != "0");
        !off || fs::write(&switch, "0").is_ok()
    })
}

/// Writes what makes the namespace as comfortable as a container with a network; gives the names of settings
/// that couldn't be written. `/proc/sys/net` shows the namespace of the thread that opens it.
fn comfort() -> Vec<&'static str> {
    let own_group = getegid();
    let own_group = format!("{own_group} {own_group}");
    let settings: [(&str, &[&str]); 3] = [
        // As container engines set them.
        ("net.ipv4.ip_unprivileged_port_start", &["0"]),
        // A group that a user namespace doesn't know can't be in the range.
        ("net.ipv4.ping_group_range", &["0 2147483647", &own_group]),
        // By default ports in TIME_WAIT are taken again early only towards loopback addresses. Here every
        // connection is a loopback one, to whatever address: without this, after 15,000 short connections to
        // one address within a minute `connect` takes 10 ms instead of 50 us, looking for a free port.
        ("net.ipv4.tcp_tw_reuse", &["1"]),
    ];
    let set = |name: &str, values: &[&str]| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        values.iter().any(|value| fs::write(&path, value).is_ok())
    };
    settings.into_iter().filter(|(name, values)| !set(name, values)).map(|(name, _)| name).collect()
}
