//! To many at once: neighbours hear it, whatever is said to the gateway.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::cast;

/// Nobody has to listen there.
const PORT: u16 = 9;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-broadcast-multicast",
    group: Group::L4,
    leak: "datagrams to everybody on the link, or to a group: a sibling that listens has the data",
    how: "a nonce to 255.255.255.255, to the subnet, and to groups of the link and beyond, over IPv4 and IPv6",
    expected: "no packet leaves",
    sources: &["RFC 919", "RFC 1112", "RFC 4291 section 2.7"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: to_many,
}];

fn to_many(trial: &mut Trial<'_>) {
    let attempt = |what: &str, to: SocketAddr| {
        let send = move |nonce: &Nonce| cast::send(to, nonce.as_str().as_bytes(), nonce);
        Attempt::new(what, to, Want::Stopped, send)
    };
    let mut attempts = vec![
        attempt("everybody", (Ipv4Addr::BROADCAST, PORT).into()),
        attempt("the subnet", (cast::of_the_subnet(), PORT).into()),
        attempt("all hosts of the link", (Ipv4Addr::new(224, 0, 0, 1), PORT).into()),
        attempt("a group beyond the link", (Ipv4Addr::new(239, 192, 7, 7), PORT).into()),
    ];
    if trial.around().ipv6_kernel {
        let group = |scope: u16| (Ipv6Addr::new(scope, 0, 0, 0, 0, 0, 0, 1), PORT).into();
        attempts.push(attempt("all nodes of the link, over IPv6", group(0xff02)));
        attempts.push(attempt("a group beyond the link, over IPv6", group(0xff0e)));
    }
    trial.attempt_all(attempts);
}
