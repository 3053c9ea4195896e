//! From sums to findings.

use closedbook_policy::{PhaseName, Policy};

use super::{Finding, Level, PhaseReport, Report, Switch};
use crate::egress::allowed::{Allowed, names};
use crate::egress::ids::Wholeness;
use crate::egress::tally::Tally;

/// So many hosts are named in one sentence.
const NAMED: usize = 10;

pub(super) fn findings(
    report: &Report,
    whole: &Wholeness,
    tally: &Tally,
    allowed: Option<&Allowed>,
) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut say = |level, id, what: String| found.push(Finding { level, id, phase: None, what });
    if whole.missing > 0 {
        let gaps: Vec<String> = whole.gaps.iter().take(NAMED).map(gap).collect();
        let more = whole.more_gaps + whole.gaps.len().saturating_sub(NAMED) as u64;
        let more = if more > 0 { format!(", and {more} more gaps") } else { String::new() };
        say(
            Level::Incomplete,
            "records-missing",
            format!("{} records are missing: numbers {}{more}", whole.missing, gaps.join(", ")),
        );
    }
    if whole.overflown {
        say(Level::Incomplete, "records-missing", "there are more gaps than could be told apart".into());
    }
    if whole.unended > 0 {
        let what =
            format!("{} flows have opened and have no record: they go on, or it is missing", whole.unended);
        say(Level::Incomplete, "flows-without-record", what);
    }
    if whole.restarts > 0 {
        let what = format!(
            "{} times a proxy took a dead one's place; records of what lived in that are lost",
            whole.restarts
        );
        say(Level::Incomplete, "proxy-restarted", what);
    }
    let more = tally.more_phases
        + tally.more_policies
        + tally.more_switches
        + report.phases.iter().map(|phase| phase.more).sum::<u64>();
    if more > 0 {
        let what = format!("{more} attempts are of more hosts, phases or policies than could be told apart");
        say(Level::Incomplete, "more-than-told", what);
    }
    policies(report, allowed, &mut say);
    if whole.runs > 1 {
        say(Level::Note, "several-runs", format!("records of {} runs: numbers come again", whole.runs));
    }
    for switch in &report.switches {
        if let Some(widens) = &switch.widens {
            let what = format!(
                "{} (epoch {}) permits more than what was before: {widens}",
                switch.phase, switch.epoch
            );
            say(Level::Note, "widening", what);
        }
    }
    for phase in &report.phases {
        of_phase(phase, allowed, &mut found);
    }
    found.sort_by_key(|finding| finding.level);
    found
}

