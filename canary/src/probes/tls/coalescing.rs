//! One address for all names: clients then take a connection that was opened for one name for another, too.

use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::lookup;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "tls-h2-coalescing",
    group: Group::Tls,
    leak: "a resolver that gives every name the same address: a browser asks for a refused name on the connection of a permitted one",
    how: "the addresses of the permitted host and of hosts that are not allowed are looked up and compared",
    expected: "no address of the permitted host is given out for another name",
    sources: &[
        "RFC 9113 section 9.1.1",
        "https://github.com/dlundquist/sniproxy/issues/178",
        "https://github.com/ameshkov/sniproxy/issues/3",
        "https://github.com/envoyproxy/envoy/issues/6767",
        "https://github.com/keycloak/keycloak/issues/50602",
    ],
    needs: &[Need::PermittedTls],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: one_address,
}];

/// Names that are compared with the permitted one's, at most.
const OTHERS: usize = 3;

fn one_address(trial: &mut Trial<'_>) {
    let Some(host) = trial.https() else { return };
    let (targets, around) = (trial.targets(), trial.around());
    let own = lookup::addresses(&host.name, around);
    let others = targets.refused.iter().map(String::as_str).take(OTHERS).chain([targets.foreign_name()]);
    let attempts = others.map(|other| {
        let own = own.clone();
        let compare = move |_: &_| match (own, lookup::addresses(other, around)) {
            (Err(seen), _) => Seen::failed(format!("{} is permitted: {seen}", host.name)),
            (Ok(own), Ok(theirs)) => match own.iter().find(|ip| theirs.contains(ip)) {
                Some(ip) => Seen::found(format!("{} and {other} are both at {ip}", host.name)),
                None => Seen::NotFound,
            },
            // A name without an address is at no other name's.
            (Ok(_), Err(Seen::Dns { .. })) => Seen::NotFound,
            (Ok(_), Err(seen)) => seen,
        };
        Attempt::new(format!("the address of {other}"), other, Want::Absent, compare)
    });
    trial.attempt_all(attempts.collect());
}
