//! The verdict on one try, for everything that can be seen, wanted and known of it.
//!
//! G14: *the canary cannot pass by accident. Every negative probe has a positive control; an error, a missing tool or a dead
//! server is inconclusive, which is not a pass.*

use closedbook_canary::verdict::{Control, SLOW_MS, Testimony, Verdict, judge};
use closedbook_canary::witness::Arrival;
use closedbook_canary::{Seen, Try, Want};

use crate::sample::{API, WITNESS, arrival, nonce};

fn everything_seen() -> Vec<Seen> {
    let dns = |code: &str, answers: &[&str]| Seen::Dns {
        code: code.to_owned(),
        answers: answers.iter().map(|answer| (*answer).to_owned()).collect(),
    };
    let text = || "text".to_owned();
    let errno = || "EPERM".to_owned();
    vec![
        Seen::Proof { proof: String::new() },
        Seen::Proof { proof: text() },
        Seen::Verified { name: API.to_owned(), status: 200 },
        Seen::Verified { name: "other.example".to_owned(), status: 200 },
        Seen::Answered { status: 200, text: text() },
        Seen::Answered { status: 403, text: text() },
        Seen::Answered { status: 502, text: text() },
        Seen::TlsReply { text: text() },
        Seen::BadChain { name: API.to_owned(), why: text() },
        Seen::Octets { text: text() },
        Seen::Alert { description: 49 },
        Seen::Alert { description: 80 },
        Seen::Reset,
        Seen::Closed,
        Seen::Refused,
        Seen::Unreachable { errno: "EACCES".to_owned() },
        dns("NXDOMAIN", &[]),
        dns("SERVFAIL", &[]),
        dns("NOERROR", &["198.18.0.1"]),
        Seen::Denied { call: text(), errno: errno() },
        Seen::Denied { call: text(), errno: "ENOBUFS".to_owned() },
        Seen::Unsupported { call: text(), errno: errno() },
        Seen::Sent,
        Seen::Silence,
        Seen::Found { what: text() },
        Seen::NotFound,
        Seen::Failed { why: text() },
    ]
}

fn everything_wanted() -> Vec<Want> {
    vec![Want::reached(API), Want::Stopped, Want::rewritten(API), Want::Absent, Want::Unheard]
}

fn all_controls() -> Vec<Control> {
    vec![Control::Passed("it works".to_owned()), Control::Failed("it does not".to_owned()), Control::Absent]
}

fn attempt(want: &Want, seen: &Seen) -> Try {
    Try {
        what: "a try".to_owned(),
        to: format!("{WITNESS}:443"),
        want: want.clone(),
        nonce: nonce(1),
        seen: seen.clone(),
        ms: 3,
        aimed: Some(WITNESS.parse().unwrap()),
        nowhere: false,
        beside: None,
        quiet: false,
        two_way: false,
        exists: None,
    }
}

/// Calls `with` for every combination, with what is said of the try, and what the witness says: 0 he saw nothing, 1 he saw it,
/// 2 he can't say.
fn everywhere(with: impl Fn(&Try, &Control, usize, Verdict)) -> usize {
    let mut combinations = 0;
    for want in everything_wanted() {
        for seen in everything_seen() {
            for control in all_controls() {
                for flags in 0..8 {
                    let attempt = Try {
                        nowhere: flags & 1 != 0,
                        two_way: flags & 2 != 0,
                        ms: if flags & 4 != 0 { SLOW_MS + 1 } else { 3 },
                        ..attempt(&want, &seen)
                    };
                    let arrived = [arrival(&attempt)];
                    let arrived: Vec<&Arrival> = arrived.iter().collect();
                    let testimonies =
                        [Testimony::Saw(&[]), Testimony::Saw(&arrived), Testimony::Blind("nobody")];
                    for (place, testimony) in testimonies.into_iter().enumerate() {
                        let verdict = judge(&attempt, &control, testimony).verdict;
                        with(&attempt, &control, place, verdict);
                        combinations += 1;
                    }
                }
            }
        }
    }
    combinations
}

const SAW: usize = 1;
const BLIND: usize = 2;

fn is_negative(attempt: &Try) -> bool {
    matches!(attempt.want, Want::Stopped | Want::Rewritten { .. })
}

fn is_held(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Blocked | Verdict::BlockedSlow)
}

#[test]
fn every_combination_has_a_verdict() {
    assert_eq!(everywhere(|_, _, _, _| {}), 5 * 27 * 3 * 8 * 3);
}

/// "Every negative probe has a positive control": nothing is blocked unless the same works elsewhere, the kernel refused it
/// before there was a packet, or somebody answered from where nobody lives.
#[test]
fn nothing_is_blocked_without_a_control() {
    everywhere(|attempt, control, testimony, verdict| {
        if !is_negative(attempt) || !is_held(verdict) {
            return;
        }
        // A kernel without memory says ENOBUFS too.
        let denied = matches!(&attempt.seen, Seen::Denied { errno, .. } if errno != "ENOBUFS");
        let passed = matches!(control, Control::Passed(_));
        let in_between = attempt.nowhere && testimony == BLIND;
        assert!(denied || passed || in_between, "{attempt:?} {control:?}");
        assert!(!matches!(control, Control::Failed(_)) || denied, "{attempt:?} {control:?}");
    });
}

/// "... an error, a missing tool or a dead server is inconclusive."
#[test]
fn an_error_is_never_good() {
    everywhere(|attempt, _, testimony, verdict| {
        // What arrives is a leak, whoever failed to notice.
        let arrived = testimony == SAW && !matches!(attempt.want, Want::Reached { .. });
        if matches!(attempt.seen, Seen::Failed { .. }) && !arrived {
            assert_eq!(verdict, Verdict::Inconclusive, "{attempt:?}");
        }
    });
}

