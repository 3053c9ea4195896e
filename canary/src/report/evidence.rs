//! Everything that was observed. Nothing is judged in it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::{Outcome, Stage};
use crate::targets::Targets;
use crate::trial::Try;
use crate::witness::Record;

/// The version of the shape that is written and read here.
pub const SCHEMA: u32 = 1;

/// The evidence of one run of the canary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The version of this shape.
    pub schema: u32,
    /// A name that no other run has.
    pub run: String,
    /// When it began, RFC 3339, UTC.
    pub made: String,
    /// When the last probe was over.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<String>,
    /// What it is about.
    pub subject: Subject,
    /// The policy itself, as its canonical JSON: what its digest was made of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<String>,
    /// What was aimed at in each phase.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub aims: BTreeMap<String, Targets>,
    /// Every phase at every level.
    pub stages: Vec<Stage>,
    /// The same probes where nothing was in their way.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline: Option<Baseline>,
    /// What the witness wrote down meanwhile, of what can be this run's; without it, who could have?
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub witness: Option<Record>,
    /// What no probe can try, and must be known all the same.
    #[serde(default)]
    pub facts: Vec<Fact>,
}

/// What the evidence is about: a verdict counts for this and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The version of the canary.
    pub canary: String,
    /// The digest of the policy that was in force.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<String>,
    /// The version of the agent table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub table: Option<u32>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub agent: Option<String>,
    /// Whose models it calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// How it logs in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub auth: Option<String>,
    /// `sealed`, `shared`, or what was under test if that is not closedbook.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topology: Option<String>,
    /// The version, or the image digest, of the sidecar.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sidecar: Option<String>,
    /// The digest of the task's image.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub image: Option<String>,
    /// Phases that were to be tried, in their order.
    pub phases: Vec<String>,
}

/// What the same probes did where nothing was in their way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The probes, at each level.
    pub stages: Vec<Stage>,
    /// What the witness saw of them.
    pub witness: Record,
}

/// Something that follows from policy and table, and that no network filter can see or stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// `channel-...` or `provider-...`.
    pub id: String,
    /// The phase it holds in, if it is not all of them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase: Option<String>,
    /// What it is about: a host, a web tool.
    pub about: String,
    /// What must be known.
    pub text: String,
}

impl Evidence {
    /// Every try of the run itself, with where it was made.
    pub fn tries(&self) -> impl Iterator<Item = (&Stage, &Outcome, &Try)> {
        tries_of(&self.stages)
    }

    /// Whether it was made by this version of the program, whose catalogue is then known.
    pub fn is_of_this_version(&self) -> bool {
        self.subject.canary == env!("CARGO_PKG_VERSION")
    }

    /// Without what a report has no use for: arrivals that are nothing of this run's, of which only their number is kept.
    pub fn trimmed(mut self) -> Self {
        if let Some(record) = self.witness.take() {
            self.witness = Some(record.kept_for(tries_of(&self.stages).map(|(_, _, attempt)| attempt)));
        }
        if let Some(baseline) = self.baseline.take() {
            let Baseline { stages, witness } = baseline;
            let witness = witness.kept_for(tries_of(&stages).map(|(_, _, attempt)| attempt));
            self.baseline = Some(Baseline { stages, witness });
        }
        // Their keys are somebody's, and a report is shown around.
        for targets in self.aims.values_mut() {
            targets.trust = None;
        }
        self
    }
}

impl Baseline {
    /// Whether nothing was tried in it.
    pub fn is_empty(&self) -> bool {
        tries_of(&self.stages).next().is_none()
    }
}

/// Every try of these stages.
pub(crate) fn tries_of(stages: &[Stage]) -> impl Iterator<Item = (&Stage, &Outcome, &Try)> {
    stages.iter().flat_map(|stage| {
        stage
            .outcomes
            .iter()
            .flat_map(move |outcome| outcome.tries.iter().map(move |attempt| (stage, outcome, attempt)))
    })
}
