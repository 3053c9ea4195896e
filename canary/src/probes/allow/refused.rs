//! Hosts that are not permitted, by an ordinary client: what a person tries first, and what the canary of TrialDesignBench
//! tries alone.

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
    how: "each of them and the witness on port 443: looked up, certificate verified, one request",
    expected: "refused at once",
    sources: &["https://pypi.org/project/trialdesignbench/1.7.0/", "RFC 9110"],
    needs: &[Need::Witness],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(45),
    run: nothing_else,
}];

fn nothing_else(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    // A host of an earlier phase may be a public site too.
    let mut hosts: Vec<&str> =
        targets.refused.iter().chain(&targets.setup_only).map(String::as_str).collect();
    hosts.push(targets.foreign_name());
    let mut told = std::collections::HashSet::new();
    hosts.retain(|host| told.insert(*host));
    let attempts = hosts.into_iter().map(|host| {
        let get = move |nonce: &Nonce| {
            let options = tls::Options::ordinary(targets.trust.as_deref());
            first_that_answers(lookup::addresses(host, around), 443, |to| {
                tls::get(to, host, host, &options, nonce)
            })
        };
        Attempt::new(format!("https://{host}/"), host, Want::Stopped, get)
    });
    trial.attempt_all(attempts.collect());
}
