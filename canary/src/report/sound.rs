//! Whether evidence is of one piece: of one run, under one policy, by probes that exist, with marks that are unique.
//!
//! Two reports can be mixed up by accident, and a report can be edited. The digest tells the second; both end here when
//! somebody makes a new digest of what he has put together. None of this proves that a canary was run: a signature does.

mod aims;
mod nowhere;
mod plan;

use std::collections::HashSet;

use super::evidence::{Evidence, SCHEMA, tries_of};
use super::judgement::FLOOR;
use crate::engine::Stage;
use crate::probe::Moment;
use crate::trial::{Try, Want};

/// What is wrong with it, a sentence each.
pub(super) fn faults(evidence: &Evidence) -> Vec<String> {
    let mut faults = head(evidence);
    faults.extend(stages(evidence));
    faults.extend(marks(evidence));
    for stage in &evidence.stages {
        faults.extend(outcomes(evidence, stage));
    }
    for (stage, outcome, attempt) in evidence.tries() {
        let place = || format!("{}/{}: {}: {:?}", stage.phase, stage.level, outcome.id, attempt.what);
        if let Some(fault) = nowhere::fault(attempt) {
            faults.push(format!("{}: {fault}", place()));
        }
        if attempt.two_way && !outcome.id.starts_with("allow-") && stage.moment != Moment::Switch {
            faults.push(format!("{}: takes what arrives for harmless", place()));
        }
        if let Some(name) = aims::not_refused(evidence, &stage.phase, attempt) {
            faults.push(format!("{}: takes {name} for a name that exists and is refused", place()));
        }
        if let Some(to) = aims::out_of_sight(evidence, stage, attempt) {
            faults.push(format!("{}: was aimed at {to}, where nobody watches", place()));
        }
        if let Some(name) = aims::not_permitted(evidence, stage, &attempt.want) {
            faults.push(format!("{}: {name} is no permitted host of this phase", place()));
        }
    }
    faults.extend(aims::faults(evidence));
    faults.extend(plan::faults(evidence));
    faults
}

fn head(evidence: &Evidence) -> Vec<String> {
    let Evidence { schema, run, made, subject, .. } = evidence;
    let mut faults = Vec::new();
    if *schema != SCHEMA {
        faults.push(format!("the evidence has schema {schema}, and this canary judges schema {SCHEMA}"));
    }
    for (what, text) in [("run", run), ("made", made), ("canary", &subject.canary)] {
        if text.is_empty() {
            faults.push(format!("the evidence does not say its {what:?}"));
        }
    }
    let mut phases = HashSet::new();
    for phase in subject.phases.iter().filter(|phase| !phases.insert(phase.as_str())) {
        faults.push(format!("phase {phase} stands twice among those to be tried"));
    }
    faults
}

fn stages(evidence: &Evidence) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    for stage in &evidence.stages {
        let Stage { phase, level, moment, run, policy, .. } = stage;
        if *run != evidence.run {
            faults.push(format!(
                "{phase}/{level}: belongs to run {run:?}, and the evidence to {:?}",
                evidence.run
            ));
        }
        if policy.is_some() && *policy != evidence.subject.policy {
            let (there, here) = (policy.as_deref(), evidence.subject.policy.as_deref());
            let [there, here] = [there, here].map(|digest| digest.unwrap_or("none"));
            faults.push(format!(
                "{phase}/{level}: was tried under policy {there}, and the evidence is of {here}"
            ));
        }
        if !evidence.subject.phases.contains(phase) {
            faults.push(format!("{phase}/{level}: is no phase that was to be tried"));
        }
        if !seen.insert((phase, level, moment)) {
            faults.push(format!("{phase}/{level}: stands twice"));
        }
    }
    let runs: HashSet<&str> = evidence
        .baseline
        .iter()
        .flat_map(|baseline| baseline.stages.iter())
        .map(|stage| stage.run.as_str())
        .collect();
    if runs.len() > 1 || runs.contains("") {
        faults.push("the baseline is not of one run".to_owned());
    }
    faults
}

/// A mark that comes twice was copied; without one nobody can say what arrived.
fn marks(evidence: &Evidence) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    let baseline = evidence.baseline.iter().flat_map(|baseline| tries_of(&baseline.stages));
    for (stage, outcome, attempt) in evidence.tries().chain(baseline) {
        let place = || format!("{}/{}: {}: {:?}", stage.phase, stage.level, outcome.id, attempt.what);
        if !attempt.nonce.is_well_formed() {
            faults.push(format!("{}: has no nonce", place()));
        } else if !seen.insert(attempt.nonce.label()) {
            faults.push(format!("{}: its nonce {} is another try's too", place(), attempt.nonce));
        }
    }
    faults
}

fn outcomes(evidence: &Evidence, stage: &Stage) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen = HashSet::new();
    for outcome in &stage.outcomes {
        let place = format!("{}/{}: {}", stage.phase, stage.level, outcome.id);
        if !seen.insert(outcome.id.as_str()) {
            faults.push(format!("{place}: stands twice"));
        }
        match crate::find(&outcome.id) {
            Some(probe) if probe.moment != stage.moment => {
                faults.push(format!("{place}: is no probe of this moment"));
            }
            Some(probe) if !probe.levels.contains(&stage.level) => {
                faults.push(format!("{place}: is not tried at this level"));
            }
            // Another version may have others; what they saw is judged like everything else.
            None if evidence.is_of_this_version() && !FLOOR.contains(&outcome.id.as_str()) => {
                faults.push(format!("{place}: is no probe of the catalogue"));
            }
            _ => {}
        }
        let mut variants = HashSet::new();
        for attempt in outcome.tries.iter().filter(|attempt| !variants.insert(attempt.what.as_str())) {
            faults.push(format!("{place}: {:?} stands twice", attempt.what));
        }
        if FLOOR.contains(&outcome.id.as_str())
            && !outcome.tries.is_empty()
            && !outcome.tries.iter().any(|attempt| asks_enough(&outcome.id, attempt))
        {
            faults.push(format!("{place}: asks for nothing that could fail"));
        }
    }
    faults
}

/// What a probe of the floor asks: that something gets nowhere; or of `allow-`, that somebody answers.
fn asks_enough(id: &str, attempt: &Try) -> bool {
    match attempt.want {
        Want::Reached { .. } => id.starts_with("allow-"),
        Want::Stopped | Want::Rewritten { .. } | Want::Unheard => !id.starts_with("allow-"),
        Want::Absent => false,
    }
}
