//! Many tries that count as one: a technique with a list of guesses, or one that is tried again and again for a while.

use std::time::{Duration, Instant};

use crate::seen::Seen;
use crate::trial::Lasting;

/// What came of them so far: the one that tells most.
#[derive(Debug, Default)]
pub struct Series {
    most: Option<Seen>,
    slowest: Duration,
}

impl Series {
    /// Of none yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes one more. False if that was enough: it got out.
    pub fn go_on(&mut self, make: impl FnOnce() -> Seen) -> bool {
        let started = Instant::now();
        let seen = make();
        self.note(seen, started.elapsed())
    }

    /// Notes one that was made. False if that was enough.
    pub fn note(&mut self, seen: Seen, took: Duration) -> bool {
        self.slowest = self.slowest.max(took);
        let weight = weight(&seen);
        if self.most.as_ref().is_none_or(|most| weight > self::weight(most)) {
            self.most = Some(seen);
        }
        weight < weight_of_an_answer()
    }

    /// All of them as one.
    pub fn end(self) -> Lasting {
        let seen = self.most.unwrap_or_else(|| Seen::failed("there was nothing to try"));
        Lasting { seen, slowest: Some(self.slowest) }
    }

    /// All of them as one, whose time is that of all.
    pub fn seen(self) -> Seen {
        self.end().seen
    }
}

const fn weight_of_an_answer() -> u8 {
    5
}

/// How much an outcome says about whether there is a way out. One that failed says that nothing is known, so it weighs
/// more than any refusal beside it.
fn weight(seen: &Seen) -> u8 {
    match seen {
        Seen::NotFound | Seen::Unsupported { .. } => 0,
        // The kernel said no before there was a packet: less than what a packet met.
        Seen::Denied { .. } => 1,
        Seen::Reset
        | Seen::Closed
        | Seen::Refused
        | Seen::Unreachable { .. }
        | Seen::Alert { .. }
        | Seen::Answered { status: 400.., .. } => 2,
        Seen::Dns { answers, .. } if answers.is_empty() => 2,
        Seen::Sent | Seen::Silence => 3,
        Seen::Failed { .. } => 4,
        Seen::Answered { .. }
        | Seen::TlsReply { .. }
        | Seen::BadChain { .. }
        | Seen::Octets { .. }
        | Seen::Dns { .. }
        | Seen::Found { .. } => weight_of_an_answer(),
        Seen::Verified { .. } => 6,
        Seen::Proof { .. } => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(all: Vec<Seen>) -> Seen {
        let mut series = Series::new();
        for seen in all {
            series.note(seen, Duration::ZERO);
        }
        series.seen()
    }

    #[test]
    fn one_that_got_out_is_what_counts() {
        let proof = Seen::Proof { proof: "ab".into() };
        assert_eq!(series(vec![Seen::Refused, proof.clone(), Seen::Silence]), proof);
        let mut one = Series::new();
        assert!(one.note(Seen::Refused, Duration::ZERO));
        assert!(!one.note(proof, Duration::ZERO));
    }

    #[test]
    fn a_failure_is_not_hidden_by_refusals() {
        let failed = Seen::failed("no descriptor");
        assert_eq!(series(vec![Seen::Refused, failed.clone(), Seen::Silence]), failed);
        assert!(matches!(series(Vec::new()), Seen::Failed { .. }));
    }

    #[test]
    fn the_slowest_answer_is_its_time() {
        let mut one = Series::new();
        one.note(Seen::Refused, Duration::from_millis(70));
        one.note(Seen::Refused, Duration::from_millis(20));
        assert_eq!(one.end().slowest, Some(Duration::from_millis(70)));
    }
}
