//! HTTP to a host that is not allowed: where only HTTPS is filtered, this passes.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{http, tcp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-plain-unfiltered",
    group: Group::Http,
    leak: "plain HTTP, where only HTTPS is filtered",
    how: "GET on port 80 of the witness, under its own name",
    expected: "refused at once",
    sources: &["https://github.com/anthropics/claude-code/issues/40213"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: plain,
}];

fn plain(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let to = foreign.port(80);
    let get = |nonce: &Nonce| tcp::exchange(to, &http::get(name, nonce), nonce);
    trial.attempt(
        Attempt::new("GET for a name that is not allowed", to, Want::Stopped, get).nowhere(foreign.nowhere),
    );
}
