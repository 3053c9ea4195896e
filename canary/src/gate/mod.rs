//! No score without proof: every trial of a Harbor job that is scored must be covered by a canary that passed.
//!
//! A report covers a trial if it is to be believed, passes, and is about the trial's own policy, sidecar and image. What a trial
//! does not say of itself can't be compared, so it is refused and not passed over; the same goes for a job without a canary.

mod cover;
mod job;
mod stated;

use crate::report::signature::Signatory;
use crate::report::{Report, Waivers};

pub use cover::{Cover, Covered, TrialVerdict};
pub use job::{Job, NoJob, Trial};
pub use stated::Stated;

/// What the operator adds to what the files say.
#[derive(Debug, Default)]
pub struct Given {
    /// Reports that lie elsewhere.
    pub reports: Vec<(String, Report)>,
    /// What holds for every trial that does not say it.
    pub stated: Stated,
    /// Who must have signed the reports.
    pub signatory: Option<Signatory>,
    /// Suspicions that were looked into.
    pub waivers: Waivers,
    /// The time, RFC 3339, UTC.
    pub now: String,
}

/// The gate's word on a job.
#[derive(Debug)]
pub struct Verdict {
    /// Each trial.
    pub trials: Vec<TrialVerdict>,
    /// What is to be said besides.
    pub notes: Vec<String>,
}

/// Judges a job.
pub fn judge(job: &Job, given: &Given) -> Verdict {
    let cover = Cover::of(job, given);
    let trials = job.trials.iter().map(|trial| cover.judge(trial, given)).collect();
    Verdict { trials, notes: cover.into_notes() }
}

impl Verdict {
    /// Whether all that is scored is covered, and anything is.
    pub fn passes(&self) -> bool {
        self.code() == 0
    }

    /// The exit code: 0, 1; 3 where nothing is scored, so that there is nothing to say.
    pub fn code(&self) -> u8 {
        let refused = self.trials.iter().any(|trial| matches!(trial.covered, Covered::Refused { .. }));
        let by = self.trials.iter().any(|trial| matches!(trial.covered, Covered::By { .. }));
        match (refused, by) {
            (true, _) => 1,
            (false, true) => 0,
            (false, false) => 3,
        }
    }
}
