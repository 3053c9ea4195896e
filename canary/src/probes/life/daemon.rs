//! A process that was started in the first phase.

use std::time::Duration;

use super::at;
use crate::engine::Event;
use crate::helper::{Environment, Helper, Step};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "life-phase-switch-daemon",
    group: Group::Life,
    leak: "a process that setup left behind: what it has resolved, and what exempts it, lives on",
    how: "a child is started in the first phase and reaches a host of it; after the switch it dials the same, and the permitted host",
    expected: "the host of the first phase is refused, the permitted one answers",
    sources: &["https://github.com/kubernetes/website/issues/43438"],
    needs: &[Need::Switches, Need::SetupOnlyHost, Need::PermittedTls],
    moment: Moment::Switch,
    levels: BOTH,
    within: Duration::from_secs(30),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let (Some(first), Some(both)) = (targets.setup_only.first(), trial.https()) else { return };
    let mut started = Helper::start(Environment::Same);
    let addresses = (at(first, 443, around), at(&both.name, 443, around));
    let dial = |started: &mut Result<Helper, Seen>,
                to: &Result<std::net::SocketAddr, Seen>,
                name: &str,
                nonce: &Nonce| {
        match (started, to) {
            (Ok(helper), Ok(to)) => {
                let (name, trust) = (name.to_owned(), targets.trust.clone());
                helper.attempt(&Step::Get { to: *to, name, trust, nonce: nonce.clone() })
            }
            (Err(seen), _) => seen.clone(),
            (_, Err(seen)) => seen.clone(),
        }
    };
    let before = "an old process, before";
    trial.attempt(Attempt::new(before, first, Want::reached(first), |nonce| {
        dial(&mut started, &addresses.0, first, nonce)
    }));
    let switched = trial.until(Event::Switched);
    let never = || Seen::failed("the phase was never switched");
    trial.attempt(
        Attempt::new("an old process, after", first, Want::Stopped, |nonce| match switched {
            true => dial(&mut started, &addresses.0, first, nonce),
            false => never(),
        })
        .beside(before)
        .two_way(),
    );
    let name = &both.name;
    trial.attempt(Attempt::new(
        "an old process to a permitted host, after",
        name,
        Want::reached(name),
        |nonce| match switched {
            true => dial(&mut started, &addresses.1, name, nonce),
            false => never(),
        },
    ));
}
