//! A job directory, as Harbor leaves it behind.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::Value;
use thiserror::Error;

use super::stated::Stated;
use crate::report::document::LARGEST;
use crate::report::{Report, Unreadable};

/// The name of a canary's own task, by its last part: the original's, which `closedbook env check` uses too.
const CANARY_TASK: &str = "network-canary";

/// A job.
#[derive(Debug)]
pub struct Job {
    /// Its folder.
    pub folder: PathBuf,
    /// Its trials, by name.
    pub trials: Vec<Trial>,
    /// Reports that lie beside the trials, or in a canary's own trial: for all of them.
    pub reports: Vec<Found>,
    /// What the whole job says of its trials. `Err`: what it says can't be read.
    pub stated: Result<Stated, String>,
}

/// A trial.
#[derive(Debug)]
pub struct Trial {
    /// Its folder's name.
    pub name: String,
    /// Its task.
    pub task: String,
    /// Whether it has a score. `Err`: that can't be told, for this reason.
    pub scored: Result<bool, String>,
    /// Reports of its own.
    pub reports: Vec<Found>,
    /// What it says of itself. `Err`: it contradicts itself.
    pub stated: Result<Stated, String>,
}

/// A report, or what should be one.
#[derive(Debug)]
pub struct Found {
    /// Where.
    pub place: String,
    /// What it is.
    pub report: Result<Report, Unreadable>,
    /// Whether the trial's own container can write there. Then only a signature tells whose it is.
    pub exposed: bool,
}

/// Why there is no job.
#[derive(Debug, Error)]
pub enum NoJob {
    /// The folder can't be read.
    #[error("{0} can't be read")]
    Unreadable(PathBuf, #[source] io::Error),
    /// It has nothing that a job has.
    #[error("{0} is no job directory: there is no config.json in it, and no folder with a result.json")]
    NoJob(PathBuf),
}

impl Job {
    /// Reads it.
    pub fn open(folder: &Path) -> Result<Self, NoJob> {
        let unreadable = |error| NoJob::Unreadable(folder.to_owned(), error);
        let mut entries: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            entries.push(entry.map_err(unreadable)?.path());
        }
        entries.sort();
        let is_trial = |path: &&PathBuf| path.is_dir() && has_trials_files(path);
        let (canaries, trials): (Vec<Trial>, Vec<Trial>) =
            entries.iter().filter(is_trial).map(|path| Trial::open(folder, path)).partition(Trial::is_canary);
        if trials.is_empty() && canaries.is_empty() && !folder.join("config.json").is_file() {
            return Err(NoJob::NoJob(folder.to_owned()));
        }
        let beside = entries.iter().filter(|path| is_report_name(path) && path.is_file());
        let mut reports: Vec<Found> = beside.filter_map(|path| Found::open(folder, path, false)).collect();
        // A canary's own trial has no agent in it who could have written there.
        let own = canaries.into_iter().flat_map(|canary| canary.reports);
        reports.extend(own.map(|found| Found { exposed: false, ..found }));
        Ok(Self { folder: folder.to_owned(), trials, reports, stated: Stated::of_job(folder) })
    }
}

impl Trial {
    fn open(job: &Path, folder: &Path) -> Self {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let result = json(&folder.join("result.json"));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let task = result.as_ref().ok().and_then(|result| text(result.get("task_name")?));
        let reports = [("canary-report.json", false), ("verifier/canary-report.json", true)];
        let reports = reports
            .into_iter()
            .filter(|(path, _)| folder.join(path).exists())
            .filter_map(|(path, exposed)| Found::open(job, &folder.join(path), exposed))
            .collect();
        Self {
            name,
            task: task.unwrap_or_default(),
            scored: scored(folder, &result),
            reports,
            stated: Stated::of_trial(folder),
        }
    }

    fn is_canary(&self) -> bool {
        self.task.rsplit('/').next() == Some(CANARY_TASK)
    }
}

/// A trial that was begun has a configuration or a result; one that is scored has what its verifier left.
fn has_trials_files(folder: &Path) -> bool {
    ["result.json", "config.json", "verifier/reward.json", "verifier/reward.txt", "verifier/grade.json"]
        .iter()
        .any(|name| folder.join(name).is_file())
}

/// Whether somebody may count it: Harbor by its result, TrialDesignBench by what the verifier left behind.
fn scored(folder: &Path, result: &Result<Value, String>) -> Result<bool, String> {
    let left = ["reward.json", "reward.txt", "grade.json"]
        .iter()
        .any(|name| folder.join("verifier").join(name).exists());
    let steps = |result: &Value| {
        let steps = result.get("step_results").and_then(Value::as_array);
        steps.is_some_and(|steps| steps.iter().any(has_rewards))
    };
    match result {
        _ if left => Ok(true),
        Ok(result) => Ok(has_rewards(result) || steps(result)),
        Err(why) => Err(why.clone()),
    }
}

fn has_rewards(result: &Value) -> bool {
    let verifier = result.get("verifier_result").unwrap_or(&Value::Null);
    !verifier.is_null() && verifier.get("rewards").is_some_and(|rewards| !rewards.is_null())
}

/// `canary.json`, `canary-agent.json`, ... beside the trials.
fn is_report_name(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("canary") && name.ends_with(".json")
}

impl Found {
    /// `None` for a file of this name that is another program's: of the original's canary, say.
    fn open(job: &Path, path: &Path, exposed: bool) -> Option<Self> {
        let place = path.strip_prefix(job).unwrap_or(path).display().to_string();
        let report = match Report::open(path) {
            Err(Unreadable::Schema(Value::Null)) => return None,
            other => other,
        };
        Some(Self { place, report, exposed })
    }
}

/// A JSON file of bounded size.
pub(super) fn json(path: &Path) -> Result<Value, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LARGEST).read_to_end(&mut text));
    read.map_err(|error| format!("{name} can't be read: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("{name} is no JSON: {error}"))
}
