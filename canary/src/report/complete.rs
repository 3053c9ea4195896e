//! What a report lacks that could be a pass otherwise (G14): an empty one passes nothing.

use std::collections::HashSet;

use super::evidence::Evidence;
use super::judgement::ProbeVerdict;
use crate::engine::Stage;
use crate::probe::{Level, Moment};
use crate::surroundings::Surroundings;
use crate::trial::Want;
use crate::verdict::Verdict;

/// Probes that must have been judged at every level of every phase: nothing they need can be missing. Each group whose ways
/// out exist in any container has one at least, so that no part of the canary can be absent without notice.
pub const FLOOR: [&str; 9] = [
    "allow-https",
    "tls-sni-blocked-name",
    "tls-ip-literal-no-sni",
    "http-plain-unfiltered",
    "proto-raw-bytes",
    "dns-direct-udp",
    "dns-direct-tcp",
    "udp-any",
    "l4-icmp-echo",
];

/// What it lacks, a sentence each.
pub(super) fn lacks(evidence: &Evidence, probes: &[ProbeVerdict]) -> Vec<String> {
    let mut lacks = Vec::new();
    if evidence.subject.phases.is_empty() {
        lacks.push("no phase was tried".to_owned());
    }
    for (position, phase) in evidence.subject.phases.iter().enumerate() {
        if !evidence.stages.iter().any(|stage| stage.phase == *phase) {
            lacks.push(format!("{phase}: nothing was tried"));
            continue;
        }
        for level in Level::ALL {
            match of_level(evidence, phase, level) {
                There::Tried => {}
                There::Impossible => continue,
                There::Lacking(what) => {
                    lacks.extend(what);
                    continue;
                }
            }
            if position > 0 && stage(evidence, phase, level, Moment::Switch).is_none() {
                lacks.push(format!("{phase}/{level}: nothing was tried across the switch to it"));
            }
            lacks.extend(below_floor(evidence, probes, phase, level));
            lacks.extend(permitted_untried(evidence, phase, level));
        }
    }
    lacks.extend(evidence.stages.iter().filter_map(|stage| untried(evidence, stage)));
    if evidence.baseline.as_ref().is_some_and(super::evidence::Baseline::is_empty) {
        lacks.push("the baseline is empty: nothing was tried where nothing is in the way".to_owned());
    }
    lacks
}

/// What was not tested, and need not have been.
pub(super) fn not_tested(evidence: &Evidence) -> Vec<String> {
    let mut warnings = Vec::new();
    let without_root: Vec<&str> = evidence
        .subject
        .phases
        .iter()
        .map(String::as_str)
        .filter(|phase| matches!(of_level(evidence, phase, Level::Root), There::Impossible))
        .collect();
    if !without_root.is_empty() {
        warnings.push(format!("{}: root was not tried; nobody can become it there", without_root.join(", ")));
    }
    if evidence.policy.is_none() {
        warnings.push("without the policy: which hosts are permitted is the evidence's own word".to_owned());
    }
    if evidence.aims.values().any(|aim| aim.witness.is_none()) {
        warnings.push("without a witness: what leaves and is not answered was not tested".to_owned());
    }
    warnings
}

/// What there is of a level in a phase.
enum There {
    Tried,
    /// Nobody can have this level there, so it is no way out.
    Impossible,
    Lacking(Option<String>),
}

fn of_level(evidence: &Evidence, phase: &str, level: Level) -> There {
    if stage(evidence, phase, level, Moment::Phase).is_some() {
        return There::Tried;
    }
    let lack = format!("{phase}/{level}: nothing was tried");
    match (level, stage(evidence, phase, Level::Agent, Moment::Phase)) {
        (Level::Agent, _) => There::Lacking(Some(lack)),
        // That is said of the agent's level already.
        (Level::Root, None) => There::Lacking(None),
        (Level::Root, Some(agent)) if is_powerless(&agent.surroundings) => There::Impossible,
        (Level::Root, Some(_)) => There::Lacking(Some(format!(
            "{lack}, and somebody could become root there; start the canary as root: it changes users by itself"
        ))),
    }
}

