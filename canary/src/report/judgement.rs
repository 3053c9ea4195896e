//! From evidence to a judgement. Pure, and the only way to one.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use crate::engine::{Outcome, Stage};
use crate::probe::{Level, Moment};
use crate::seen::Seen;
use crate::trial::{Try, Want};
use crate::verdict::{Control, Testimony, Verdict, judge as judge_try};
use crate::witness::{Arrival, Record};

/// Probes that must have been stopped at every level of every phase: a report without them says too little to pass.
pub const FLOOR: [&str; 5] =
    ["tls-sni-blocked-name", "tls-ip-literal-no-sni", "http-plain-unfiltered", "udp-any", "allow-https"];

/// What follows from the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Judgement {
    /// All in all.
    pub overall: Overall,
    /// Why it is not a pass, a sentence each; empty if it is.
    pub reasons: Vec<String>,
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

/// Judges.
pub fn judge(evidence: &Evidence) -> Judgement {
    let controls = Controls::of(evidence);
    let probes: Vec<ProbeVerdict> = evidence
        .stages
        .iter()
        .flat_map(|stage| stage.outcomes.iter().map(|outcome| of_probe(evidence, &controls, stage, outcome)))
        .collect();
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(probes.iter().filter(|probe| !probe.verdict.is_good()).map(|probe| {
        let ProbeVerdict { phase, level, id, verdict, because, .. } = probe;
        format!("{phase}/{level}: {id}: {verdict}: {because}")
    }));
    let fails = probes.iter().any(|probe| probe.verdict.fails());
    reasons.extend(too_little(evidence, &probes));
    let overall = match (fails, reasons.is_empty()) {
        (true, _) => Overall::Fail,
        (false, false) => Overall::Inconclusive,
        (false, true) => Overall::Pass,
    };
    Judgement { overall, reasons, probes }
}

