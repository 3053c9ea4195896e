//! Ordinary IPv6.

use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::{http, tcp, udp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "ip6-global",
    group: Group::Ip6,
    leak: "IPv6, where only IPv4 is filtered",
    how: "TLS with and without a name, HTTP, a nonce and a datagram to the witness's IPv6 address",
    expected: "refused at once, or no route; nothing arrives",
    sources: &[
        "https://github.com/mcdonc/klangk/issues/1936",
        "https://github.com/github/gh-aw-firewall/issues/1543",
        "https://github.com/qdm12/gluetun/issues/2247",
    ],
    needs: &[Need::Ipv6Kernel],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: global,
}];

/// What a connection begins with.
type Opening = Box<dyn FnOnce(&Nonce) -> Vec<u8> + Send>;

fn global(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign_v6(), targets.foreign_name().to_owned());
    let over_tcp = |what: &str, port: u16, octets: Opening| {
        let to: SocketAddr = foreign.port(port);
        let send = move |nonce: &Nonce| tcp::exchange(to, &octets(nonce), nonce);
        Attempt::new(what, to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    let to = foreign.port(443);
    let datagram = move |nonce: &Nonce| udp::exchange(to, nonce.as_str().as_bytes(), nonce);
    let (in_hello, in_request) = (name.clone(), name);
    trial.attempt_all(vec![
        over_tcp(
            "a hello with a name",
            443,
            Box::new(move |n| Hello::named(in_hello.as_bytes(), n).octets()),
        ),
        over_tcp("a hello without a name", 443, Box::new(|n| Hello::nameless(n).octets())),
        over_tcp("HTTP", 80, Box::new(move |n| http::get(&in_request, n))),
        over_tcp("octets of no protocol", 8443, Box::new(|n| format!("{n}\r\n").into_bytes())),
        Attempt::new("a datagram", to, Want::Stopped, datagram).nowhere(foreign.nowhere),
    ]);
}
