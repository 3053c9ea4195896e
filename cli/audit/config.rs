//! `closedbook audit config`: whether an agent's web tools are off in what it is started with.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use closedbook_agents::{Ask, Refused};
use closedbook_audit::config::{self, Report, Verdict};
use serde_json::json;

use crate::exit::Failure;
use crate::flags::agent::TableFlag;
use crate::output::{harmless, print, print_json};

mod folder;
pub(crate) mod own;
mod row;
mod start;
mod text;

use folder::Folder;
use start::Start;

#[derive(Args)]
pub(super) struct Config {
    /// The agent, by its name in the table; with --job, only this one of the job
    #[arg(long, value_name = "NAME", required_unless_present = "job")]
    agent: Option<String>,
    /// The version of its CLI
    #[arg(long, value_name = "V")]
    version: Option<String>,
    /// The agent's files: a container's root, or a folder that stands for one; links in it stay in it
    #[arg(long, value_name = "DIR", default_value = "/")]
    root: PathBuf,
    /// The agent's home folder, as it sees it; without it HOME of --env, or with --root / the caller's
    #[arg(long, value_name = "PATH")]
    home: Option<String>,
    /// The folder that it is started in, as it sees it; without it, with --root /, the current one
    #[arg(long, value_name = "PATH")]
    workdir: Option<String>,
    /// The user id that it runs as
    #[arg(long, value_name = "N")]
    uid: Option<u32>,
    /// A variable that it is started with; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// A file of such variables, one a line, as engines read them
    #[arg(long, value_name = "FILE")]
    env_file: Option<PathBuf>,
    /// These are all the variables that it is started with
    #[arg(long)]
    clean_env: bool,
    /// A Harbor job's job.yaml or config.json, or a trial's config.json or result.json: its agents, as Harbor starts them
    #[arg(long, value_name = "FILE")]
    job: Option<PathBuf>,
    #[command(flatten)]
    table: TableFlag,
    /// Also say which files were read
    #[arg(short, long)]
    verbose: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The agent's command line; without it, the arguments are unknown
    #[arg(last = true, value_name = "ARGV")]
    argv: Option<Vec<String>>,
}

/// One agent that was audited.
struct Audited {
    /// Where a job names it.
    field: Option<String>,
    report: Report,
}

impl Config {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let folder = Folder::open(&self.root)?;
        let table = self.table.load()?;
        if let Some(agent) = &self.agent
            && let Err(refused @ Refused::Agent { .. }) = table.choose(&Ask { agent, ..Ask::default() })
        {
            return Err(Failure::refused(refused.to_string()));
        }
        let mut audited = Vec::new();
        for start in Start::all(&self)? {
            let mut report = start.audit(&folder)?;
            row::compare(&table, &mut report);
            report.malformed.extend(folder.take_faults());
            audited.push(Audited { field: start.field(), report });
        }
        let verdict = worst(&audited);
        match self.json {
            true => print_json(&as_json(&audited, verdict)?)?,
            false => print(&text::text(&audited, verdict, self.verbose))?,
        }
        for malformed in audited.iter().flat_map(|audited| &audited.report.malformed) {
            eprintln!("closedbook: {}", harmless(&malformed.to_string()));
        }
        Ok(ExitCode::from(code(verdict)))
    }
}

fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Off => 0,
        Verdict::On => 1,
        Verdict::Malformed => 2,
        Verdict::Unknown => 3,
    }
}

fn worst(audited: &[Audited]) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Off => 0,
        Verdict::Unknown => 1,
        Verdict::On => 2,
        Verdict::Malformed => 3,
    };
    let verdicts = audited.iter().map(|audited| audited.report.verdict());
    // Nothing audited is nothing known.
    verdicts.max_by_key(rank).unwrap_or(Verdict::Unknown)
}

fn as_json(audited: &[Audited], verdict: Verdict) -> Result<serde_json::Value, Failure> {
    let bug = |error: serde_json::Error| Failure::bug(format!("no report: {error}"));
    let mut reports = Vec::new();
    for Audited { field, report } in audited {
        let mut value = serde_json::to_value(report).map_err(bug)?;
        if let Some(object) = value.as_object_mut() {
            object.insert("verdict".into(), serde_json::to_value(report.verdict()).map_err(bug)?);
            object.insert("field".into(), json!(field));
        }
        reports.push(value);
    }
    Ok(json!({ "schema": 1, "verdict": verdict, "reports": reports }))
}

/// The names that can be audited, for messages.
fn names() -> String {
    config::names().collect::<Vec<_>>().join(", ")
}
