//! The ratchet: narrowing always works, widening only as the operator said at the start (G8).

use closedbook_policy::Phase;
use thiserror::Error;

/// The phase in which the agent runs.
const AGENT: &str = "agent";

/// How the operator wants widening to be, said once, at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Widen {
    /// It works like narrowing.
    Free,
    /// It has to be asked for each time, and what the agent's phase permits can't grow while it is in force.
    #[default]
    Flag,
    /// As `Flag`, and not at all from the moment on in which the agent's phase was entered.
    NeverAfterAgent,
}

/// What remembers whether the agent has run.
#[derive(Debug)]
pub(crate) struct Ratchet {
    widen: Widen,
    agent_has_run: bool,
}

/// Why the ratchet does not let something through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Stop {
    /// It was not asked for.
    #[error("widening has to be asked for")]
    NotAsked,
    /// The agent's phase is in force and would permit more.
    #[error("the agent's phase can't be widened while it is in force")]
    InsideAgent,
    /// The agent has run.
    #[error("nothing is widened any more once the agent's phase was entered")]
    AfterAgent,
}

impl Ratchet {
    /// At the start, in this phase, after those that were in force before another proxy took over.
    pub(super) fn new(widen: Widen, entered: &[Box<str>], phase: &Phase) -> Self {
        let agent_has_run = entered.iter().any(|name| **name == *AGENT) || phase.name() == AGENT;
        Self { widen, agent_has_run }
    }

    /// How it is set.
    pub(super) fn widen(&self) -> Widen {
        self.widen
    }

    /// Whether a phase that permits more than the one in force may follow it.
    pub(super) fn permits(&self, now: &Phase, next: &Phase, asked: bool) -> Result<(), Stop> {
        match self.widen {
            Widen::Free => Ok(()),
            Widen::NeverAfterAgent if self.agent_has_run => Err(Stop::AfterAgent),
            _ if !asked => Err(Stop::NotAsked),
            _ if now.name() == AGENT && next.name() == AGENT => Err(Stop::InsideAgent),
            _ => Ok(()),
        }
    }

    /// This phase is in force now.
    pub(super) fn entered(&mut self, phase: &Phase) {
        self.agent_has_run |= phase.name() == AGENT;
    }
}

impl Widen {
    /// The values with their stable words, the default among them.
    pub const ALL: [(&'static str, Widen); 3] =
        [("free", Widen::Free), ("flag", Widen::Flag), ("never-after-agent", Widen::NeverAfterAgent)];

    /// The stable word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, widen)| *widen == self).map_or("", |(word, _)| word)
    }

    /// The value of a word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().find(|(word, _)| *word == text).map(|(_, widen)| *widen)
    }
}

impl Stop {
    /// The stable word.
    pub fn word(self) -> &'static str {
        match self {
            Stop::NotAsked => "not-asked",
            Stop::InsideAgent => "inside-agent",
            Stop::AfterAgent => "after-agent",
        }
    }
}
