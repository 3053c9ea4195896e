//! Which report covers which trial, and why the others don't.

use super::Given;
use super::job::{Found, Job, Trial};
use super::stated::Stated;
use crate::report::document::Report;
use crate::report::verify::{Demands, Verification, verify};

/// What became of a trial.
#[derive(Debug)]
pub struct TrialVerdict {
    /// Its name.
    pub name: String,
    /// Its task.
    pub task: String,
    /// Whether it may be scored.
    pub covered: Covered,
}

/// Whether a trial is covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covered {
    /// It has no score, so it needs nothing.
    NotScored,
    /// By this report.
    By {
        /// Where it lies.
        report: String,
        /// What was waived in it, and other things that must be known.
        warnings: Vec<String>,
    },
    /// It is not, for these reasons.
    Refused {
        /// A sentence each.
        reasons: Vec<String>,
        /// What to do.
        remedy: String,
    },
}

/// All reports for a whole job, judged.
#[derive(Debug)]
pub struct Cover {
    whole: Vec<Judged>,
    stated: Result<Stated, String>,
    notes: Vec<String>,
}

/// A report, judged.
#[derive(Debug)]
struct Judged {
    place: String,
    about: Stated,
    worth: Worth,
}

/// What a report is worth.
#[derive(Debug)]
enum Worth {
    /// It covers what it is about; this must be known.
    Passes(Vec<String>),
    /// It says that what it is about is not closed, or can't be believed.
    Fails(String),
    /// It says nothing that counts.
    Nothing(String),
}

impl Cover {
    /// Judges the job's reports and those that were given.
    pub(super) fn of(job: &Job, given: &Given) -> Self {
        let given_reports = given.reports.iter().map(|(place, report)| of_report(place, report, given));
        let whole: Vec<Judged> =
            job.reports.iter().map(|found| of_found(found, given)).chain(given_reports).collect();
        let notes = whole
            .iter()
            .map(|judged| match &judged.worth {
                Worth::Passes(_) => format!("{}: passes", judged.place),
                Worth::Fails(why) | Worth::Nothing(why) => format!("{}: {why}", judged.place),
            })
            .collect();
        Self {
            whole,
            stated: job.stated.as_ref().map(|stated| stated.or(&given.stated)).map_err(Clone::clone),
            notes,
        }
    }

    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Whether a trial is covered.
    pub(super) fn judge(&self, trial: &Trial, given: &Given) -> TrialVerdict {
        let (name, task) = (trial.name.clone(), trial.task.clone());
        let covered = match &trial.scored {
            Ok(false) => Covered::NotScored,
            Ok(true) => self.covered(trial, given),
            Err(why) => refused(
                vec![format!("whether it is scored can't be told: {why}")],
                "see that the job is whole; Harbor writes a trial's result.json when it ends",
            ),
        };
        TrialVerdict { name, task, covered }
    }

    fn covered(&self, trial: &Trial, given: &Given) -> Covered {
        let stated = match (&trial.stated, &self.stated) {
            (Ok(own), Ok(all)) => own.or(all),
            (Err(why), _) => return refused(vec![why.clone()], "run the trial again under one policy"),
            (Ok(_), Err(why)) => return refused(vec![why.clone()], "mend the job's closedbook.json"),
        };
        let unstated = unstated(&stated);
        if !unstated.is_empty() {
            return refused(
                unstated,
                "write closedbook.json beside its result.json, or name them: --policy-digest, --sidecar, --image",
            );
        }
        let own: Vec<Judged> = trial.reports.iter().map(|found| of_found(found, given)).collect();
        let (mut by, mut reasons, mut holes) = (None, Vec::new(), Vec::new());
        let own = own.iter().map(|judged| (judged, true));
        for (judged, is_own) in own.chain(self.whole.iter().map(|judged| (judged, false))) {
            let place = &judged.place;
            let differs = differs(&judged.about, &stated);
            match &judged.worth {
                // A canary that failed in the trial itself, or under the same conditions, is not outweighed by one that passed.
                Worth::Fails(why) if is_own || differs.is_empty() => holes.push(format!("{place}: {why}")),
                Worth::Fails(why) | Worth::Nothing(why) => reasons.push(format!("{place}: {why}")),
                Worth::Passes(_) if !differs.is_empty() => {
                    reasons.push(format!("{place}: {}", differs.join(", ")));
                }
                Worth::Passes(warnings) => {
                    by.get_or_insert_with(|| Covered::By {
                        report: place.clone(),
                        warnings: warnings.clone(),
                    });
                }
            }
        }
        if !holes.is_empty() {
            return refused(holes, "find the hole, and run the trial again");
        }
        if let Some(by) = by {
            return by;
        }
        if reasons.is_empty() {
            reasons.push("there is no report of a canary for it".to_owned());
        }
        refused(
            reasons,
            "run closedbook env check --canary under the same policy, sidecar and image, and put its report here",
        )
    }
}

fn refused(reasons: Vec<String>, remedy: &str) -> Covered {
    Covered::Refused { reasons, remedy: remedy.to_owned() }
}

fn of_found(found: &Found, given: &Given) -> Judged {
    let place = found.place.clone();
    let report = match &found.report {
        Ok(report) => report,
        Err(error) => {
            let worth = Worth::Fails(format!("it {error}"));
            return Judged { place, about: Stated::default(), worth };
        }
    };
    let judged = of_report(&place, report, given);
    match judged.worth {
        Worth::Passes(_) if found.exposed && given.signatory.is_none() => {
            let why = "it lies where the trial itself can write, so it counts only if it is signed: --public-key FILE";
            Judged { worth: Worth::Nothing(why.to_owned()), ..judged }
        }
        _ => judged,
    }
}

fn of_report(place: &str, report: &Report, given: &Given) -> Judged {
    let demands =
        Demands { signatory: given.signatory.clone(), waivers: given.waivers.clone(), ..Demands::default() };
    let verification = verify(report, demands, &given.now);
    let subject = &report.evidence.subject;
    let about = Stated {
        policy: subject.policy.clone(),
        sidecar: subject.sidecar.clone(),
        image: subject.image.clone(),
    };
    Judged { place: place.to_owned(), about, worth: worth(verification) }
}

fn worth(verification: Verification) -> Worth {
    let Verification { refusals, judgement, .. } = verification;
    match (refusals.first(), judgement.reasons.first()) {
        (Some(refusal), _) => Worth::Fails(format!("it is not to be believed: {}", refusal.what)),
        (None, Some(reason)) => Worth::Fails(format!("it does not pass ({}): {reason}", judgement.overall)),
        (None, None) => Worth::Passes(judgement.warnings),
    }
}

fn pairs(stated: &Stated) -> [(&'static str, Option<&str>); 3] {
    let Stated { policy, sidecar, image } = stated;
    [("policy", policy.as_deref()), ("sidecar", sidecar.as_deref()), ("image", image.as_deref())]
}

fn unstated(stated: &Stated) -> Vec<String> {
    let missing = pairs(stated).into_iter().filter(|(_, value)| value.is_none());
    missing.map(|(what, _)| format!("nothing says which {what} it was run with")).collect()
}

fn differs(report: &Stated, trial: &Stated) -> Vec<String> {
    let both = pairs(report).into_iter().zip(pairs(trial));
    both.filter(|((_, report), (_, trial))| report != trial || report.is_none())
        .map(|((what, report), (_, trial))| {
            let [report, trial] = [report, trial].map(|value| value.unwrap_or("none"));
            format!("it is about {what} {report}, and the trial was run with {trial}")
        })
        .collect()
}
