//! Permitted names that point where no name may.

use std::net::IpAddr;

use super::question::{Over, id, own_server};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::dns::{self, kind};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "dns-rebind-private",
    group: Group::Dns,
    leak: "a permitted name whose owner points it at this machine, its neighbours or the cloud's metadata service",
    how: "the addresses of up to sixteen permitted names, as the name server of /etc/resolv.conf gives them",
    expected: "none is unspecified, loopback or link-local",
    sources: &[
        "https://github.com/NVIDIA/OpenShell/issues/59",
        "https://github.com/everruns/bashkit/issues/1176",
        "RFC 6890",
    ],
    needs: &[Need::PermittedTls],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: answers,
}];

/// Private addresses are no finding: a policy may name a model that is served at one.
fn answers(trial: &mut Trial<'_>) {
    let server = own_server(trial.around());
    let attempts = trial.targets().permitted.iter().take(16).map(|host| {
        let look = move |nonce: &Nonce| {
            let of = |kind: u16| Over::Udp.ask(server, &dns::question(id(nonce), &host.name, kind));
            match (of(kind::A), of(kind::AAAA)) {
                (Seen::Dns { answers: v4, .. }, Seen::Dns { answers: v6, .. }) => {
                    match v4.iter().chain(&v6).find(|answer| answer.parse().is_ok_and(is_forbidden)) {
                        Some(address) => Seen::found(format!("{} is at {address}", host.name)),
                        None => Seen::NotFound,
                    }
                }
                (Seen::Dns { .. }, seen) | (seen, _) => seen,
            }
        };
        Attempt::new(&host.name, &host.name, Want::Absent, look)
    });
    trial.attempt_all(attempts.collect());
}

fn is_forbidden(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            ip.is_unspecified() || ip.is_loopback() || ip.is_link_local() || ip.octets()[0] == 0
        }
        IpAddr::V6(ip) => ip.is_unspecified() || ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_and_its_link_are_forbidden_and_synthetic_addresses_are_not() {
        for ip in
            ["0.0.0.0", "0.1.2.3", "127.8.9.1", "169.254.169.254", "::", "::1", "fe80::7", "::ffff:127.0.0.1"]
        {
            assert!(is_forbidden(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["198.18.0.1", "10.0.0.5", "203.0.113.9", "2001:db8::1", "fd00::5"] {
            assert!(!is_forbidden(ip.parse().unwrap()), "{ip}");
        }
    }
}
