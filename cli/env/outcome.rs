//! What is left of a canary: printed, and in the job folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use closedbook_agents::AuthMode;
use closedbook_canary::report::{Evidence, Overall, Report, html, table};
use closedbook_canary::tdb::{Shapes, write_job};
use serde_json::{Value, json};

use super::host::Finding;
use super::job::Wanted;
use crate::exit::Failure;
use crate::output::{print, print_json};

/// The report in a job folder: also the sign that the folder is a canary's.
const REPORT: &str = "canary-report.json";
/// The page in a job folder.
const PAGE: &str = "canary.html";

/// Tells it, and gives the exit code. The last line is the original's.
pub(super) fn tell(
    wanted: &Wanted,
    evidence: Evidence,
    log: &Path,
    folder: &Path,
    json: Option<&[Finding]>,
) -> Result<u8, Failure> {
    let report = Report::of(evidence);
    let written = make_room(folder)
        .and_then(|()| write_job(folder, &report))
        .and_then(|()| fs::write(folder.join(PAGE), html::page(&report, &report.judgement)))
        .and_then(|()| fs::copy(log, folder.join("egress.jsonl")).map(drop));
    written.map_err(|error| {
        Failure::inconclusive(format!("the report can't be written to {}: {error}", folder.display()))
            .remedy("make room, or name another folder with --jobs-dir")
    })?;
    let shapes = Shapes::of(&report);
    match json {
        Some(findings) => {
            let verdict: Value = serde_json::from_str(&shapes.verdict_json()).unwrap_or_default();
            print_json(&json!({ "host": findings, "canary": verdict, "folder": folder, "report": report }))?;
        }
        None => {
            print(&table::render(&report.evidence, &report.judgement, table::Look::of_stdout()))?;
            print(&format!(
                "report: {}\npage:   {}\n",
                folder.join(REPORT).display(),
                folder.join(PAGE).display()
            ))?;
            // The original prints its verdict file; ours has every reason, and may be long.
            print(&format!("{}\n", shapes.verdict_json()))?;
        }
    }
    match (report.judgement.overall, shapes.passes()) {
        (Overall::Pass, true) => {
            if json.is_none() {
                print(&closing(wanted))?;
            }
            Ok(Overall::Pass.code())
        }
        // In the original's eyes something is missing that ours has no need of.
        (Overall::Pass, false) => Ok(failed(&shapes, Overall::Inconclusive)),
        (overall, _) => Ok(failed(&shapes, overall)),
    }
}

fn failed(shapes: &Shapes, overall: Overall) -> u8 {
    eprintln!("error: network canary FAILED: {}", shapes.reasons.join("; "));
    overall.code()
}

/// `ok network canary for claude-code (api): agent phase api.anthropic.com; setup adds none`.
fn closing(wanted: &Wanted) -> String {
    let Wanted { agent, auth, hosts, setup, .. } = wanted;
    let setup = if setup.is_empty() { "none".to_owned() } else { setup.join(", ") };
    format!("ok network canary for {agent} ({auth}): agent phase {}; setup adds {setup}\n", hosts.join(", "))
}

/// The folder for the job. One that an earlier canary left makes room later; anything else is somebody's.
pub(super) fn folder(wanted: &Wanted, jobs: &Path) -> Result<PathBuf, Failure> {
    let auth = match wanted.auth {
        AuthMode::Api => "api",
        AuthMode::Subscription => "subscription",
    };
    let folder = jobs.join(format!("canary-{}-{}-{auth}", wanted.agent, wanted.provider));
    if folder.exists() && !folder.join(REPORT).is_file() {
        return Err(Failure::refused(format!(
            "{} is there already, and no canary of this program made it",
            folder.display()
        ))
        .remedy("move it away, or name another folder with --jobs-dir"));
    }
    Ok(folder)
}

/// Puts away what an earlier canary left.
fn make_room(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
