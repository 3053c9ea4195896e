//! What a log comes to.

use serde::Serialize;

use super::allowed::Allowed;
use super::tally::{Sum, Table};
use super::{Log, ids};
use crate::Malformed;

mod judge;
mod phase;

/// What it all comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The log is whole, and nothing drifts.
    Clean,
    /// Log and list differ, or records are missing.
    Found,
    /// There is no record in it, which proves nothing.
    Empty,
    /// Something could not be read.
    Malformed,
}

/// What kind of finding it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Records are missing: the log does not say all.
    Incomplete,
    /// What was permitted is not what should be.
    Drift,
    /// Good to know.
    Note,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What kind of finding it is.
    pub level: Level,
    /// A stable word for it.
    pub id: &'static str,
    /// The phase that it is about.
    pub phase: Option<String>,
    /// What is so.
    pub what: String,
}

/// A host, and what happened to attempts at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Its name, or its address where none was told.
    pub host: String,
    /// The ports that were aimed at, DNS aside.
    pub ports: Vec<u16>,
    /// There were more ports.
    pub more_ports: bool,
    /// Attempts, questions among them.
    pub times: u64,
    /// Questions for it.
    pub questions: u64,
    /// When the first began.
    pub first: String,
    /// When the last began.
    pub last: String,
    /// Why, where something was refused or cut.
    pub reasons: Vec<&'static str>,
    /// What was attempted.
    pub kinds: Vec<&'static str>,
    /// The entries that permitted it, as the log has them.
    pub rules: Vec<String>,
    /// Bytes towards it.
    pub bytes_up: u64,
    /// Bytes from it.
    pub bytes_down: u64,
    /// What the first record said, for people.
    pub example: String,
}

/// An entry that nothing used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unused {
    /// The entry.
    pub entry: String,
    /// Where it is from.
    pub origin: String,
    /// It was asked for by name, and not connected to.
    pub asked: bool,
}

/// An entry that stands for many hosts, and those that it was used for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Wildcard {
    /// The entry.
    pub entry: String,
    /// Where it is from.
    pub origin: String,
    /// The hosts that it has carried and no other entry names.
    pub carried: Vec<String>,
    /// Entries that would do instead.
    pub exact: Vec<String>,
}

/// One phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PhaseReport {
    /// Its name.
    pub name: String,
    /// How many records it has.
    pub records: u64,
    /// What was refused, the most often first.
    pub refused: Vec<Host>,
    /// What was refused as intended: hosts that the row knows and does without.
    pub intended: Vec<Host>,
    /// What was connected to.
    pub used: Vec<Host>,
    /// What was asked for by name, permitted, and not connected to.
    pub asked: Vec<Host>,
    /// What was permitted and not reached.
    pub failed: Vec<Host>,
    /// Packets that the kernel's rules refused, by destination.
    pub packets: Vec<Host>,
    /// Flows that closedbook ended.
    pub cut: u64,
    /// Entries that nothing used; empty where the phase is not in the log.
    pub unused: Vec<Unused>,
    /// Entries that stand for many hosts.
    pub wildcards: Vec<Wildcard>,
    /// Hosts that were used or asked for and that the list does not have.
    pub unlisted: Vec<String>,
    /// Attempts at more hosts than could be told apart.
    pub more: u64,
}

/// A policy that was in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicySeen {
    /// Its digest.
    pub digest: String,
    /// How many records name it.
    pub records: u64,
}

/// A phase in force, in the order of time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Switch {
    /// How many switches had come before.
    pub epoch: u64,
    /// The phase.
    pub phase: String,
    /// The policy's digest.
    pub policy: String,
    /// The first attempt under it.
    pub first: String,
    /// The last.
    pub last: String,
    /// How many.
    pub records: u64,
    /// What it permits that the one before did not; null where that can't be told, or there is nothing.
    pub widens: Option<String>,
}

