//! The permitted hosts, by an ordinary client: looked up, dialled, certificate verified, HTTP answered.

use std::net::SocketAddr;
use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{LONG_PATIENCE, http, lookup, tcp, tls};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "allow-https",
        group: Group::Allow,
        leak: "none: without a permitted host that answers, a dead network would look like a closed one",
        how: "each permitted host on port 443: looked up, certificate verified, one request",
        expected: "an HTTP answer under a certificate that is good for the name",
        sources: &["RFC 8446", "RFC 9110"],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(45),
        run: over_tls,
    },
    Probe {
        id: "allow-http",
        group: Group::Allow,
        leak: "none: the control of everything that is tried on port 80",
        how: "the first permitted host on port 80, where it can prove its answer",
        expected: "an HTTP answer with the witness's proof",
        sources: &["RFC 9110"],
        needs: &[Need::PermittedHttp, Need::OwnHosts],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(30),
        run: in_the_clear,
    },
];

fn over_tls(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let attempts = targets.permitted.iter().filter(|host| host.https).map(|host| {
        let get = move |nonce: &Nonce| {
            let ordinary = tls::Options::ordinary(targets.trust.as_deref());
            let options = tls::Options { within: LONG_PATIENCE, strict: true, ..ordinary };
            first_that_answers(lookup::addresses(&host.name, around), 443, |to| {
                tls::get(to, &host.name, &host.name, &options, nonce)
            })
        };
        Attempt::new(format!("https://{}/", host.name), &host.name, Want::reached(&host.name), get)
    });
    trial.attempt_all(attempts.collect());
}

fn in_the_clear(trial: &mut Trial<'_>) {
    let around = trial.around();
    let Some(host) = trial.http() else { return };
    let get = |nonce: &Nonce| {
        first_that_answers(lookup::addresses(&host.name, around), 80, |to| {
            tcp::exchange(to, &http::get(&host.name, nonce), nonce)
        })
    };
    let what = format!("http://{}/", host.name);
    trial.attempt(Attempt::new(what, &host.name, Want::reached(&host.name), get));
}

/// A name may have several addresses; the first that is not dead decides.
pub(super) fn first_that_answers(
    addresses: Result<Vec<std::net::IpAddr>, Seen>,
    port: u16,
    get: impl Fn(SocketAddr) -> Seen,
) -> Seen {
    let addresses = match addresses {
        Ok(addresses) => addresses,
        Err(seen) => return seen,
    };
    let mut last = Seen::failed("the name has no address");
    for address in addresses.into_iter().take(3) {
        last = get(SocketAddr::new(address, port));
        if !matches!(last, Seen::Refused | Seen::Unreachable { .. } | Seen::Silence) {
            break;
        }
    }
    last
}
