//! What files in the container say about names.

use std::net::SocketAddr;

use super::question::{Over, id, own_server};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{dns, http, tcp, tls};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "dns-search-domain",
        group: Group::Dns,
        leak: "the host's search domains: short names are completed with them, and answers tell of an internal network",
        how: "for each search domain of /etc/resolv.conf, what there is of it: addresses, name servers, its authority",
        expected: "no search domain, or nothing known of it",
        sources: &["https://man7.org/linux/man-pages/man5/resolv.conf.5.html"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: search,
    },
    Probe {
        id: "dns-hosts-file-poison",
        group: Group::Dns,
        leak: "an /etc/hosts in which the permitted name has the attacker's address",
        how: "TLS and HTTP as such a client speaks them: the permitted name, at the witness's address",
        expected: "it reaches the permitted host at its own address, or nothing",
        sources: &["RFC 9110 section 4.3.3"],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: poisoned,
    },
];

fn search(trial: &mut Trial<'_>) {
    let server = own_server(trial.around());
    let domains = &trial.around().search;
    if domains.is_empty() {
        let none = |_: &Nonce| Seen::NotFound;
        trial.attempt(Attempt::new("a search domain", "/etc/resolv.conf", Want::Absent, none));
    }
    let attempts = domains.iter().take(6).map(|domain| {
        let look = move |nonce: &Nonce| known(server, domain, nonce);
        Attempt::new(format!("the search domain {domain}"), server, Want::Absent, look)
    });
    trial.attempt_all(attempts.collect());
}

fn known(server: SocketAddr, domain: &str, nonce: &Nonce) -> Seen {
    let mut last = Seen::NotFound;
    for kind in [dns::kind::SOA, dns::kind::NS, dns::kind::A] {
        match Over::Udp.ask(server, &dns::question(id(nonce), domain, kind)) {
            Seen::Dns { answers, .. } if !answers.is_empty() => {
                return Seen::found(format!("{domain}: {}", answers.join(", ")));
            }
            Seen::Dns { code, .. } if code == "NOERROR" => return Seen::found(format!("{domain} exists")),
            Seen::Dns { .. } => {}
            seen => last = seen,
        }
    }
    last
}

/// The file itself is left alone: it is the task's. What a client does with it is this.
fn poisoned(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let foreign = targets.foreign();
    let options = tls::Options::ordinary(targets.trust.as_deref());
    let mut attempts = Vec::new();
    if let Some(host) = trial.https() {
        let to = foreign.port(443);
        let get = move |nonce: &Nonce| tls::get(to, &host.name, &host.name, &options, nonce);
        attempts.push(Attempt::new("https", to, Want::rewritten(&host.name), get).nowhere(foreign.nowhere));
    }
    if let Some(host) = trial.http() {
        let to = foreign.port(80);
        let get = move |nonce: &Nonce| tcp::exchange(to, &http::get(&host.name, nonce), nonce);
        attempts.push(Attempt::new("http", to, Want::rewritten(&host.name), get).nowhere(foreign.nowhere));
    }
    trial.attempt_all(attempts);
}
