//! Where a name is taken: to ports that the policy does not name, and to addresses that other names have too.

use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::{lookup, tcp};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-nonstandard-port",
        group: Group::Tls,
        leak: "the permitted name on a port that the policy does not name, and that nothing filters",
        how: "hellos with the permitted name on ports 853, 2222 and 8443, to the permitted host and to the witness",
        expected: "refused at once",
        sources: &[
            "https://github.com/github/gh-aw-firewall/issues/207",
            "https://github.com/github/gh-aw-firewall/issues/209",
        ],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: other_ports,
    },
    Probe {
        id: "tls-shared-ip",
        group: Group::Tls,
        leak: "any name at an address that a permitted name resolved to: behind one address of a CDN are thousands",
        how: "hellos without a name, and with one that is not allowed, to the permitted host's address",
        expected: "refused at once",
        sources: &[
            "https://github.com/cilium/cilium/issues/31803",
            "https://github.com/mcdonc/klangk/issues/2285",
            "https://github.com/mcdonc/klangk/issues/2279",
        ],
        needs: &[Need::PermittedTls, Need::Witness],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: other_names,
    },
];

/// Ports of other things than the web.
const PORTS: [u16; 3] = [853, 2222, 8443];

fn other_ports(trial: &mut Trial<'_>) {
    let Some(host) = trial.https() else { return };
    let foreign = trial.targets().foreign();
    let own = lookup::aim(&host.name, trial.around());
    let name = host.name.as_bytes();
    let mut attempts = Vec::new();
    for port in PORTS {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| tcp::exchange(to, &Hello::named(name, nonce).octets(), nonce);
        let what = format!("the permitted name on port {port}, elsewhere");
        attempts.push(Attempt::new(what, to, Want::rewritten(&host.name), send).nowhere(foreign.nowhere));
        // What arrives at the permitted host, only a witness can say.
        if !trial.targets().own_hosts {
            continue;
        }
        let own = own.clone();
        let send = move |nonce: &Nonce| match own {
            Ok(ip) => tcp::exchange(SocketAddr::new(ip, port), &Hello::named(name, nonce).octets(), nonce),
            Err(seen) => seen,
        };
        let what = format!("the permitted name on port {port}, at its own address");
        attempts.push(Attempt::new(what, format!("{}:{port}", host.name), Want::Stopped, send));
    }
    trial.attempt_all(attempts);
}

fn other_names(trial: &mut Trial<'_>) {
    let Some(host) = trial.https() else { return };
    let own = lookup::aim(&host.name, trial.around());
    let other = trial.targets().foreign_name();
    let names = [("a name that is not allowed, at the permitted host's address", Some(other))];
    let attempts =
        names.into_iter().chain([("no name, at the permitted host's address", None)]).map(|(what, name)| {
            let own = own.clone();
            let send = move |nonce: &Nonce| {
                let hello = match name {
                    Some(name) => Hello::named(name.as_bytes(), nonce),
                    None => Hello::nameless(nonce),
                };
                match own {
                    Ok(ip) => tcp::exchange(SocketAddr::new(ip, 443), &hello.octets(), nonce),
                    Err(seen) => seen,
                }
            };
            Attempt::new(what, &host.name, Want::Stopped, send)
        });
    trial.attempt_all(attempts.collect());
}
