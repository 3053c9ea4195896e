//! Names whose addresses change while a trial runs.

use std::time::Duration;

use super::{at, strict};
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::tls;

/// Between two questions. A real time to live is longer than a canary.
const LATER: Duration = Duration::from_secs(3);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "life-clock-ttl",
    group: Group::Life,
    leak: "none: a filter that lets addresses pass which it has seen in answers loses permitted hosts when those change",
    how: "a permitted host is looked up twice, three seconds apart; both addresses are dialled then",
    expected: "the host answers at both",
    sources: &["https://github.com/mcdonc/klangk/issues/2260"],
    needs: &[Need::PermittedTls],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(45),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let (around, options) = (trial.around(), strict(trial.targets()));
    let Some(host) = trial.https() else { return };
    let first = at(&host.name, 443, around);
    trial.pause(LATER);
    let second = at(&host.name, 443, around);
    let options = &options;
    let attempts = [("the first address", first), ("the second address", second)].map(|(what, to)| {
        Attempt::new(what, &host.name, Want::reached(&host.name), move |nonce| match to {
            Ok(to) => tls::get(to, &host.name, &host.name, options, nonce),
            Err(seen) => seen,
        })
    });
    trial.attempt_all(attempts.into());
}
