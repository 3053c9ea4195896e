//! The rules themselves: can they be changed from here? Only asked, never done.

use std::fs::OpenOptions;
use std::io::{self, Read as _};

use socket2::{Domain, Protocol, Socket, Type};

use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::PATIENCE;

/// netlink(7).
const AF_NETLINK: i32 = 16;
const ROUTE: i32 = 0;
const NETFILTER: i32 = 12;
/// rtnetlink(7): reading and changing a device.
const GETLINK: u16 = 18;
const SETLINK: u16 = 19;
/// The tenth subsystem of netfilter is nf_tables, its sixteenth message asks which generation of rules is in force.
const NFT_GETGEN: u16 = 10 << 8 | 16;
/// A device that nobody has.
const NO_DEVICE: i32 = i32::MAX - 1;
const LOOPBACK: i32 = 1;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-netadmin",
    group: Group::Priv,
    leak: "CAP_NET_ADMIN over the namespace: whoever has it removes the rules, adds routes, changes settings",
    how: "a change to a device that nobody has, a question to nf_tables, a network setting opened for writing: nothing is changed",
    expected: "the kernel refuses each of them",
    sources: &["https://github.com/github/gh-aw-firewall/issues/129", "capabilities(7)"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run,
}];

fn run(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("devices and routes", "rtnetlink", Want::Absent, |_| {
        // Reading is everybody's right: if that does not work, being refused means nothing.
        match said(ROUTE, &device(GETLINK, LOOPBACK)) {
            Ok(Told::Else) => {}
            Ok(Told::Error(code)) => return Seen::failed(format!("reading a device: error {code}")),
            Err(seen) => return seen,
        }
        // The right is looked at before the device is.
        judged(said(ROUTE, &device(SETLINK, NO_DEVICE)), "rtnetlink", "devices and routes can be changed")
    }));
    trial.attempt(Attempt::new("rules", "nfnetlink", Want::Absent, |_| {
        // nfnetlink asks for the right before it looks at any message, reading or not.
        judged(said(NETFILTER, &message(NFT_GETGEN, &[0; 4])), "nfnetlink", "rules can be read and changed")
    }));
    let setting = "/proc/sys/net/ipv4/ip_forward";
    trial.attempt(Attempt::new("settings", setting, Want::Absent, |_| {
        match OpenOptions::new().write(true).open(setting) {
            Ok(_) => Seen::found("network settings can be written"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Seen::NotFound,
            Err(error) => Seen::of_error("open", &error),
        }
    }));
}

fn judged(told: Result<Told, Seen>, call: &str, found: &str) -> Seen {
    match told {
        Ok(Told::Error(code)) if code == -nix::libc::EPERM => {
            Seen::Denied { call: call.to_owned(), errno: "EPERM".to_owned() }
        }
        Ok(_) => Seen::found(found),
        Err(seen) => seen,
    }
}

/// What the kernel answered.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// An error, or 0 for none.
    Error(i32),
    /// What was asked for.
    Else,
}

fn said(protocol: i32, message: &[u8]) -> Result<Told, Seen> {
    let socket = Socket::new(Domain::from(AF_NETLINK), Type::RAW, Some(Protocol::from(protocol)));
    let socket = socket.map_err(|error| Seen::of_error("socket(AF_NETLINK)", &error))?;
    let mut octets = [0_u8; 8192];
    // Without an address it goes to the kernel.
    let answer = socket
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| socket.send(message))
        .and_then(|_| (&socket).read(&mut octets));
    let count = answer.map_err(|error| Seen::of_error("netlink", &error))?;
    octets.get(..count).and_then(told).ok_or_else(|| Seen::failed("netlink: an answer that is none"))
}

/// Message type 2 is an error, whose number follows the head.
fn told(octets: &[u8]) -> Option<Told> {
    let kind = u16::from_ne_bytes([*octets.get(4)?, *octets.get(5)?]);
    match kind {
        2 => Some(Told::Error(i32::from_ne_bytes(octets.get(16..20)?.try_into().ok()?))),
        _ => Some(Told::Else),
    }
}

/// `struct ifinfomsg`: family, type, index, flags, change; no flag is changed.
fn device(kind: u16, index: i32) -> Vec<u8> {
    let mut body = vec![0_u8; 4];
    body.extend(index.to_ne_bytes());
    body.extend([0_u8; 8]);
    message(kind, &body)
}

/// `struct nlmsghdr`: length, type, flags (a request that wants to know its outcome), sequence, sender.
fn message(kind: u16, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(16 + body.len()).unwrap_or(16);
    let mut octets = length.to_ne_bytes().to_vec();
    octets.extend(kind.to_ne_bytes());
    octets.extend(5_u16.to_ne_bytes());
    octets.extend([0_u8; 8]);
    octets.extend(body);
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_device_works_for_everybody() {
        assert_eq!(said(ROUTE, &device(GETLINK, LOOPBACK)), Ok(Told::Else));
        assert_eq!(said(ROUTE, &device(GETLINK, NO_DEVICE)), Ok(Told::Error(-nix::libc::ENODEV)));
    }

    #[test]
    fn cut_answers_say_nothing() {
        assert_eq!(told(&[0; 5]), None);
        assert_eq!(told(&[20, 0, 0, 0, 2, 0, 0, 0]), None);
    }
}
