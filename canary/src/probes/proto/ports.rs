//! TCP ports that somebody may have forgotten.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::tcp;

/// Port 53 is tried with questions, by `dns-direct-tcp`: whatever else comes there is for a DNS server to refuse.
const PORTS: [u16; 10] = [1, 22, 123, 853, 3128, 8080, 8443, 9418, 50051, 65535];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-nonstandard-port",
    group: Group::Proto,
    leak: "any TCP port other than 80 and 443, where only those are filtered",
    how: "a nonce to each of ten ports of the witness; and TLS under a refused name to two",
    expected: "refused at once",
    sources: &[
        "https://github.com/github/gh-aw-firewall/issues/207",
        "https://github.com/github/gh-aw-firewall/issues/209",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: ports,
}];

fn ports(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let plain = |port: u16| {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| tcp::exchange(to, format!("{nonce}\r\n").as_bytes(), nonce);
        Attempt::new(format!("TCP port {port}"), to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    let encrypted = |port: u16| {
        let to = foreign.port(port);
        let send =
            move |nonce: &Nonce| tcp::exchange(to, &Hello::named(name.as_bytes(), nonce).octets(), nonce);
        Attempt::new(format!("TLS on port {port}"), to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    trial.attempt_all(PORTS.into_iter().map(plain).chain([8443, 50051].map(encrypted)).collect());
}
