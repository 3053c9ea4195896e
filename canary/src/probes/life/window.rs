//! The moments of the switch itself: lists that are emptied and filled again, rules that are removed and loaded anew.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{get, strict};
use crate::engine::Event;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Lasting, Trial, Want};
use crate::wire::series::Series;
use crate::wire::{http, tcp, tls, udp};

/// Between two tries of what is refused: at least 20 in a second.
const PACE: Duration = Duration::from_millis(40);
/// Between two requests to a permitted host, which may be somebody's real server.
const GENTLE: Duration = Duration::from_millis(200);
/// How long a permitted host may not answer.
const GAP: Duration = Duration::from_secs(1);
/// How long it goes on after the switch.
const AFTER: Duration = Duration::from_millis(1500);
/// The end of it, if nobody ever switches.
const LONGEST: Duration = Duration::from_secs(50);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "life-policy-reload-window",
    group: Group::Life,
    leak: "a switch with a hole in it: for a moment the list is empty, or the rules are gone",
    how: "while the phase is switched, what is never permitted is tried 25 times a second, and a permitted host five times",
    expected: "what is refused is refused at every moment; the permitted host misses no second",
    sources: &["Harbor: network-policy truncates the list, writes it, sleeps for 2 s, loads nft"],
    needs: &[Need::Switches, Need::SetupOnlyHost, Need::PermittedTls],
    moment: Moment::Switch,
    levels: BOTH,
    within: Duration::from_secs(75),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let (Some(first), Some(both)) = (targets.setup_only.first(), trial.https()) else { return };
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let options = &tls::Options { within: Duration::from_secs(2), ..strict(targets) };
    let before = "the host of the first phase, before";
    trial.attempt(Attempt::new(before, first, Want::reached(first), |nonce| {
        get(first, around, options, nonce)
    }));

    let clock = &Clock::new();
    let all_the_time = "the permitted host, all the time";
    let stopped = |what: &str, to: std::net::SocketAddr, one: Box<dyn Fn(&Nonce) -> Seen + Send>| {
        Attempt::lasting(what.to_owned(), to, Want::Stopped, move |nonce| clock.while_it_runs(|| one(nonce)))
            .nowhere(foreign.nowhere)
            .beside(all_the_time)
    };
    let (tls_to, http_to, udp_to) = (foreign.port(443), foreign.port(80), foreign.port(443));
    let (ordinary, host) = (tls::Options::ordinary(targets.trust.as_deref()), name.to_owned());
    let attempts = vec![
        Attempt::lasting(all_the_time, &both.name, Want::reached(&both.name), move |nonce| {
            clock.without_a_gap(|| get(&both.name, around, options, nonce))
        }),
        stopped(
            "TLS for a refused name",
            tls_to,
            Box::new(move |nonce| tls::get(tls_to, name, name, &ordinary, nonce)),
        ),
        stopped(
            "HTTP for a refused name",
            http_to,
            Box::new(move |nonce| tcp::exchange(http_to, &http::get(&host, nonce), nonce)),
        ),
        stopped(
            "UDP",
            udp_to,
            Box::new(move |nonce| udp::exchange(udp_to, nonce.as_str().as_bytes(), nonce)),
        ),
        Attempt::lasting(
            "the host of the first phase, once it is switched",
            first,
            Want::Stopped,
            move |nonce| match clock.until_switched() {
                true => clock.while_it_runs(|| get(first, around, options, nonce)),
                false => Seen::failed("the phase was never switched").into(),
            },
        )
        .beside(before)
        .two_way(),
    ];
    // Somebody has to watch for the switch while the tries go on; they are made in this thread's stead.
    std::thread::scope(|scope| {
        let signals = trial.signals();
        scope.spawn(move || clock.run(|| signals.has(Event::Switched), || signals.has(Event::Over)));
        trial.ready();
        trial.attempt_all(attempts);
    });
}