fn gap((first, last): &(u64, u64)) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn policies(report: &Report, allowed: Option<&Allowed>, say: &mut impl FnMut(Level, &'static str, String)) {
    let own = allowed.and_then(|allowed| allowed.digest.as_deref());
    for seen in report.policies.iter().take(NAMED) {
        if own.is_some_and(|own| own != seen.digest) {
            let what = format!("{} records were decided by another policy: {}", seen.records, seen.digest);
            say(Level::Drift, "other-policy", what);
        }
    }
    if report.policies.len() > 1 {
        say(Level::Note, "several-policies", format!("{} policies were in force", report.policies.len()));
    }
}

fn of_phase(phase: &PhaseReport, allowed: Option<&Allowed>, found: &mut Vec<Finding>) {
    let mut say = |level, id, what| found.push(Finding { level, id, phase: Some(phase.name.clone()), what });
    let entries = allowed.and_then(|allowed| allowed.phase(&phase.name));
    if phase.records == 0 {
        return say(Level::Note, "phase-unseen", "the log has nothing of this phase".into());
    }
    if allowed.is_some() && entries.is_none() {
        say(Level::Drift, "phase-unlisted", "the list has no such phase".into());
    }
    if !phase.unlisted.is_empty() {
        say(
            Level::Drift,
            "used-unlisted",
            format!("permitted, and not in the list: {}", some(&phase.unlisted)),
        );
    }
    // Refused for its name although the list has it: decided by a narrower list.
    let is_narrow = |reason: &&str| ["name-not-allowed", "dns-name", "address-not-allowed"].contains(reason);
    let narrowed = phase.refused.iter().filter(|host| {
        host.reasons.iter().any(is_narrow)
            && entries.unwrap_or_default().iter().any(|entry| names(&entry.entry, &host.host))
    });
    let narrowed: Vec<String> = narrowed.map(|host| host.host.clone()).collect();
    if !narrowed.is_empty() {
        say(Level::Drift, "listed-refused", format!("in the list, and refused: {}", some(&narrowed)));
    }
    let hosts = |list: &[super::Host]| -> Vec<String> { list.iter().map(|host| host.host.clone()).collect() };
    if !phase.refused.is_empty() {
        let what = format!("{} hosts were refused: {}", phase.refused.len(), some(&hosts(&phase.refused)));
        say(Level::Note, "refused", what);
    }
    if !phase.intended.is_empty() {
        let what = format!("refused as intended: {}", some(&hosts(&phase.intended)));
        say(Level::Note, "refused-as-intended", what);
    }
    if !phase.failed.is_empty() {
        say(
            Level::Note,
            "not-reached",
            format!("permitted, and not reached: {}", some(&hosts(&phase.failed))),
        );
    }
    let (asked, never): (Vec<_>, Vec<_>) = phase.unused.iter().partition(|unused| unused.asked);
    let entry =
        |list: &[&super::Unused]| -> Vec<String> { list.iter().map(|one| one.entry.clone()).collect() };
    if !never.is_empty() {
        say(Level::Note, "never-used", format!("never used: {}", some(&entry(&never))));
    }
    if !asked.is_empty() {
        let what = format!("asked for by name, and never connected to: {}", some(&entry(&asked)));
        say(Level::Note, "asked-only", what);
    }
    for wildcard in phase.wildcards.iter().filter(|wildcard| !wildcard.carried.is_empty()) {
        let what = format!("{} has carried {}", wildcard.entry, some(&wildcard.carried));
        say(Level::Note, "wildcard", what);
    }
    if phase.cut > 0 {
        say(Level::Note, "cut", format!("{} flows were cut", phase.cut));
    }
    let packets: u64 = phase.packets.iter().map(|host| host.times).sum();
    if packets > 0 {
        let what = format!("{packets} packets were refused and copied, to {}", some(&hosts(&phase.packets)));
        say(Level::Note, "packets", what);
    }
}

/// Some of them, and how many more.
fn some(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The phases in force, in the order of time, and what each permits beyond the one before.
pub(super) fn switches(tally: &Tally, allowed: Option<&Allowed>) -> Vec<Switch> {
    let mut switches: Vec<Switch> = tally
        .switches
        .iter()
        .map(|((epoch, phase, policy), span)| Switch {
            epoch: *epoch,
            phase: phase.clone(),
            policy: policy.clone(),
            first: span.first.clone(),
            last: span.last.clone(),
            records: span.times,
            widens: None,
        })
        .collect();
    switches.sort_by(|a, b| (&a.first, a.epoch).cmp(&(&b.first, b.epoch)));
    let Some(allowed) = allowed else { return switches };
    let mut before: Option<(u64, String, String)> = None;
    for switch in &mut switches {
        if let Some((epoch, phase, policy)) = &before
            && *epoch < switch.epoch
            && *policy == switch.policy
        {
            switch.widens = widening(allowed, phase, &switch.phase);
        }
        before = Some((switch.epoch, switch.phase.clone(), switch.policy.clone()));
    }
    switches
}

fn widening(allowed: &Allowed, from: &str, to: &str) -> Option<String> {
    let alone = |name: &str| {
        let entries: Vec<_> = allowed.phase(name)?.iter().map(|entry| entry.entry.clone()).collect();
        let phase = PhaseName::parse("phase").ok()?;
        Policy::single(&phase, &entries).phase("phase").cloned()
    };
    alone(to)?.widens(&*alone(from)?).map(|widening| widening.to_string())
}
