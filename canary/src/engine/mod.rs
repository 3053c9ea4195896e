//! Trying the probes: a worker process for each level of privilege, threads in it for the probes.

pub mod job;
pub mod plan;
pub mod session;
pub mod worker;

use serde::{Deserialize, Serialize};

use crate::probe::{Level, Moment};
use crate::surroundings::Surroundings;
use crate::targets::Targets;
use crate::trial::Try;

/// What a worker is to do. One line of JSON on its standard input; after it come [`Event`]s.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The phase in force, for the report.
    pub phase: String,
    /// As whom the worker runs; whoever starts it has seen to that.
    pub level: Level,
    /// Which probes, by their moment.
    pub moment: Moment,
    /// What is aimed at.
    pub targets: Targets,
    /// What the harness does besides.
    pub harness: Harness,
    /// Only probes whose id starts with one of these; all, if there are none.
    pub only: Vec<String>,
    /// Capabilities to keep in the bounding set and all others: what a container's root would have. `None`: all that are
    /// there.
    pub keep: Option<Vec<String>>,
}

/// What the harness does while the canary runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harness {
    /// It switches the phase.
    pub switches: bool,
    /// It kills the sidecar at the end.
    pub kills: bool,
}

/// What a waiting worker is told, a line each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The switch to the next phase is complete.
    Switched,
    /// The sidecar has been killed.
    Killed,
    /// It is over.
    Over,
}

/// What a worker says, a line of JSON each.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// It has begun: what it found, and how many probes it will try.
    Begun {
        /// Where it runs.
        surroundings: Box<Surroundings>,
        /// Probes that will be tried.
        probes: usize,
    },
    /// All probes that wait for an event have done what comes before it.
    Waiting,
    /// A probe is over.
    Over(Box<Outcome>),
}

/// What became of one probe at one level in one phase. Nothing is judged yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The probe.
    pub id: String,
    /// What kept it from being tried, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<String>,
    /// Why it did not end as it should have: a fault of the canary, or time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub broken: Option<String>,
    /// Its tries.
    #[serde(default)]
    pub tries: Vec<Try>,
}

/// All probes of one phase at one level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// The phase in force.
    pub phase: String,
    /// As whom.
    pub level: Level,
    /// When.
    pub moment: Moment,
    /// The run it belongs to; that of its evidence, or it came there from another.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub run: String,
    /// The digest of the policy that was in force, where the sidecar could be asked for it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub policy: Option<String>,
    /// Where it ran.
    pub surroundings: Surroundings,
    /// What became of each probe.
    pub outcomes: Vec<Outcome>,
}