/// How far it is.
struct Clock {
    switched: AtomicBool,
    over: AtomicBool,
}

impl Clock {
    fn new() -> Self {
        Self { switched: AtomicBool::new(false), over: AtomicBool::new(false) }
    }

    /// Ends everybody's tries a while after the switch.
    fn run(&self, switched: impl Fn() -> bool, over: impl Fn() -> bool) {
        let end = Instant::now() + LONGEST;
        while Instant::now() < end && !over() {
            if switched() {
                self.switched.store(true, Ordering::Relaxed);
                std::thread::sleep(AFTER);
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        self.over.store(true, Ordering::Relaxed);
    }

    fn goes_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    fn is_switched(&self) -> bool {
        self.switched.load(Ordering::Relaxed)
    }

    /// Waits for the switch. False if it never comes.
    fn until_switched(&self) -> bool {
        while self.goes_on() && !self.is_switched() {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.is_switched()
    }

    /// Tries again and again; one that gets out ends it.
    fn while_it_runs(&self, one: impl Fn() -> Seen) -> Lasting {
        let mut series = Series::new();
        while self.goes_on() && series.go_on(&one) {
            std::thread::sleep(PACE);
        }
        match self.is_switched() {
            true => series.end(),
            // What was seen counts if it is worse than nothing.
            false => {
                series.note(Seen::failed("the phase was never switched"), Duration::ZERO);
                series.end()
            }
        }
    }

    /// Asks again and again; what counts is the longest time without an answer.
    fn without_a_gap(&self, one: impl Fn() -> Seen) -> Lasting {
        let mut answered = Instant::now();
        let mut last = Seen::failed("it was never asked");
        let (mut gap, mut in_between) = (Duration::ZERO, None);
        while self.goes_on() {
            let seen = one();
            if matches!(seen, Seen::Verified { .. } | Seen::Proof { .. }) {
                gap = gap.max(answered.elapsed());
                answered = Instant::now();
                last = seen;
            } else {
                in_between = Some(seen);
            }
            std::thread::sleep(GENTLE);
        }
        gap = gap.max(answered.elapsed());
        let seen = match (self.is_switched(), in_between) {
            (false, _) => Seen::failed("the phase was never switched"),
            (true, Some(seen)) if gap > GAP => {
                Seen::failed(format!("no answer for {} ms across the switch: {seen}", gap.as_millis()))
            }
            _ => last,
        };
        Lasting { seen, slowest: Some(gap) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verified() -> Seen {
        Seen::Verified { name: "a.example".to_owned(), status: 200 }
    }

    #[test]
    fn one_moment_that_is_open_is_enough() {
        let clock = Clock::new();
        let tries = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| clock.run(|| true, || false));
            let lasting = clock.while_it_runs(|| match tries.swap(true, Ordering::Relaxed) {
                true => verified(),
                false => Seen::Refused,
            });
            assert_eq!(lasting.seen, verified());
        });
    }

    #[test]
    fn without_a_switch_nothing_is_shown() {
        let clock = Clock::new();
        clock.run(|| false, || true);
        assert!(!clock.until_switched());
        assert!(matches!(clock.while_it_runs(|| Seen::Refused).seen, Seen::Failed { .. }));
        assert!(matches!(clock.without_a_gap(verified).seen, Seen::Failed { .. }));
    }

    #[test]
    fn a_second_without_an_answer_is_noticed() {
        let clock = Clock::new();
        std::thread::scope(|scope| {
            scope.spawn(|| clock.run(|| true, || false));
            let seen = clock.without_a_gap(|| Seen::Reset).seen;
            assert!(matches!(&seen, Seen::Failed { why } if why.contains("no answer for")), "{seen}");
        });
        let clock = Clock::new();
        std::thread::scope(|scope| {
            scope.spawn(|| clock.run(|| true, || false));
            assert_eq!(clock.without_a_gap(verified).seen, verified());
        });
    }
}