/// The report; its JSON form is schema 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// What it comes to.
    pub outcome: Outcome,
    /// What it was measured against.
    pub against: Option<String>,
    /// Records.
    pub records: u64,
    /// When the first attempt began.
    pub first: String,
    /// When the last one began.
    pub last: String,
    /// Runs in the log.
    pub runs: u64,
    /// Proxies that took a dead one's place.
    pub restarts: u64,
    /// Records that are missing.
    pub missing: u64,
    /// First and last number of the first gaps.
    pub gaps: Vec<(u64, u64)>,
    /// Flows that have opened and have no record.
    pub unended: u64,
    /// The policies in force.
    pub policies: Vec<PolicySeen>,
    /// The phases in force, in the order of time.
    pub switches: Vec<Switch>,
    /// The phases, those that are only in the list too.
    pub phases: Vec<PhaseReport>,
    /// What was found; what is missing first.
    pub findings: Vec<Finding>,
    /// What could not be read.
    pub malformed: Vec<Malformed>,
    /// Malformed lines beyond those that are told.
    pub more_malformed: u64,
}

pub(super) fn report(log: Log, allowed: Option<&Allowed>) -> Report {
    let whole: ids::Wholeness = log.runs.wholeness();
    let tally = log.tally;
    let mut phases: Vec<PhaseReport> =
        tally.phases.iter().map(|(name, sums)| phase::report(name, sums, allowed)).collect();
    for missing in allowed.iter().flat_map(|allowed| &allowed.phases) {
        if !tally.phases.contains_key(&missing.name) {
            phases.push(phase::unseen(&missing.name));
        }
    }
    let mut policies: Vec<PolicySeen> = tally
        .policies
        .iter()
        .map(|(digest, span)| PolicySeen { digest: digest.clone(), records: span.times })
        .collect();
    policies.sort_by_key(|seen| std::cmp::Reverse(seen.records));
    let mut report = Report {
        schema: 1,
        outcome: Outcome::Clean,
        against: allowed.map(|allowed| allowed.origin.clone()),
        records: log.records,
        first: tally.span.first.clone(),
        last: tally.span.last.clone(),
        runs: whole.runs,
        restarts: whole.restarts,
        missing: whole.missing,
        gaps: whole.gaps.clone(),
        unended: whole.unended,
        policies,
        switches: judge::switches(&tally, allowed),
        phases,
        findings: Vec::new(),
        malformed: log.malformed,
        more_malformed: log.more_malformed,
    };
    report.findings = judge::findings(&report, &whole, &tally, allowed);
    report.outcome = match report.findings.first().map(|finding| finding.level) {
        _ if !report.malformed.is_empty() => Outcome::Malformed,
        _ if report.records == 0 => Outcome::Empty,
        Some(Level::Incomplete | Level::Drift) => Outcome::Found,
        Some(Level::Note) | None => Outcome::Clean,
    };
    report
}

impl Host {
    fn of(host: &str, sum: &Sum) -> Self {
        let mut ports = sum.ports.clone();
        ports.sort_unstable();
        Self {
            host: host.to_owned(),
            ports,
            more_ports: sum.more_ports,
            times: sum.span.times,
            questions: sum.asked,
            first: sum.span.first.clone(),
            last: sum.span.last.clone(),
            reasons: sum.reasons(),
            kinds: sum.kinds(),
            rules: sum.rules.clone(),
            bytes_up: sum.up,
            bytes_down: sum.down,
            example: sum.example.clone(),
        }
    }

    /// All of a table, the most often first.
    fn all(table: &Table) -> Vec<Self> {
        let mut hosts: Vec<Self> = table.hosts.iter().map(|(host, sum)| Self::of(host, sum)).collect();
        hosts.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.host.cmp(&b.host)));
        hosts
    }

    /// Whether it was connected to, and not only asked for.
    pub fn is_connected(&self) -> bool {
        self.times > self.questions
    }
}
