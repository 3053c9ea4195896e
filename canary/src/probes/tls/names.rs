//! Names in the hello: none, one that is refused, and the permitted one on the way to somewhere else.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::{tcp, tls};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-ip-literal-no-sni",
        group: Group::Tls,
        leak: "TLS to an address, without a name: a filter that falls back to the original destination lets it pass",
        how: "a hello without server_name to the witness, on port 443, over IPv4",
        expected: "refused at once: no name, no passage",
        sources: &["https://github.com/go-gost/gost/issues/891", "RFC 6066 section 3"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: without_a_name,
    },
    Probe {
        id: "tls-sni-blocked-name",
        group: Group::Tls,
        leak: "TLS for a name that is not allowed: the baseline of every name filter",
        how: "an ordinary client to the witness, under its own name",
        expected: "refused at once",
        sources: &["RFC 6066 section 3"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: refused_name,
    },
    Probe {
        id: "tls-sni-spoof-foreign-ip",
        group: Group::Tls,
        leak: "the permitted name on the way to an attacker's address: a filter that trusts the name and dials the address",
        how: "an ordinary client for the permitted name, connected to the witness's address",
        expected: "it reaches the permitted host at its own address, or nothing",
        sources: &[
            "https://repost.aws/questions/QUGi6L4x4nRsCYc_FJ9aQkiQ/prevent-aws-network-firewall-host-header-spoofing",
        ],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(20),
        run: permitted_name_elsewhere,
    },
];

fn without_a_name(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let to = foreign.port(443);
    let hello = |nonce: &Nonce| tcp::exchange(to, &Hello::nameless(nonce).octets(), nonce);
    trial.attempt(Attempt::new("a hello without a name", to, Want::Stopped, hello).nowhere(foreign.nowhere));
}

fn refused_name(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let to = foreign.port(443);
    let options = tls::Options::ordinary(targets.trust.as_deref());
    let get = |nonce: &Nonce| tls::get(to, name, name, &options, nonce);
    trial
        .attempt(Attempt::new("a name that is not allowed", to, Want::Stopped, get).nowhere(foreign.nowhere));
}

fn permitted_name_elsewhere(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let Some(host) = trial.https() else { return };
    let foreign = targets.foreign();
    let to = foreign.port(443);
    let options = tls::Options::ordinary(targets.trust.as_deref());
    let get = |nonce: &Nonce| tls::get(to, &host.name, &host.name, &options, nonce);
    let want = Want::rewritten(&host.name);
    trial.attempt(
        Attempt::new("the permitted name, connected elsewhere", to, want, get).nowhere(foreign.nowhere),
    );
}
