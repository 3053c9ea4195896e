//! IPv4 addresses in IPv6's clothes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::{tcp, udp};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "ip6-v4mapped",
        group: Group::Ip6,
        leak: "the witness's IPv4 address written as IPv6: a filter of addresses compares it with the wrong list",
        how: "a hello and a datagram to ::ffff:a.b.c.d, which the kernel sends over IPv4, and to ::a.b.c.d",
        expected: "the same as for the address itself: refused at once",
        sources: &["RFC 4291 section 2.5.5", "RFC 4038 section 4.2"],
        needs: &[Need::Ipv6Kernel],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: mapped,
    },
    Probe {
        id: "ip6-nat64-6to4-teredo",
        group: Group::Ip6,
        leak: "translators and tunnels: an IPv6 address in which the witness's IPv4 address is wrapped",
        how: "a hello and a datagram to the witness by 64:ff9b::/96, 64:ff9b:1::/48, 6to4, Teredo and ISATAP",
        expected: "refused at once, or no route; nothing arrives",
        sources: &["RFC 6052", "RFC 8215", "RFC 3056", "RFC 4380"],
        needs: &[Need::Ipv6Kernel],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: wrapped,
    },
];

fn mapped(trial: &mut Trial<'_>) {
    each(trial, &[("mapped", Ipv4Addr::to_ipv6_mapped), ("compatible", compatible)]);
}

fn wrapped(trial: &mut Trial<'_>) {
    each(
        trial,
        &[
            ("NAT64", nat64),
            ("local NAT64", local_nat64),
            ("6to4", six_to_four),
            ("Teredo", teredo),
            ("ISATAP", isatap),
        ],
    );
}

type Wrap = fn(&Ipv4Addr) -> Ipv6Addr;

fn each(trial: &mut Trial<'_>, ways: &[(&str, Wrap)]) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let IpAddr::V4(ip) = foreign.ip else { return };
    let attempts = ways.iter().flat_map(|(way, wrap)| {
        let to: SocketAddr = (wrap(&ip), 443).into();
        let hello =
            move |nonce: &Nonce| tcp::exchange(to, &Hello::named(name.as_bytes(), nonce).octets(), nonce);
        let datagram = move |nonce: &Nonce| udp::exchange(to, nonce.as_str().as_bytes(), nonce);
        [
            Attempt::new(format!("{way}, TCP"), to, Want::Stopped, hello).nowhere(foreign.nowhere),
            Attempt::new(format!("{way}, UDP"), to, Want::Stopped, datagram).nowhere(foreign.nowhere),
        ]
    });
    trial.attempt_all(attempts.collect());
}

/// `::a.b.c.d` (RFC 4291 section 2.5.5.1).
fn compatible(ip: &Ipv4Addr) -> Ipv6Addr {
    before([0; 6], ip)
}

/// RFC 6052 section 2.1.
fn nat64(ip: &Ipv4Addr) -> Ipv6Addr {
    before([0x64, 0xff9b, 0, 0, 0, 0], ip)
}

/// RFC 8215.
fn local_nat64(ip: &Ipv4Addr) -> Ipv6Addr {
    before([0x64, 0xff9b, 1, 0, 0, 0], ip)
}

/// RFC 5214 section 6.1.
fn isatap(ip: &Ipv4Addr) -> Ipv6Addr {
    before([0x2001, 0xdb8, 0, 0, 0x200, 0x5efe], ip)
}

/// RFC 3056 section 2.
fn six_to_four(ip: &Ipv4Addr) -> Ipv6Addr {
    let [high, low] = halves(ip);
    Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1)
}

/// RFC 4380 section 4: server, flags, port and client, those two inverted.
fn teredo(ip: &Ipv4Addr) -> Ipv6Addr {
    let [high, low] = halves(ip);
    Ipv6Addr::new(0x2001, 0, high, low, 0, !443, !high, !low)
}

fn before(prefix: [u16; 6], ip: &Ipv4Addr) -> Ipv6Addr {
    let ([a, b, c, d, e, f], [high, low]) = (prefix, halves(ip));
    Ipv6Addr::new(a, b, c, d, e, f, high, low)
}

fn halves(ip: &Ipv4Addr) -> [u16; 2] {
    let [a, b, c, d] = ip.octets();
    [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of the RFCs, for 192.0.2.33.
    #[test]
    fn addresses_are_wrapped_as_the_rfcs_have_it() {
        let ip = Ipv4Addr::new(192, 0, 2, 33);
        for (wrap, expected) in [
            (compatible as Wrap, "::c000:221"),
            (nat64, "64:ff9b::c000:221"),
            (local_nat64, "64:ff9b:1::c000:221"),
            (six_to_four, "2002:c000:221::1"),
            (teredo, "2001:0:c000:221:0:fe44:3fff:fdde"),
            (isatap, "2001:db8::200:5efe:c000:221"),
        ] {
            assert_eq!(wrap(&ip), expected.parse::<Ipv6Addr>().unwrap());
        }
    }
}
