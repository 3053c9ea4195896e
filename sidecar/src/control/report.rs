//! What is answered: the results of the methods, for both ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Result of `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Of the program.
    pub version: String,
    /// How the task is enclosed: `sealed`.
    pub topology: String,
    /// The phase in force.
    pub phase: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// How many switches there were, the start included.
    pub epoch: u64,
    /// The digest of the policy in force.
    pub policy: String,
    /// Its name, where it has one.
    pub policy_name: Option<String>,
    /// The version of the agent table that the policy came from, where it did.
    pub table: Option<u64>,
    /// How the ratchet is set: `free`, `flag` or `never-after-agent`.
    pub widen: String,
    /// The process that answers.
    pub pid: u32,
    /// Milliseconds since its start.
    pub uptime_ms: u64,
    /// What lives now.
    pub flows: usize,
    /// What it spends. Nothing, if who answers is of a version that does not say.
    #[serde(default)]
    pub load: Load,
    /// What there was so far.
    pub counters: Counters,
    /// What is not as it should be; empty if all is.
    pub degraded: Vec<Trouble>,
    /// Switches made and refused, the oldest first, the last hundred of them.
    pub history: Vec<Change>,
}

/// What the proxy spends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Connections that have said what they want.
    pub connections: Spent,
    /// Connections that have not.
    pub hellos: Spent,
    /// Connections of DNS over TCP.
    pub dns_connections: Spent,
    /// Servers that are being resolved or connected to.
    pub dials: Spent,
    /// Descriptors of the process; none where the kernel does not say.
    pub descriptors: Spent,
    /// Octets of memory of the process; none where the kernel does not say.
    pub memory: u64,
}

/// How much of something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Now.
    pub now: u64,
    /// What there may be.
    pub most: u64,
}

/// Attempts that have ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Permitted, and ended by themselves.
    pub allowed: u64,
    /// Refused.
    pub denied: u64,
    /// Permitted, and cut.
    pub cut: u64,
    /// Refused because they could not be recorded; in no other number.
    pub unrecorded: u64,
    /// To servers.
    pub bytes_up: u64,
    /// From servers.
    pub bytes_down: u64,
    /// Those refused or cut, by the word of the reason.
    pub reasons: BTreeMap<String, u64>,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    /// One stable word, such as `log-unwritable` or `limit-flows`.
    pub word: String,
    /// For people.
    pub detail: String,
}

/// A switch of phase or policy, made or refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// When, RFC 3339.
    pub ts: String,
    /// The phase that was in force.
    pub from: String,
    /// The phase that was asked for.
    pub to: String,
    /// The digest of the policy that was asked for.
    pub policy: String,
    /// The epoch that it became; null if it was refused.
    pub epoch: Option<u64>,
    /// The first thing that it permits and that was not permitted before.
    pub widens: Option<String>,
    /// Why it was refused: `not-asked`, `inside-agent`, `after-agent`.
    pub refused: Option<String>,
    /// How many flows it cut.
    pub cut: usize,
    /// The user who asked.
    pub uid: Option<u32>,
    /// The process that asked.
    pub pid: Option<i32>,
}

/// Result of `phase.get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The phase in force.
    pub name: String,
    /// How many switches there were, the start included.
    pub epoch: u64,
    /// Since when, RFC 3339.
    pub since: String,
    /// The digest of the policy in force.
    pub policy: String,
    /// What it permits.
    pub allow: Vec<String>,
    /// All phases of the policy.
    pub phases: Vec<String>,
}

/// Result of `phase.set` and `policy.set`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Switched {
    /// The phase in force now.
    pub phase: String,
    /// Its epoch.
    pub epoch: u64,
    /// The digest of the policy in force now.
    pub policy: String,
    /// The first thing that is permitted now and was not before.
    pub widened: Option<String>,
    /// What was cut. All of it has stopped.
    pub cut: Cut,
    /// How many flows go on.
    pub kept: usize,
}

/// What a switch has cut.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// How many flows.
    pub total: usize,
    /// By host, at most a thousand of them.
    pub hosts: Vec<CutHost>,
}

/// The flows to one host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CutHost {
    /// The name that was told, or the address where none was.
    pub host: String,
    /// The port that was aimed at.
    pub port: Option<u16>,
    /// `tls`, `http`, `tcp` or `dns`.
    pub kind: String,
    /// How many.
    pub flows: usize,
}

/// Result of `policy.get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// SHA-256 of the document.
    pub digest: String,
    /// The document in its canonical form.
    pub policy: Value,
}

/// Result of `flows.list`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flows {
    /// How many there are.
    pub total: usize,
    /// The oldest of them, as many as were asked for.
    pub flows: Vec<Flow>,
}

/// Something that lives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// The number of its record in the decision log.
    pub id: u64,
    /// `hello`, `dialling`, `open`, `idle` (a kept connection between two requests) or `asking` (DNS).
    pub state: String,
    /// `tls`, `http`, `tcp` or `dns`.
    pub kind: String,
    /// The name that was told, or the address where none was.
    pub host: String,
    /// The port that was aimed at.
    pub port: Option<u16>,
    /// Where it was aimed at.
    pub original: Option<String>,
    /// What it is connected to.
    pub dialled: Option<String>,
    /// The entry that permits it.
    pub rule: Option<String>,
    /// For how long, in milliseconds.
    pub age_ms: u64,
    /// Bytes to the server so far.
    pub bytes_up: u64,
    /// Bytes from the server so far.
    pub bytes_down: u64,
}

/// Result of `denials.summary`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Denials {
    /// The phase in force, for which the entries are proposed.
    pub phase: String,
    /// Most often refused first.
    pub denials: Vec<Denial>,
    /// Refusals that did not fit into the table.
    pub more: u64,
}

/// What was refused, counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Denial {
    /// The name that was told, or the address where none was.
    pub host: String,
    /// The port that was aimed at; null for a DNS question.
    pub port: Option<u16>,
    /// `tls`, `http`, `tcp` or `dns`.
    pub kind: String,
    /// The word of the reason.
    pub reason: String,
    /// How often.
    pub times: u64,
    /// The entry that would permit it, where there is one.
    pub entry: Option<String>,
    /// Why that entry would be a bad one.
    pub concerns: Vec<Concern>,
}

/// Why something should not be permitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concern {
    /// One stable word, as `closedbook policy check` has it.
    pub id: String,
    /// What exactly.
    pub detail: String,
    /// Why it matters.
    pub why: String,
}

/// Result of `health`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Whether nothing is degraded.
    pub ok: bool,
    /// What is.
    pub degraded: Vec<Trouble>,
}

/// Result of `metrics`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metrics {
    /// In the OpenMetrics format 1.0.
    pub text: String,
}

/// Result of `log.follow`. The records come as notifications `log.record`; `log.missed` says how many came faster than
/// this client took them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Following {
    /// How many records of the past come first.
    pub past: usize,
    /// Whether those to come follow.
    pub following: bool,
}
