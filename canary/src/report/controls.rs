//! What speaks for a try and against it: the same where nothing is in its way, its neighbours, and the witness.

use std::collections::HashMap;

use super::evidence::{Evidence, tries_of};
use crate::engine::{Outcome, Stage};
use crate::probe::{Level, Moment};
use crate::seen::Seen;
use crate::trial::{Try, Want};
use crate::verdict::Control;
use crate::witness::{Arrival, Index};

/// What is known of a try from elsewhere.
#[derive(Debug)]
pub struct Grounds<'a> {
    /// What the same technique did where it is allowed to work.
    pub control: Control,
    /// What arrived of it.
    pub witness: Heard<'a>,
}

/// What a witness says of a try.
#[derive(Debug)]
pub enum Heard<'a> {
    /// There is none who could say it, for this reason.
    Nobody(&'static str),
    /// This arrived; and nothing else did, unless there is a reason to doubt it.
    Arrived(Vec<&'a Arrival>, Result<(), &'static str>),
}

/// All controls of an evidence.
#[derive(Debug)]
pub struct Controls<'a> {
    witness: Option<Index<'a>>,
    open: Option<HashMap<(&'a str, Level, &'a str), Open<'a>>>,
}

/// A try where nothing was in its way.
#[derive(Debug)]
struct Open<'a> {
    attempt: &'a Try,
    arrived: bool,
}

impl<'a> Controls<'a> {
    /// Reads them.
    pub fn of(evidence: &'a Evidence) -> Self {
        let open = evidence.baseline.as_ref().map(|baseline| {
            let mut open: HashMap<_, Open<'a>> = HashMap::new();
            let witness = Index::of(&baseline.witness);
            for (stage, outcome, attempt) in tries_of(&baseline.stages) {
                let arrived = !witness.find(attempt).is_empty();
                let key = (outcome.id.as_str(), stage.level, attempt.what.as_str());
                // Tried in several phases: one that works shows that it can.
                let found = open.entry(key).or_insert(Open { attempt, arrived });
                if !found.works() {
                    *found = Open { attempt, arrived };
                }
            }
            open
        });
        Self { witness: evidence.witness.as_ref().map(Index::of), open }
    }

    /// What is known of this try.
    pub fn grounds(&self, stage: &Stage, outcome: &Outcome, attempt: &Try) -> Grounds<'a> {
        let witness = match &self.witness {
            None => Heard::Nobody("there is no witness, or its record was not read"),
            Some(index) => Heard::Arrived(index.find(attempt), index.record().believable()),
        };
        Grounds { control: self.control(stage, outcome, attempt), witness }
    }

    fn control(&self, stage: &Stage, outcome: &Outcome, attempt: &Try) -> Control {
        let open = self.in_the_open(stage, outcome, attempt);
        let Some(beside) = &attempt.beside else { return open };
        // A control in the same run is a condition besides.
        match outcome.tries.iter().find(|other| other.what == *beside).map(|other| &other.seen) {
            Some(Seen::Proof { .. } | Seen::Verified { .. }) if open == Control::Absent => {
                Control::Passed(format!("{beside}: it works"))
            }
            Some(Seen::Proof { .. } | Seen::Verified { .. }) => open,
            Some(seen) => Control::Failed(format!("{beside}: {seen}")),
            None => Control::Failed(format!("{beside} was not tried")),
        }
    }

    /// A technique that works for root and not for the agent's user has root's as its control there: what is asked is whether
    /// the tool and the witness work.
    fn in_the_open(&self, stage: &Stage, outcome: &Outcome, attempt: &Try) -> Control {
        let Some(open) = &self.open else { return Control::Absent };
        if attempt.want == Want::Absent || stage.moment != Moment::Phase {
            return Control::Absent;
        }
        let at = |level| open.get(&(outcome.id.as_str(), level, attempt.what.as_str()));
        let own = at(stage.level);
        let found = own.filter(|open| open.works()).or_else(|| {
            let other = Level::ALL.into_iter().filter_map(at).find(|open| open.works());
            other.or(own).or_else(|| Level::ALL.into_iter().find_map(at))
        });
        let permitted = matches!(attempt.want, Want::Reached { .. });
        match found {
            // Which hosts are permitted depends on the phase; that one was not tried elsewhere says nothing of it.
            None if permitted => Control::Absent,
            None => Control::Failed("it was not tried there".to_owned()),
            Some(open) if open.arrived => {
                Control::Passed("the same arrives where nothing is in its way".to_owned())
            }
            Some(open) if open.works() => {
                Control::Passed("the same is answered where nothing is in its way".to_owned())
            }
            Some(open) => Control::Failed(open.attempt.seen.to_string()),
        }
    }
}

impl Open<'_> {
    fn works(&self) -> bool {
        let answered = match &self.attempt.seen {
            Seen::Proof { .. } | Seen::Verified { .. } => true,
            // A resolver that gives data has looked the name up, whoever it asked.
            Seen::Dns { answers, .. } => !answers.is_empty(),
            _ => false,
        };
        self.arrived || answered
    }
}
