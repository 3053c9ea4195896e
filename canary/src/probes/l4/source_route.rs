//! Source routing: the sender says by way of whom.

use std::net::{IpAddr, Ipv4Addr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::ip::{self, V4, protocol};
use crate::wire::{raw, routes};

/// Loose and strict source routing (RFC 791 section 3.1).
const OPTIONS: [(&str, u8); 2] = [("loose", 0x83), ("strict", 0x89)];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-source-route",
    group: Group::L4,
    leak: "a datagram that is addressed to the gateway and names the witness in an option: rules see the gateway",
    how: "loose and strict source routes with a nonce, first to the gateway (or the witness where there is none)",
    expected: "no raw socket, or nothing arrives",
    sources: &["RFC 791 section 3.1", "RFC 7126 section 4.3"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: source_route,
}];

fn source_route(trial: &mut Trial<'_>) {
    if super::leads_nowhere(trial) {
        return;
    }
    let foreign = trial.targets().foreign();
    let gateway = routes::default_route().and_then(|route| route.gateway).map(IpAddr::V4);
    let first = gateway.unwrap_or(foreign.ip);
    let attempts = OPTIONS.map(|(what, option)| {
        let send = move |nonce: &Nonce| match (raw::source(first), first, foreign.ip) {
            (Ok(IpAddr::V4(own)), IpAddr::V4(hop), IpAddr::V4(last)) => {
                raw::send_whole(first, &[packet(own, hop, last, option, nonce)])
            }
            (Err(seen), ..) => seen,
            _ => crate::Seen::failed("no IPv4 address to aim at"),
        };
        Attempt::new(what, foreign.ip, Want::Stopped, send).nowhere(foreign.nowhere)
    });
    trial.attempt_all(attempts.into());
}

/// The option: type, length, pointer to the next hop, hops.
fn packet(own: Ipv4Addr, hop: Ipv4Addr, last: Ipv4Addr, option: u8, nonce: &Nonce) -> Vec<u8> {
    let route = [&[option, 7, 4], &last.octets()[..]].concat();
    let datagram = ip::udp((own, 40_014).into(), (last, 9).into(), nonce.as_str().as_bytes());
    V4::new(own, hop, protocol::UDP).options(route).packet(&datagram)
}
