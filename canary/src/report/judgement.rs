//! From evidence to a judgement. Pure, and the only way to one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::complete;
use super::controls::{Controls, Grounds, Heard};
use super::evidence::Evidence;
use super::sound;
use super::waiver::Waivers;
use crate::engine::{Outcome, Stage};
use crate::probe::Level;
use crate::seen::Seen;
use crate::trial::Try;
use crate::verdict::{Judged, Testimony, Verdict, judge as judge_try};

pub use super::complete::FLOOR;

/// What follows from the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// All in all.
    pub overall: Overall,
    /// Why it is not a pass, a sentence each; empty if it is.
    pub reasons: Vec<String>,
    /// What does not keep it from passing, and must be known.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Each probe of each stage, in their order.
    pub probes: Vec<ProbeVerdict>,
}

/// All in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overall {
    /// No leak, nothing suspect, nothing inconclusive, and every permitted host answered.
    Pass,
    /// A way out was found or can't be excluded, or a permitted host was refused.
    Fail,
    /// It can't be told.
    Inconclusive,
}

/// The verdict on one probe: the worst of its tries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProbeVerdict {
    /// The phase.
    pub phase: String,
    /// As whom.
    pub level: Level,
    /// The probe.
    pub id: String,
    /// The verdict.
    pub verdict: Verdict,
    /// What it rests on.
    pub because: String,
    /// Why a suspicion does not count, by whoever waived it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waived: Option<String>,
    /// Its tries, in their order.
    pub tries: Vec<TryVerdict>,
}

/// The verdict on one try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TryVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// What it rests on.
    pub because: String,
}

/// Judges. This is what a report says of itself.
pub fn judge(evidence: &Evidence) -> Judgement {
    judge_waiving(evidence, &Waivers::default())
}

/// Judges for somebody who has looked into some suspicions. No leak can be waived, and nothing that can't be told.
pub fn judge_waiving(evidence: &Evidence, waivers: &Waivers) -> Judgement {
    let controls = Controls::of(evidence);
    let judged = evidence
        .stages
        .iter()
        .flat_map(|stage| stage.outcomes.iter().map(|outcome| of_probe(&controls, waivers, stage, outcome)));
    let probes: Vec<ProbeVerdict> = judged.collect();
    let against = probes.iter().filter(|probe| probe.counts_against());
    let mut reasons: Vec<String> = against.map(ToString::to_string).collect();
    let fails = probes.iter().any(|probe| probe.verdict.fails() && probe.counts_against());
    reasons.extend(sound::faults(evidence));
    reasons.extend(complete::lacks(evidence, &probes));
    let overall = match (fails, reasons.is_empty()) {
        (true, _) => Overall::Fail,
        (false, false) => Overall::Inconclusive,
        (false, true) => Overall::Pass,
    };
    let mut warnings = warnings(&probes);
    warnings.extend(complete::not_tested(evidence));
    warnings.extend(waivers.unused(&probes));
    Judgement { overall, reasons, warnings, probes }
}

fn of_probe(controls: &Controls<'_>, waivers: &Waivers, stage: &Stage, outcome: &Outcome) -> ProbeVerdict {
    let tries: Vec<TryVerdict> = outcome
        .tries
        .iter()
        .map(|attempt| of_try(&controls.grounds(stage, outcome, attempt), attempt))
        .collect();
    let worst = tries.iter().max_by_key(|judged| judged.verdict);
    let (verdict, because) = match (&outcome.broken, &outcome.skipped, worst) {
        (Some(broken), _, worst) => match worst.filter(|worst| worst.verdict > Verdict::Inconclusive) {
            Some(worst) => (worst.verdict, worst.because.clone()),
            None => (Verdict::Inconclusive, broken.clone()),
        },
        (None, Some(missing), None) => (Verdict::NotApplicable, missing.clone()),
        (None, Some(_), Some(worst)) => match worst.verdict.fails() {
            true => (worst.verdict, worst.because.clone()),
            false => (Verdict::Inconclusive, "it was skipped, and tried".to_owned()),
        },
        (None, None, None) => (Verdict::Inconclusive, "nothing was tried".to_owned()),
        (None, None, Some(worst)) => (worst.verdict, worst.because.clone()),
    };
    let (phase, level, id) = (stage.phase.clone(), stage.level, outcome.id.clone());
    let waiver = waivers.find(&id, &phase, level).filter(|_| verdict == Verdict::Suspect);
    let waived = waiver.map(|waiver| waiver.reason.clone());
    ProbeVerdict { phase, level, id, verdict, because, waived, tries }
}

/// Judges one try by what is known of it.
pub fn of_try(grounds: &Grounds<'_>, attempt: &Try) -> TryVerdict {
    let by = |testimony| judge_try(attempt, &grounds.control, testimony);
    let Judged { verdict, because } = match &grounds.witness {
        Heard::Nobody(why) => by(Testimony::Blind(why)),
        // A leak that somebody did see is one, however little else he saw.
        Heard::Arrived(arrivals, Err(_)) if !arrivals.is_empty() => by(Testimony::Saw(arrivals)),
        Heard::Arrived(_, Err(why)) => match by(Testimony::Blind(why)) {
            // There is a witness, who would know; that it could not be believed is no fault of who is judged.
            Judged { verdict: Verdict::Suspect, because } if is_quiet(&attempt.seen) => {
                Verdict::Inconclusive.because(because)
            }
            judged => judged,
        },
        Heard::Arrived(arrivals, Ok(())) => by(Testimony::Saw(arrivals)),
    };
    TryVerdict { verdict, because }
}

/// Whether nobody said anything to it.
fn is_quiet(seen: &Seen) -> bool {
    matches!(seen, Seen::Silence | Seen::Sent)
}

/// What does not keep it from passing, each thing once.
fn warnings(probes: &[ProbeVerdict]) -> Vec<String> {
    let mut warnings: Vec<(String, Vec<String>)> = Vec::new();
    for probe in probes {
        let ProbeVerdict { phase, level, id, verdict, because, waived, .. } = probe;
        let what = match (waived, verdict) {
            (Some(reason), _) => format!("{id}: {verdict}: {because}; waived: {reason}"),
            (None, Verdict::BlockedSlow) => {
                format!("{id}: {verdict}: {because}; whoever is refused is kept waiting")
            }
            _ => continue,
        };
        let place = format!("{phase}/{level}");
        match warnings.iter_mut().find(|(known, _)| *known == what) {
            Some((_, places)) => places.push(place),
            None => warnings.push((what, vec![place])),
        }
    }
    warnings.into_iter().map(|(what, places)| format!("{what} ({})", places.join(", "))).collect()
}

impl ProbeVerdict {
    /// Whether it keeps the report from passing.
    pub fn counts_against(&self) -> bool {
        !self.verdict.is_good() && self.waived.is_none()
    }
}

impl fmt::Display for ProbeVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { phase, level, id, verdict, because, .. } = self;
        write!(f, "{phase}/{level}: {id}: {verdict}: {because}")
    }
}

impl Overall {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Overall::Pass => "pass",
            Overall::Fail => "fail",
            Overall::Inconclusive => "inconclusive",
        }
    }

    /// The exit code: 0, 1 or 3.
    pub fn code(self) -> u8 {
        match self {
            Overall::Pass => 0,
            Overall::Fail => 1,
            Overall::Inconclusive => 3,
        }
    }
}

impl fmt::Display for Overall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
