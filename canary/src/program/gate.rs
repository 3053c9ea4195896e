//! `canary gate`: whether a job may be scored.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{Stop, chain, input, now, print};
use crate::gate::{self, Covered, Given, Job, Stated, TrialVerdict};
use crate::report::document::Report;
use crate::report::table::harmless;

/// Refuse a Harbor job unless every trial that is scored is covered by a canary that passed.
#[derive(Debug, Args)]
pub(super) struct Gate {
    /// The job's directory.
    #[arg(value_name = "JOBDIR")]
    job: PathBuf,

    /// A report that lies elsewhere; may be given several times.
    #[arg(long, value_name = "FILE")]
    report: Vec<PathBuf>,

    /// Refuse reports that the owner of this public key has not signed (PEM, Ed25519).
    #[arg(long, value_name = "FILE")]
    public_key: Option<PathBuf>,

    /// The policy of every trial that does not name one.
    #[arg(long, value_name = "SHA256")]
    policy_digest: Option<String>,

    /// The sidecar of every trial that does not name one: its version, or its image's digest.
    #[arg(long, value_name = "TEXT")]
    sidecar: Option<String>,

    /// The digest of the image of every trial that does not name one.
    #[arg(long, value_name = "DIGEST")]
    image: Option<String>,

    /// Suspicions that were looked into (TOML or JSON). A leak is never waived.
    #[arg(long, value_name = "FILE")]
    waive: Option<PathBuf>,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Gate {
    /// Does it.
    pub(super) fn run(self) -> Result<ExitCode, Stop> {
        let job = Job::open(&self.job).map_err(|error| {
            Stop::usage(chain(&error), "name the job's own directory, not that of all jobs")
        })?;
        let mut reports = Vec::new();
        for path in &self.report {
            let report = Report::open(path).map_err(|error| input::unreadable(path, &error))?;
            reports.push((path.display().to_string(), report));
        }
        let given = Given {
            reports,
            stated: Stated { policy: self.policy_digest, sidecar: self.sidecar, image: self.image },
            signatory: self.public_key.as_deref().map(input::signatory).transpose()?,
            waivers: input::waivers(self.waive.as_deref())?,
            now: now(),
        };
        let verdict = gate::judge(&job, &given);
        let text = if self.json { format!("{}\n", told(&verdict)) } else { shown(&verdict) };
        print(&text)?;
        Ok(ExitCode::from(verdict.code()))
    }
}

fn shown(verdict: &gate::Verdict) -> String {
    let mut text = String::new();
    for note in &verdict.notes {
        text.push_str(&format!("report   {}\n", harmless(note)));
    }
    for TrialVerdict { name, covered, .. } in &verdict.trials {
        let name = harmless(name);
        match covered {
            Covered::NotScored => text.push_str(&format!("no score {name}\n")),
            Covered::By { report, warnings } => {
                text.push_str(&format!("covered  {name}  by {}\n", harmless(report)));
                for warning in warnings {
                    text.push_str(&format!("           {}\n", harmless(warning)));
                }
            }
            Covered::Refused { reasons, remedy } => {
                text.push_str(&format!("REFUSED  {name}\n"));
                for reason in reasons {
                    text.push_str(&format!("           {}\n", harmless(reason)));
                }
                text.push_str(&format!("           remedy: {remedy}\n"));
            }
        }
    }
    let count =
        |wanted: fn(&Covered) -> bool| verdict.trials.iter().filter(|trial| wanted(&trial.covered)).count();
    let covered = count(|covered| matches!(covered, Covered::By { .. }));
    let refused = count(|covered| matches!(covered, Covered::Refused { .. }));
    let end = match verdict.code() {
        0 => format!("gate: open: {covered} scored trials, all covered by a canary that passed"),
        1 => format!("gate: shut: {refused} of {} scored trials are not covered", covered + refused),
        _ => "gate: shut: no trial is scored, so there is nothing to say".to_owned(),
    };
    text + &end + "\n"
}

fn told(verdict: &gate::Verdict) -> serde_json::Value {
    let trials: Vec<_> = verdict
        .trials
        .iter()
        .map(|TrialVerdict { name, task, covered }| match covered {
            Covered::NotScored => json!({ "trial": name, "task": task, "verdict": "not-scored" }),
            Covered::By { report, warnings } => json!({
                "trial": name, "task": task, "verdict": "covered", "report": report, "warnings": warnings,
            }),
            Covered::Refused { reasons, remedy } => json!({
                "trial": name, "task": task, "verdict": "refused", "reasons": reasons, "remedy": remedy,
            }),
        })
        .collect();
    json!({ "schema": 1, "passes": verdict.passes(), "reports": verdict.notes, "trials": trials })
}
