//! Hosts that are not permitted, by an ordinary client: what a person tries first, and what the canary of TrialDesignBench
//! tries alone.

use std::collections::HashSet;
use std::time::Duration;

use super::hosts::first_that_answers;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{lookup, tls};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "allow-nothing-else",
    group: Group::Allow,
    leak: "public sites, and hosts of an earlier phase: the book itself",
    how: "each of them, and the witness, on port 443: looked up, certificate verified, one request",
    expected: "refused at once",
    sources: &["https://pypi.org/project/trialdesignbench/1.7.0/", "RFC 9110"],
    needs: &[Need::PermittedTls],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(45),
    run: nothing_else,
}];

fn nothing_else(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let Some(permitted) = trial.https() else { return };
    let get = |host: &str, nonce: &Nonce| {
        let options = tls::Options::ordinary(targets.trust.as_deref());
        first_that_answers(lookup::addresses(host, around), 443, |to| {
            tls::get(to, host, host, &options, nonce)
        })
    };
    // A host of an earlier phase may be a public site too.
    let mut told = HashSet::new();
    let witness = targets.witness.as_ref().map(|witness| &witness.name);
    let hosts = targets.refused.iter().chain(&targets.setup_only).chain(witness);
    // The same by the same means, to somebody who answers: what is refused besides is refused for its name.
    let control = format!("https://{}/", permitted.name);
    let works = Attempt::new(&control, &permitted.name, Want::reached(&permitted.name), |nonce| {
        get(&permitted.name, nonce)
    });
    let others = hosts.filter(|host| told.insert(host.as_str())).map(|host| {
        let attempt = Attempt::new(format!("https://{host}/"), host, Want::Stopped, |nonce| get(host, nonce));
        let attempt = attempt.beside(&control);
        // The witness would see what leaves; nobody else listens.
        if witness == Some(host) { attempt } else { attempt.two_way() }
    });
    trial.attempt_all(std::iter::once(works).chain(others).collect());
}