/// Without somebody who would have seen it, silence proves nothing.
#[test]
fn silence_without_a_witness_is_never_good() {
    everywhere(|attempt, _, testimony, verdict| {
        let silent = matches!(attempt.seen, Seen::Silence | Seen::Sent);
        if silent && testimony == BLIND && is_negative(attempt) {
            assert!(!verdict.is_good(), "{attempt:?}: {verdict}");
        }
    });
}

/// What arrived counts before anything that was seen inside: nothing stopped may have.
#[test]
fn whatever_arrives_is_a_leak() {
    everywhere(|attempt, _, testimony, verdict| {
        // It arrived at the address that was aimed at, so for no want it is the permitted host's own.
        if testimony == SAW && is_negative(attempt) {
            assert_eq!(verdict, Verdict::Leak, "{attempt:?}");
        }
    });
}

/// Whoever answers with more than a refusal is not to be explained away.
#[test]
fn an_answer_is_never_good() {
    everywhere(|attempt, control, testimony, verdict| {
        if !is_negative(attempt) {
            return;
        }
        // It did not come from where it was aimed: nobody lives there, or the witness does, who saw nothing.
        let elsewhere = match testimony {
            BLIND => attempt.nowhere,
            SAW => false,
            _ => matches!(control, Control::Passed(_)),
        };
        if verdict == Verdict::Rewritten {
            let own = matches!(&attempt.seen, Seen::Verified { name, .. } if name == API);
            assert!(matches!(attempt.want, Want::Rewritten { .. }) && (elsewhere || own), "{attempt:?}");
            return;
        }
        match &attempt.seen {
            Seen::Proof { .. } => assert_eq!(verdict, Verdict::Leak, "{attempt:?}"),
            Seen::Verified { name, .. } if attempt.want == Want::Stopped || name != API => {
                assert_eq!(verdict, Verdict::Leak, "{attempt:?}");
            }
            Seen::TlsReply { .. } | Seen::BadChain { .. } | Seen::Octets { .. } | Seen::Found { .. } => {
                assert!(verdict >= Verdict::Suspect, "{attempt:?}");
            }
            Seen::Answered { status: 200, .. } => assert!(verdict >= Verdict::Suspect, "{attempt:?}"),
            Seen::Dns { answers, .. } if !answers.is_empty() => {
                assert!(verdict >= Verdict::Suspect, "{attempt:?}")
            }
            _ => {}
        }
    });
}

/// Allowed means an answer at the application layer, and nothing else does.
#[test]
fn allowed_needs_an_answer() {
    everywhere(|attempt, control, _, verdict| {
        let Want::Reached { .. } = attempt.want else {
            assert_ne!(verdict, Verdict::Allowed, "{attempt:?}");
            return;
        };
        let answered = matches!(attempt.seen, Seen::Proof { .. } | Seen::Verified { .. });
        assert_eq!(verdict == Verdict::Allowed, answered, "{attempt:?}");
        // Only what filters say counts as refused, and only of a host that is up.
        if verdict == Verdict::Refused {
            assert!(!matches!(control, Control::Failed(_)), "{attempt:?}");
        }
        assert!(answered || matches!(verdict, Verdict::Refused | Verdict::Inconclusive), "{attempt:?}");
    });
}

/// One line for each seen: wanted stopped, with a control that passed and a witness who saw nothing.
#[test]
fn what_a_closed_book_looks_like() {
    let table = [
        (Verdict::Leak, 4),          // a proof twice, a verified name twice
        (Verdict::Suspect, 6),       // 200, ServerHello, a chain, octets, a DNS answer, found
        (Verdict::Blocked, 14),      // every refusal, and `Sent`: a datagram of which nothing arrived
        (Verdict::BlockedSlow, 1),   // silence
        (Verdict::NotApplicable, 1), // not in this kernel
        (Verdict::Inconclusive, 1),  // failed
    ];
    let control = Control::Passed("it works".to_owned());
    let verdicts: Vec<Verdict> = everything_seen()
        .iter()
        .map(|seen| judge(&attempt(&Want::Stopped, seen), &control, Testimony::Saw(&[])).verdict)
        .collect();
    for (verdict, number) in table {
        let found = verdicts.iter().filter(|found| **found == verdict).count();
        assert_eq!(found, number, "{verdict}: {verdicts:?}");
    }
}

/// A public site is no way out unless it answers; whoever else listens may be one all the same.
#[test]
fn only_what_is_told_counts_where_nobody_listens() {
    let control = Control::Passed("it works".to_owned());
    for (seen, two_way, verdict) in [
        (Seen::Reset, true, Verdict::Blocked),
        (Seen::Dns { code: "NXDOMAIN".to_owned(), answers: Vec::new() }, true, Verdict::Blocked),
        (Seen::Silence, true, Verdict::Suspect),
        (Seen::Closed, true, Verdict::Inconclusive),
        (Seen::Reset, false, Verdict::Inconclusive),
    ] {
        let attempt = Try { two_way, ..attempt(&Want::Stopped, &seen) };
        assert_eq!(judge(&attempt, &control, Testimony::Blind("nobody")).verdict, verdict, "{attempt:?}");
        let unshown = judge(&attempt, &Control::Absent, Testimony::Blind("nobody")).verdict;
        assert!(!unshown.is_good(), "{attempt:?}");
    }
}
