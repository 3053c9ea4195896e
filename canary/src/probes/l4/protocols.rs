//! IP protocols that carry others, or nothing that anybody knows.

use std::net::IpAddr;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::ip::{self, V4, protocol};
use crate::wire::raw;

const EXPECTED: &str = "no raw socket, or refused; nothing arrives";

macro_rules! carried {
    ($id:literal, $leak:literal, $how:literal, $source:literal, $run:ident) => {
        Probe {
            id: $id,
            group: Group::L4,
            leak: $leak,
            how: $how,
            expected: EXPECTED,
            sources: &[$source, "https://www.iana.org/assignments/protocol-numbers"],
            needs: &[],
            moment: Moment::Phase,
            levels: BOTH,
            within: USUAL,
            run: $run,
        }
    };
}

pub(super) const PROBES: &[Probe] = &[
    carried!(
        "l4-gre",
        "GRE: a tunnel of routers that filters of transports don't look at",
        "a GRE packet with a nonce to the witness",
        "RFC 2784",
        gre
    ),
    carried!(
        "l4-ipip",
        "IP in IP, IPv4 or IPv6: the inner packet is for whoever the outer one gets to",
        "a UDP datagram with a nonce in two packets, IPv4 in IPv4 and IPv6 in IPv4, to the witness",
        "RFC 2003",
        ipip
    ),
    carried!(
        "l4-esp",
        "ESP: nobody expects to read it",
        "an ESP packet with a nonce to the witness",
        "RFC 4303",
        esp
    ),
    carried!(
        "l4-ah",
        "AH: a header before a transport that a filter looks for in vain",
        "an AH packet with a nonce to the witness",
        "RFC 4302",
        ah
    ),
    carried!(
        "l4-etherip",
        "EtherIP, and protocols for experiments, that no filter has a rule for",
        "packets of protocols 97 and 253 with a nonce to the witness",
        "RFC 3378",
        etherip
    ),
];

fn gre(trial: &mut Trial<'_>) {
    send(trial, vec![("protocol 47", 47, |_, nonce| [&[0, 0, 0x88, 0xb5], octets(nonce)].concat())]);
}

fn ipip(trial: &mut Trial<'_>) {
    send(trial, vec![("IPv4 in IPv4", 4, inner_v4), ("IPv6 in IPv4", 41, inner_v6)]);
}

fn esp(trial: &mut Trial<'_>) {
    // An index and a sequence number.
    send(trial, vec![("protocol 50", 50, |_, nonce| [&[0, 0, 1, 1, 0, 0, 0, 1], octets(nonce)].concat())]);
}

fn ah(trial: &mut Trial<'_>) {
    // What follows is UDP; six words in all; index, sequence number, twelve octets that prove nothing.
    let header = |_: IpAddr, nonce: &Nonce| {
        [&[17, 4, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1], &[0; 12][..], octets(nonce)].concat()
    };
    send(trial, vec![("protocol 51", 51, header)]);
}

fn etherip(trial: &mut Trial<'_>) {
    send(
        trial,
        vec![
            ("protocol 97", 97, |_, nonce| [&[0x30, 0], octets(nonce)].concat()),
            ("protocol 253", 253, |_, nonce| octets(nonce).to_vec()),
        ],
    );
}

type Made = fn(IpAddr, &Nonce) -> Vec<u8>;

fn send(trial: &mut Trial<'_>, packets: Vec<(&str, u8, Made)>) {
    if super::leads_nowhere(trial) {
        return;
    }
    let foreign = trial.targets().foreign();
    let attempts = packets.into_iter().map(|(what, number, made)| {
        let send = move |nonce: &Nonce| raw::send(foreign.ip, number, &made(foreign.ip, nonce));
        Attempt::new(what, foreign.ip, Want::Stopped, send).nowhere(foreign.nowhere)
    });
    trial.attempt_all(attempts.collect());
}

fn octets(nonce: &Nonce) -> &[u8] {
    nonce.as_str().as_bytes()
}

fn inner_v4(to: IpAddr, nonce: &Nonce) -> Vec<u8> {
    let IpAddr::V4(ip) = to else { return Vec::new() };
    V4::new(ip, ip, protocol::UDP).packet(&ip::udp((to, 40_000).into(), (to, 9).into(), octets(nonce)))
}

fn inner_v6(to: IpAddr, nonce: &Nonce) -> Vec<u8> {
    let IpAddr::V4(ip) = to else { return Vec::new() };
    let mapped = ip.to_ipv6_mapped();
    let datagram = ip::udp((mapped, 40_000).into(), (mapped, 9).into(), octets(nonce));
    ip::v6(mapped, mapped, protocol::UDP, &datagram)
}