/// What a report lacks that could be a pass otherwise (G14): an empty one passes nothing.
fn too_little(evidence: &Evidence, probes: &[ProbeVerdict]) -> Vec<String> {
    let mut lacks = Vec::new();
    if evidence.subject.phases.is_empty() {
        lacks.push("no phase was tried".to_owned());
    }
    for phase in &evidence.subject.phases {
        let levels: Vec<Level> = Level::ALL
            .into_iter()
            .filter(|level| probes.iter().any(|probe| probe.phase == *phase && probe.level == *level))
            .collect();
        if levels.is_empty() {
            lacks.push(format!("{phase}: nothing was tried"));
        }
        for level in levels {
            for id in FLOOR {
                let tried = probes.iter().find(|p| p.phase == *phase && p.level == level && p.id == id);
                match tried.map(|probe| probe.verdict) {
                    None => lacks.push(format!("{phase}/{level}: {id} was not tried")),
                    Some(Verdict::NotApplicable) => {
                        lacks.push(format!("{phase}/{level}: {id} can't be left out"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    lacks
}

fn of_probe(evidence: &Evidence, controls: &Controls<'_>, stage: &Stage, outcome: &Outcome) -> ProbeVerdict {
    let tries: Vec<TryVerdict> =
        outcome.tries.iter().map(|attempt| of_try(evidence, controls, stage, outcome, attempt)).collect();
    let worst = tries.iter().max_by_key(|judged| judged.verdict);
    let (verdict, because) = match (&outcome.broken, &outcome.skipped, worst) {
        (Some(broken), _, worst) => match worst.filter(|worst| worst.verdict > Verdict::Inconclusive) {
            Some(worst) => (worst.verdict, worst.because.clone()),
            None => (Verdict::Inconclusive, broken.clone()),
        },
        (None, Some(missing), None) => (Verdict::NotApplicable, missing.clone()),
        (None, Some(_), Some(_)) => (Verdict::Inconclusive, "it was skipped, and tried".to_owned()),
        (None, None, None) => (Verdict::Inconclusive, "nothing was tried".to_owned()),
        (None, None, Some(worst)) => (worst.verdict, worst.because.clone()),
    };
    let (phase, level, id) = (stage.phase.clone(), stage.level, outcome.id.clone());
    ProbeVerdict { phase, level, id, verdict, because, tries }
}

fn of_try(
    evidence: &Evidence,
    controls: &Controls<'_>,
    stage: &Stage,
    outcome: &Outcome,
    attempt: &Try,
) -> TryVerdict {
    let mut control = controls.find(stage, outcome, attempt);
    // A control in the same run is a condition besides.
    if let Some(beside) = &attempt.beside {
        let works = outcome.tries.iter().find(|other| other.what == *beside).map(|other| &other.seen);
        match works {
            Some(Seen::Proof { .. } | Seen::Verified { .. }) => {
                if control == Control::Absent {
                    control = Control::Passed(format!("{beside}: it works"));
                }
            }
            Some(seen) => control = Control::Failed(format!("{beside}: {seen}")),
            None => control = Control::Failed(format!("{beside} was not tried")),
        }
    }
    let judged = match &evidence.witness {
        None => {
            judge_try(attempt, &control, Testimony::Blind("there is no witness, or its record was not read"))
        }
        Some(record) => match believable(record) {
            Err(why) => judge_try(attempt, &control, Testimony::Blind(why)),
            Ok(()) => judge_try(attempt, &control, Testimony::Saw(&arrived(record, attempt))),
        },
    };
    // A leak that somebody did see is one, however little else he saw.
    if let Some(record) = &evidence.witness
        && believable(record).is_err()
        && let saw = arrived(record, attempt)
        && !saw.is_empty()
    {
        let seen = judge_try(attempt, &control, Testimony::Saw(&saw));
        return TryVerdict { verdict: seen.verdict, because: seen.because };
    }
    TryVerdict { verdict: judged.verdict, because: judged.because }
}

fn believable(record: &Record) -> Result<(), &'static str> {
    match (record.alive, record.lost) {
        (false, _) => Err("the witness was not shown to be alive at the end"),
        (true, 0) => Ok(()),
        (true, _) => Err("the witness could not write down everything"),
    }
}

fn arrived<'a>(record: &'a Record, attempt: &Try) -> Vec<&'a Arrival> {
    let quiet =
        |arrival: &Arrival| attempt.quiet && attempt.aimed.is_some() && arrival.local == attempt.aimed;
    record.arrivals.iter().filter(|arrival| arrival.carries(&attempt.nonce) || quiet(arrival)).collect()
}

/// What the same tries did where nothing was in their way.
struct Controls<'a> {
    there: bool,
    tries: HashMap<(&'a str, Level, &'a str), (&'a Try, bool)>,
}

impl<'a> Controls<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let Some(baseline) = &evidence.baseline else { return Self { there: false, tries: HashMap::new() } };
        let mut tries = HashMap::new();
        for stage in &baseline.stages {
            for outcome in &stage.outcomes {
                for attempt in &outcome.tries {
                    let arrived = !arrived(&baseline.witness, attempt).is_empty();
                    tries.insert(
                        (outcome.id.as_str(), stage.level, attempt.what.as_str()),
                        (attempt, arrived),
                    );
                }
            }
        }
        Self { there: true, tries }
    }

    /// The control of a try. A technique that works for root and not for the agent's user has root's as its control there:
    /// what is asked is whether the tool and the witness work.
    fn find(&self, stage: &Stage, outcome: &Outcome, attempt: &Try) -> Control {
        // What is done across a switch or after a crash has its control in the same run: there is nothing to switch, and
        // nobody to kill, where nothing is in the way.
        if !self.there || attempt.want == Want::Absent || stage.moment != Moment::Phase {
            return Control::Absent;
        }
        let at = |level| self.tries.get(&(outcome.id.as_str(), level, attempt.what.as_str()));
        match at(stage.level).or_else(|| Level::ALL.into_iter().find_map(at)) {
            None => Control::Failed("it was not tried there".to_owned()),
            Some((_, true)) => Control::Passed("the same arrives where nothing is in its way".to_owned()),
            Some((control, false)) => match &control.seen {
                Seen::Proof { .. } => {
                    Control::Passed("the same is answered where nothing is in its way".to_owned())
                }
                seen => Control::Failed(seen.to_string()),
            },
        }
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
