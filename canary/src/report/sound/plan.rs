//! What was left out, against what there was no reason to leave out.

use crate::engine::{Harness, Stage, plan};
use crate::probe::{Moment, Need};
use crate::report::evidence::Evidence;

/// Probes that were skipped although nothing they need was missing, by what the evidence itself says of the place.
pub(super) fn faults(evidence: &Evidence) -> Vec<String> {
    // Another version may have had other needs.
    if !evidence.is_of_this_version() {
        return Vec::new();
    }
    evidence.stages.iter().flat_map(|stage| of_stage(evidence, stage)).collect()
}

fn of_stage(evidence: &Evidence, stage: &Stage) -> Vec<String> {
    let Some(aim) = evidence.aims.get(&stage.phase) else { return Vec::new() };
    // A stage of a switch is there because somebody switches.
    let harness = Harness { switches: stage.moment == Moment::Switch, kills: stage.moment == Moment::Crash };
    let planned = plan::plan(stage.moment, stage.level, aim, &stage.surroundings, harness);
    let told = |id: &str| stage.outcomes.iter().find(|outcome| outcome.id == id);
    planned
        .into_iter()
        .filter_map(|planned| {
            let skipped = told(planned.probe.id)?.skipped.as_deref()?;
            let harness = [Need::Switches, Need::Kills].map(Need::missing);
            let meant = planned.missing.as_deref() == Some(skipped) || harness.contains(&skipped);
            (!meant).then(|| {
                let (phase, level, id) = (&stage.phase, stage.level, planned.probe.id);
                format!("{phase}/{level}: {id}: was left out ({skipped}), for which there was no reason")
            })
        })
        .collect()
}
