//! The first moments, and a list with nothing on it.

use std::time::{Duration, Instant};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Lasting, Trial, Want};
use crate::wire::series::Series;
use crate::wire::{http, tcp, tls, udp};

/// How long the first moments are.
const FIRST: Duration = Duration::from_millis(1000);
/// Between two tries.
const PACE: Duration = Duration::from_millis(40);

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "life-startup-race",
        group: Group::Life,
        leak: "a task that starts before the rules do",
        how: "the first thing that the canary does, and for a second on, 25 times: HTTP, TLS and UDP to the witness",
        expected: "refused from the first moment on",
        sources: &[
            "https://github.com/istio/istio/issues/11130",
            "https://github.com/linkerd/linkerd2/issues/485",
            "https://github.com/mcdonc/klangk/issues/2277",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: first_moments,
    },
    Probe {
        id: "life-empty-allowlist",
        group: Group::Life,
        leak: "an empty list that means that everything is allowed",
        how: "where nothing is permitted: HTTP, TLS and UDP to the witness",
        expected: "refused at once",
        sources: &["CVE-2025-66479", "https://github.com/meridianlabs-ai/inspect_harbor/issues/118"],
        needs: &[Need::NothingPermitted],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: nothing_permitted,
    },
];

fn first_moments(trial: &mut Trial<'_>) {
    let again = |one: &dyn Fn() -> Seen| -> Lasting {
        let end = Instant::now() + FIRST;
        let mut series = Series::new();
        while series.go_on(one) && Instant::now() < end {
            std::thread::sleep(PACE);
        }
        series.end()
    };
    ways_out(trial, again);
}

fn nothing_permitted(trial: &mut Trial<'_>) {
    ways_out(trial, |one| one().into());
}

fn ways_out(trial: &mut Trial<'_>, make: impl Fn(&dyn Fn() -> Seen) -> Lasting + Send + Sync) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let (web, secure) = (foreign.port(80), foreign.port(443));
    let options = &tls::Options::ordinary(targets.trust.as_deref());
    let make = &make;
    let attempts = vec![
        Attempt::lasting("HTTP", web, Want::Stopped, move |nonce| {
            make(&|| tcp::exchange(web, &http::get(name, nonce), nonce))
        }),
        Attempt::lasting("TLS", secure, Want::Stopped, move |nonce: &Nonce| {
            make(&|| tls::get(secure, name, name, options, nonce))
        }),
        Attempt::lasting("UDP", secure, Want::Stopped, move |nonce| {
            make(&|| udp::exchange(secure, nonce.as_str().as_bytes(), nonce))
        }),
    ];
    trial.attempt_all(attempts.into_iter().map(|attempt| attempt.nowhere(foreign.nowhere)).collect());
}