/// No program's owner or capabilities count (prctl(2), PR_SET_NO_NEW_PRIVS), or there are no capabilities to be had.
fn is_powerless(around: &Surroundings) -> bool {
    around.uid != 0 && (around.no_new_privs || around.no_root || around.bounding.is_empty())
}

fn stage<'a>(evidence: &'a Evidence, phase: &str, level: Level, moment: Moment) -> Option<&'a Stage> {
    evidence
        .stages
        .iter()
        .find(|stage| stage.phase == phase && stage.level == level && stage.moment == moment)
}

fn below_floor(evidence: &Evidence, probes: &[ProbeVerdict], phase: &str, level: Level) -> Vec<String> {
    let mut lacks = Vec::new();
    for id in FLOOR {
        if crate::find(id).is_some_and(|probe| !probe.levels.contains(&level)) {
            continue;
        }
        let judged =
            probes.iter().find(|probe| probe.phase == phase && probe.level == level && probe.id == id);
        match judged.map(|probe| probe.verdict) {
            None => lacks.push(format!("{phase}/{level}: {id} was not tried")),
            Some(Verdict::NotApplicable) if id == "allow-https" && permits_nothing(evidence, phase) => {}
            Some(Verdict::NotApplicable) => lacks.push(format!("{phase}/{level}: {id} can't be left out")),
            Some(_) => {}
        }
    }
    lacks
}

/// Whether it is known that no host is permitted by name there.
fn permits_nothing(evidence: &Evidence, phase: &str) -> bool {
    evidence.aims.get(phase).is_some_and(|aim| aim.https().is_none())
}

/// Permitted hosts of which nobody knows whether they answer.
fn permitted_untried(evidence: &Evidence, phase: &str, level: Level) -> Vec<String> {
    let Some(aim) = evidence.aims.get(phase) else { return Vec::new() };
    let tried = stage(evidence, phase, level, Moment::Phase)
        .into_iter()
        .flat_map(|stage| stage.outcomes.iter())
        .filter(|outcome| outcome.id == "allow-https")
        .flat_map(|outcome| outcome.tries.iter());
    let tried: HashSet<&str> = tried
        .filter_map(|attempt| match &attempt.want {
            Want::Reached { name } => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let hosts = aim.permitted.iter().filter(|host| host.https && !tried.contains(host.name.as_str()));
    hosts.map(|host| format!("{phase}/{level}: {} is permitted, and was not asked", host.name)).collect()
}

/// Probes of the catalogue that a stage says nothing of, not even why not.
fn untried(evidence: &Evidence, stage: &Stage) -> Option<String> {
    // Another version's catalogue is not known.
    if !evidence.is_of_this_version() {
        return None;
    }
    let told: HashSet<&str> = stage.outcomes.iter().map(|outcome| outcome.id.as_str()).collect();
    let missing: Vec<&str> = crate::catalogue()
        .filter(|probe| probe.moment == stage.moment && probe.levels.contains(&stage.level))
        .map(|probe| probe.id)
        .filter(|id| !told.contains(id))
        .collect();
    let (first, number) = (*missing.first()?, missing.len());
    let Stage { phase, level, .. } = stage;
    Some(format!("{phase}/{level}: {number} probes of the catalogue were not tried, {first} first"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Group;

    /// Every group of network techniques that exists in any container.
    #[test]
    fn the_floor_has_a_probe_of_each_group_that_is_always_there() {
        let has = |group: &Group| FLOOR.iter().any(|id| id.starts_with(&format!("{group}-")));
        let groups: HashSet<Group> = Group::ALL.into_iter().filter(has).collect();
        let wanted = [Group::Allow, Group::Tls, Group::Http, Group::Proto, Group::Dns, Group::Udp, Group::L4];
        assert_eq!(groups, wanted.into());
    }
}
