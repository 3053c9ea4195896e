//! Whether a report is to be believed, and what it says: judged again from the file alone (G18).

use std::fmt;

use super::document::Report;
use super::evidence::{Baseline, Evidence};
use super::judgement::{Judgement, Overall, judge, judge_waiving};
use super::signature::Signatory;
use super::sound;
use super::waiver::Waivers;
use crate::witness::Record;

/// What whoever reads a report asks of it, and adds to it.
#[derive(Debug, Default)]
pub struct Demands {
    /// Who must have signed it.
    pub signatory: Option<Signatory>,
    /// Whether anybody must have.
    pub signed: bool,
    /// The policy that it must be about.
    pub policy: Option<String>,
    /// What the witness wrote down, where the report was written without.
    pub arrivals: Option<Record>,
    /// The same where nothing was in the way, where the report was written without.
    pub baseline: Option<Baseline>,
    /// Suspicions that were looked into.
    pub waivers: Waivers,
}

/// Why a report is not to be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: &'static str,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Why it is not to be believed; nothing, if it is.
    pub refusals: Vec<Refusal>,
    /// What else is to be said of it.
    pub notes: Vec<String>,
    /// What follows from the evidence, judged here and now.
    pub judgement: Judgement,
}

impl Verification {
    /// Whether the report is to be believed, and passes.
    pub fn passes(&self) -> bool {
        self.refusals.is_empty() && self.judgement.overall == Overall::Pass
    }

    /// The exit code: 0, 1 or 3.
    pub fn code(&self) -> u8 {
        if self.refusals.is_empty() { self.judgement.overall.code() } else { 1 }
    }
}

/// Judges a report again. `now` is the time, RFC 3339, UTC.
pub fn verify(report: &Report, demands: Demands, now: &str) -> Verification {
    let Demands { signatory, signed, policy, arrivals, baseline, waivers } = demands;
    let mut refusals = integrity(report);
    if let Some(signatory) = &signatory {
        if let Err(bad) = signatory.has_signed(report) {
            refusals
                .push(Refusal::new(bad, "get it from whoever ran the canary, and his public key with it"));
        }
    } else if signed && report.signature.is_none() {
        refusals.push(Refusal::new("it is not signed", "canary report --sign KEY signs one"));
    } else if signed {
        let what = "it is signed, and nobody said whom to believe";
        refusals.push(Refusal::new(what, "--public-key FILE names the key"));
    }
    if let Some(wanted) = policy {
        let has = report.evidence.subject.policy.as_deref();
        if has != Some(wanted.as_str()) {
            let has = has.unwrap_or("no policy");
            let what = format!("it is about {has}, and not about policy {wanted}");
            refusals.push(Refusal::new(what, "run the canary under that policy"));
        }
    }
    let mut evidence = report.evidence.clone();
    refusals.extend(add(&mut evidence, arrivals, baseline));
    let judgement = judge_waiving(&evidence, &waivers);
    Verification { refusals, notes: notes(report, &evidence, now), judgement }
}

/// What can't be in a report as a canary wrote it.
fn integrity(report: &Report) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let digest = report.true_digest();
    if report.digest != digest {
        let what = format!("it was edited: its digest is {digest}, and it says {}", report.digest);
        refusals.push(Refusal::new(what, "get the file as the canary wrote it"));
    }
    let judged = judge(&report.evidence);
    // Another version may have said the same in other words.
    let follows = match report.evidence.is_of_this_version() {
        true => report.judgement == judged,
        false => verdicts(&report.judgement) == verdicts(&judged),
    };
    if !follows {
        let (says, is) = (report.judgement.overall, judged.overall);
        let what = format!("its judgement ({says}) is not what follows from its evidence ({is})");
        let remedy = match report.evidence.is_of_this_version() {
            true => "get the file as the canary wrote it",
            false => "judge it with the version that made it, or run the canary again",
        };
        refusals.push(Refusal::new(what, remedy));
    }
    let mixed = "it is of several runs, or was edited: run the canary again";
    refusals.extend(sound::faults(&report.evidence).into_iter().map(|fault| Refusal::new(fault, mixed)));
    let subject = &report.evidence.subject;
    for phase in &subject.phases {
        if !report.evidence.stages.iter().any(|stage| stage.phase == *phase) {
            let what = format!("phase {phase} is missing");
            refusals.push(Refusal::new(what, "get the whole file, or run the canary again"));
        }
    }
    refusals
}

/// What a judgement says, without its words.
fn verdicts(judgement: &Judgement) -> Judgement {
    let mut bare = Judgement { reasons: Vec::new(), warnings: Vec::new(), ..judgement.clone() };
    for probe in &mut bare.probes {
        probe.because.clear();
        probe.tries.iter_mut().for_each(|judged| judged.because.clear());
    }
    bare
}

/// Completes the evidence by what was kept elsewhere. What it has is not replaced.
fn add(evidence: &mut Evidence, arrivals: Option<Record>, baseline: Option<Baseline>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    match (arrivals, &evidence.witness) {
        (Some(_), Some(_)) => {
            let what = "it has a record of the witness, and there is to be another";
            refusals.push(Refusal::new(what, "leave out --arrivals"));
        }
        (Some(record), None) => evidence.witness = Some(record),
        (None, _) => {}
    }
    match (baseline, &evidence.baseline) {
        (Some(_), Some(_)) => {
            let what = "it has a baseline, and there is to be another";
            refusals.push(Refusal::new(what, "leave out --baseline"));
        }
        (Some(baseline), None) => evidence.baseline = Some(baseline),
        (None, _) => {}
    }
    refusals
}

fn notes(report: &Report, evidence: &Evidence, now: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if !evidence.is_of_this_version() {
        let (theirs, here) = (&evidence.subject.canary, env!("CARGO_PKG_VERSION"));
        notes.push(format!(
            "made by canary {theirs} and judged by {here}: whether it lacks a probe of its catalogue can't be told"
        ));
    }
    // RFC 3339 in UTC to the second: the order of the texts is that of the times.
    if let (Some(made), Some(now)) = (evidence.made.get(..19), now.get(..19))
        && made > now
    {
        notes.push(format!("made at {}, which is still to come: a clock is wrong", evidence.made));
    }
    if let Some(signature) = &report.signature {
        notes.push(format!("signed with key {}", signature.key));
    }
    if evidence.subject.policy.is_none() {
        notes.push("it names no policy".to_owned());
    } else if evidence.policy.is_none() {
        notes.push(
            "it names a policy and does not contain it: which hosts are permitted is its word".to_owned(),
        );
    }
    notes
}

impl Refusal {
    fn new(what: impl fmt::Display, remedy: &'static str) -> Self {
        Self { what: what.to_string(), remedy }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
