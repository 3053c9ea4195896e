//! What is judged by a control in the same run, and by none other.

use super::evidence::{Baseline, Evidence, Subject};
use super::judgement::judge;
use crate::engine::{Outcome, Stage};
use crate::nonce::Nonce;
use crate::probe::{Level, Moment};
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::trial::{Try, Want};
use crate::verdict::Verdict;
use crate::witness::{Arrival, Record};

fn attempt(what: &str, want: Want, seen: Seen, beside: Option<&str>) -> Try {
    Try {
        what: what.to_owned(),
        to: "a.example".to_owned(),
        want,
        nonce: Nonce::fresh().unwrap(),
        seen,
        ms: 3,
        aimed: None,
        nowhere: false,
        beside: beside.map(str::to_owned),
        quiet: false,
        two_way: beside.is_some(),
        exists: None,
    }
}

fn stage(moment: Moment, tries: Vec<Try>) -> Stage {
    let outcome = Outcome { id: "life-x".to_owned(), skipped: None, broken: None, tries };
    let surroundings = Surroundings::default();
    Stage {
        phase: "agent".to_owned(),
        level: Level::Agent,
        moment,
        run: "r".to_owned(),
        policy: None,
        surroundings,
        outcomes: vec![outcome],
    }
}

fn verdict(moment: Moment, tries: Vec<Try>, witness: Option<Record>, baseline: Option<Vec<Try>>) -> Verdict {
    let baseline = baseline.map(|tries| Baseline {
        stages: vec![stage(Moment::Phase, tries)],
        witness: Record { alive: true, ..Record::default() },
    });
    let evidence = Evidence {
        schema: 1,
        run: "r".to_owned(),
        made: "2026-12-01T00:00:00Z".to_owned(),
        subject: Subject::default(),
        stages: vec![stage(moment, tries)],
        baseline,
        witness,
        ..Evidence::default()
    };
    judge(&evidence).probes[0].verdict
}

fn alive() -> Option<Record> {
    Some(Record { alive: true, ..Record::default() })
}

fn before(seen: Seen) -> Try {
    attempt("before", Want::reached("a.example"), seen, None)
}

fn after(seen: Seen) -> Try {
    attempt("after", Want::Stopped, seen, Some("before"))
}

fn verified() -> Seen {
    Seen::Verified { name: "a.example".to_owned(), status: 200 }
}

/// The baseline has nothing to say of a switch or a crash: it has none, and may lack these tries altogether.
#[test]
fn across_a_switch_what_worked_before_is_the_control() {
    for moment in [Moment::Switch, Moment::Crash] {
        for baseline in [None, Some(Vec::new())] {
            let tries = vec![before(verified()), after(Seen::Reset)];
            assert_eq!(verdict(moment, tries, alive(), baseline), Verdict::Blocked, "{moment:?}");
        }
    }
    // In a phase the baseline decides, whatever worked beside.
    let tries = vec![before(verified()), after(Seen::Reset)];
    assert_eq!(verdict(Moment::Phase, tries, alive(), Some(Vec::new())), Verdict::Inconclusive);
}

#[test]
fn what_did_not_work_before_proves_nothing() {
    for seen in [Seen::Silence, Seen::Refused, Seen::failed("x")] {
        let tries = vec![before(seen), after(Seen::Reset)];
        assert_eq!(verdict(Moment::Switch, tries, alive(), None), Verdict::Inconclusive);
    }
    assert_eq!(verdict(Moment::Switch, vec![after(Seen::Reset)], alive(), None), Verdict::Inconclusive);
    let alone = attempt("after", Want::Stopped, Seen::Reset, None);
    assert_eq!(verdict(Moment::Switch, vec![alone], alive(), None), Verdict::Inconclusive);
}

#[test]
fn a_connection_that_outlives_the_switch_is_a_leak() {
    for seen in [verified(), Seen::Proof { proof: String::new() }] {
        let tries = vec![before(verified()), after(seen)];
        assert_eq!(verdict(Moment::Switch, tries, alive(), None), Verdict::Leak);
    }
}

/// Without a witness: that it was ended is told by whoever ended it. Silence is told by nobody.
#[test]
fn without_a_witness_an_end_counts_and_silence_does_not() {
    let judged = |seen| verdict(Moment::Switch, vec![before(verified()), after(seen)], None, None);
    assert_eq!(judged(Seen::Reset), Verdict::Blocked);
    assert_eq!(judged(Seen::Closed), Verdict::Inconclusive);
    assert_eq!(judged(Seen::Silence), Verdict::Suspect);
    assert_eq!(judged(Seen::failed("x")), Verdict::Inconclusive);
}

/// Who looks for a way out by trying it may get through without noticing.
#[test]
fn what_arrives_is_a_leak_even_where_nothing_was_found() {
    let attempt = attempt("from another cgroup", Want::Absent, Seen::NotFound, None);
    let arrival = Arrival {
        proto: "udp".to_owned(),
        local: None,
        local_port: Some(443),
        name: None,
        detail: None,
        ascii: String::new(),
        nonce: Some(attempt.nonce.to_string()),
    };
    let record = Record { arrivals: vec![arrival], lost: 0, alive: true, others: 0 };
    assert_eq!(verdict(Moment::Phase, vec![attempt.clone()], Some(record), None), Verdict::Leak);
    assert_eq!(verdict(Moment::Phase, vec![attempt], alive(), None), Verdict::Blocked);
}
