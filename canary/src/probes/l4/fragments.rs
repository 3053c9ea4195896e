//! Packets in pieces, and headers before the transport's.

use std::net::IpAddr;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::ip::{self, V4, flag, protocol};
use crate::wire::raw;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-fragments",
    group: Group::L4,
    leak: "fragments whose first has no ports, or hides behind headers: a filter of single packets finds no transport",
    how: "tiny, overlapping and lone fragments; over IPv6 fragment and option headers before TCP and UDP",
    expected: "no raw socket, or nothing arrives",
    sources: &["RFC 1858", "RFC 3128", "RFC 7112", "RFC 8200 section 4.5"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: fragments,
}];

type Made = fn(IpAddr, IpAddr, &Nonce) -> Vec<Vec<u8>>;

fn fragments(trial: &mut Trial<'_>) {
    if super::leads_nowhere(trial) {
        return;
    }
    let targets = trial.targets();
    let mut kinds: Vec<(&str, Made, _)> = vec![
        ("tiny fragments", tiny as Made, targets.foreign()),
        ("overlapping fragments", overlapping, targets.foreign()),
        ("a lone later fragment", lone, targets.foreign()),
    ];
    if trial.around().ipv6_kernel {
        kinds.push(("an IPv6 fragment header", whole_v6, targets.foreign_v6()));
        kinds.push(("IPv6 options before UDP", optional_udp, targets.foreign_v6()));
        kinds.push(("IPv6 options before TCP", optional_tcp, targets.foreign_v6()));
    }
    let attempts = kinds.into_iter().map(|(what, made, foreign)| {
        let send = move |nonce: &Nonce| match raw::source(foreign.ip) {
            Ok(own) => raw::send_whole(foreign.ip, &made(own, foreign.ip, nonce)),
            // No route: no raw packet finds its way either.
            Err(seen) => seen,
        };
        Attempt::new(what, foreign.ip, Want::Stopped, send).nowhere(foreign.nowhere)
    });
    trial.attempt_all(attempts.collect());
}

/// To a port where nobody listens, so that nobody's answer is mistaken for the packet's.
fn datagram(own: IpAddr, to: IpAddr, payload: &[u8]) -> Vec<u8> {
    ip::udp((own, 40_011).into(), (to, 9).into(), payload)
}

/// The ports alone, then the rest.
fn tiny(own: IpAddr, to: IpAddr, nonce: &Nonce) -> Vec<Vec<u8>> {
    let whole = datagram(own, to, nonce.as_str().as_bytes());
    let (first, rest) = whole.split_at_checked(8).unwrap_or_default();
    pieces(own, to, &[(0, true, first), (8, false, rest)])
}

/// The second writes over the first's data.
fn overlapping(own: IpAddr, to: IpAddr, nonce: &Nonce) -> Vec<Vec<u8>> {
    let whole = datagram(own, to, &[b'x'; 24]);
    pieces(own, to, &[(0, true, &whole), (8, true, nonce.as_str().as_bytes())])
}

fn lone(own: IpAddr, to: IpAddr, nonce: &Nonce) -> Vec<Vec<u8>> {
    pieces(own, to, &[(64, false, nonce.as_str().as_bytes())])
}

fn pieces(own: IpAddr, to: IpAddr, pieces: &[(u16, bool, &[u8])]) -> Vec<Vec<u8>> {
    let (IpAddr::V4(own), IpAddr::V4(to)) = (own, to) else { return Vec::new() };
    let header = V4::new(own, to, protocol::UDP);
    pieces.iter().map(|(at, more, part)| header.clone().fragment(*at, *more).packet(part)).collect()
}

/// A fragment header round a whole datagram: an "atomic fragment" (RFC 6946).
fn whole_v6(own: IpAddr, to: IpAddr, nonce: &Nonce) -> Vec<Vec<u8>> {
    let header = [protocol::UDP, 0, 0, 0, 0, 0, 0x0c, 0xb0];
    behind(own, to, protocol::FRAGMENT, &header, &datagram(own, to, nonce.as_str().as_bytes()))
}

fn optional_udp(own: IpAddr, to: IpAddr, nonce: &Nonce) -> Vec<Vec<u8>> {
    let datagram = datagram(own, to, nonce.as_str().as_bytes());
    behind(own, to, protocol::DESTINATION, &options(protocol::UDP), &datagram)
}

fn optional_tcp(own: IpAddr, to: IpAddr, nonce: &Nonce) -> Vec<Vec<u8>> {
    let segment = ip::tcp((own, 40_012).into(), (to, 443).into(), flag::SYN, nonce.as_str().as_bytes());
    behind(own, to, protocol::DESTINATION, &options(protocol::TCP), &segment)
}

/// Destination options with nothing but padding in them (RFC 8200 section 4.2).
fn options(next: u8) -> [u8; 8] {
    [next, 0, 1, 4, 0, 0, 0, 0]
}

fn behind(own: IpAddr, to: IpAddr, kind: u8, header: &[u8], rest: &[u8]) -> Vec<Vec<u8>> {
    let (IpAddr::V6(own), IpAddr::V6(to)) = (own, to) else { return Vec::new() };
    vec![ip::v6(own, to, kind, &[header, rest].concat())]
}
