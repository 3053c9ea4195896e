//! A directory as Harbor leaves one behind, with one trial: the canary's.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::shapes::Shapes;
use crate::report::Report;

/// The task's name, by which `tdb report` knows its canary.
const TASK: &str = "trialdesignbench/network-canary";

/// Writes the report as the job directory `dir`, which must not be there or be empty: the original takes its verdict from
/// whatever it finds in it.
pub fn write_job(dir: &Path, report: &Report) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    if fs::read_dir(dir)?.next().is_some() {
        return Err(io::Error::other(format!("{} is not empty", dir.display())));
    }
    let shapes = Shapes::of(report);
    let trial = format!("network-canary__{}", mark(report));
    let folder = dir.join(&trial);
    // Where Harbor collects what the container has in /logs/artifacts.
    let artifacts = folder.join("artifacts/logs/artifacts");
    let verifier = folder.join("verifier");
    fs::create_dir_all(&artifacts)?;
    fs::create_dir_all(&verifier)?;
    for probe in &shapes.probe {
        fs::write(artifacts.join(probe.file()), probe.json())?;
    }
    fs::write(verifier.join("canary.json"), shapes.verdict_json())?;
    fs::write(verifier.join("reward.json"), shapes.reward_json())?;
    let (job, trial_config) = configs(dir, &trial);
    fs::write(folder.join("config.json"), pretty(&trial_config))?;
    fs::write(folder.join("result.json"), pretty(&result(report, &shapes, &trial, &trial_config)))?;
    fs::write(dir.join("canary-report.json"), report.to_json() + "\n")?;
    // Last: it makes the directory a job.
    fs::write(dir.join("config.json"), pretty(&job))
}

/// Like Harbor's: some letters that tell trials of one task apart.
fn mark(report: &Report) -> String {
    report.digest.chars().take(7).collect()
}

fn configs(dir: &Path, trial: &str) -> (serde_json::Value, serde_json::Value) {
    let name = dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let jobs = dir.parent().unwrap_or(Path::new("."));
    let task = json!({ "path": "network-canary" });
    let agent = json!({ "name": "oracle" });
    let job = json!({
        "job_name": name,
        "jobs_dir": jobs,
        "n_attempts": 1,
        "n_concurrent_trials": 1,
        "agents": [agent],
        "tasks": [task],
    });
    let trial = json!({ "task": task, "trial_name": trial, "trials_dir": dir, "agent": agent });
    (job, trial)
}

fn result(report: &Report, shapes: &Shapes, trial: &str, config: &serde_json::Value) -> serde_json::Value {
    let evidence = &report.evidence;
    let reward = if shapes.passes() { 1.0 } else { 0.0 };
    json!({
        "id": uuid(&report.digest),
        "task_name": TASK,
        "trial_name": trial,
        "trial_uri": trial,
        "task_id": { "path": "network-canary" },
        "source": null,
        "task_checksum": report.digest,
        "config": config,
        "agent_info": { "name": "oracle", "version": evidence.subject.canary, "model_info": null },
        "agent_result": null,
        "verifier_result": { "rewards": { "reward": reward } },
        "exception_info": null,
        "started_at": evidence.made,
        "finished_at": evidence.ended,
    })
}

/// A name-based UUID (RFC 9562 section 5.8), the same for the same report.
fn uuid(digest: &str) -> String {
    let hex: String = Sha256::digest(digest).iter().take(16).map(|octet| format!("{octet:02x}")).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}")
}
