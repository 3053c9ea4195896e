//! What was aimed at, against what the policy says.

use std::collections::BTreeSet;
use std::net::IpAddr;

use closedbook_policy::{Digest, Policy};

use crate::aim;
use crate::engine::Stage;
use crate::probe::Moment;
use crate::report::evidence::Evidence;
use crate::targets::{PUBLIC_NAME, Targets};
use crate::trial::{Try, Want};

/// The name of a try that a permitted host is to answer, where the phase permits no such host.
pub(super) fn not_permitted<'a>(evidence: &Evidence, stage: &Stage, want: &'a Want) -> Option<&'a str> {
    let (Want::Reached { name } | Want::Rewritten { name }) = want else { return None };
    let aim = evidence.aims.get(&stage.phase)?;
    let exact = aim.permitted.iter().any(|host| host.name.eq_ignore_ascii_case(name));
    let below = |suffix: &String| {
        let name = name.to_ascii_lowercase();
        name.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.ends_with('.'))
    };
    // Across a switch, what the phase before it permitted is reached once more, before.
    let before = stage.moment == Moment::Switch && aim.setup_only.contains(name);
    (!exact && !before && !aim.wildcards.iter().any(below)).then_some(name)
}

/// The name whose denial is to speak for itself, where nobody said that it exists and is refused.
pub(super) fn not_refused<'a>(evidence: &Evidence, phase: &str, attempt: &'a Try) -> Option<&'a str> {
    let name = attempt.exists.as_deref()?;
    let aim = evidence.aims.get(phase)?;
    let known = aim.refused.iter().map(String::as_str).chain([PUBLIC_NAME]);
    (!known.into_iter().any(|one| one == name)).then_some(name)
}

/// Why a try that may end at the permitted host was aimed where nothing can be told of an answer: it has to be the witness's
/// address, who would have seen it, or one where nobody lives; or that of the operator's own host.
pub(super) fn out_of_sight<'a>(evidence: &Evidence, stage: &Stage, attempt: &'a Try) -> Option<&'a str> {
    let (Want::Rewritten { .. }, Some(aimed)) = (&attempt.want, attempt.aimed) else { return None };
    let aim = evidence.aims.get(&stage.phase)?;
    let witness = aim.witness.as_ref();
    let watched = witness.is_some_and(|witness| {
        let v4 = [witness.v4, witness.quiet].into_iter().flatten().map(IpAddr::V4);
        v4.chain(witness.v6.map(IpAddr::V6)).any(|ip| ip == aimed)
    });
    (!attempt.nowhere && !watched && !aim.own_hosts).then_some(attempt.to.as_str())
}

/// Each phase aims at what the policy permits in it, and the policy is the one that the subject names.
pub(super) fn faults(evidence: &Evidence) -> Vec<String> {
    let mut faults = Vec::new();
    for phase in evidence.subject.phases.iter().filter(|phase| !evidence.aims.contains_key(*phase)) {
        faults.push(format!("{phase}: the evidence does not say what was aimed at"));
    }
    let Some(text) = &evidence.policy else { return faults };
    let digest = Digest::of(text).to_string();
    if evidence.subject.policy.as_deref() != Some(digest.as_str()) {
        faults.push(format!("the policy in the evidence has the digest {digest}, and not the one it names"));
        return faults;
    }
    let policy = match Policy::from_json(text) {
        Ok(policy) => policy,
        Err(error) => {
            faults.push(format!("the policy in the evidence is none: {error}"));
            return faults;
        }
    };
    for (phase, aim) in &evidence.aims {
        match policy.phase(phase) {
            None => faults.push(format!("{phase}: the policy has no such phase")),
            Some(there) if hosts(&aim::of_phase(there)) != hosts(aim) => {
                faults.push(format!("{phase}: what was aimed at is not what the policy permits"));
            }
            Some(_) => {}
        }
    }
    faults
}

fn hosts(targets: &Targets) -> BTreeSet<(&str, bool, bool)> {
    let exact = targets.permitted.iter().map(|host| (host.name.as_str(), host.https, host.http));
    exact.chain(targets.wildcards.iter().map(|suffix| (suffix.as_str(), false, false))).collect()
}
