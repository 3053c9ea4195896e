//! `canary plan`: what would be tried here, and what not.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::aim::AimFlags;
use super::{Stop, print};
use crate::engine::Harness;
use crate::engine::plan::{Planned, plan};
use crate::probe::Moment;
use crate::surroundings::Surroundings;

/// Show which probes would be tried here, and why the others would not.
#[derive(Debug, Args)]
pub(super) struct Plan {
    #[command(flatten)]
    aim: AimFlags,

    /// Write the job for `canary run --job` to this file.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Plan {
    /// Does it.
    pub(super) fn run(self) -> Result<ExitCode, Stop> {
        let job = self.aim.job()?;
        if let Some(path) = &self.output {
            let written = serde_json::to_vec_pretty(&job).map_err(std::io::Error::from);
            let written = written.and_then(|text| std::fs::write(path, text));
            written.map_err(|error| {
                Stop::usage(
                    format!("can't write {}: {error}", path.display()),
                    "-o names a file that can be written",
                )
            })?;
        }
        let around = Surroundings::look();
        let mut text = String::new();
        let mut all = Vec::new();
        for (position, phase) in job.phases.iter().enumerate() {
            let harness = Harness { switches: job.phases.len() > 1, kills: job.kills };
            for level in job.levels.keys() {
                let moments =
                    if position > 0 { &[Moment::Switch, Moment::Phase][..] } else { &[Moment::Phase] };
                let planned: Vec<Planned> = moments
                    .iter()
                    .flat_map(|moment| plan(*moment, *level, &phase.targets, &around, harness))
                    .collect();
                let tried = planned.iter().filter(|planned| planned.missing.is_none()).count();
                // Writing to a String can't fail.
                let _ = writeln!(text, "{}, as {level}: {tried} of {} probes", phase.name, planned.len());
                for Planned { probe, missing } in &planned {
                    let _ = match missing {
                        None => writeln!(text, "  try   {}", probe.id),
                        Some(why) => writeln!(text, "  skip  {:32} {why}", probe.id),
                    };
                    all.push(json!({
                        "phase": phase.name, "level": level, "id": probe.id, "tried": missing.is_none(), "missing": missing,
                    }));
                }
            }
        }
        for fact in &job.facts {
            let _ = writeln!(text, "fact  {:32} {}: {}", fact.id, fact.about, fact.text);
        }
        if self.json {
            print(&format!("{}\n", json!({ "probes": all, "facts": job.facts, "surroundings": around })))?;
        } else {
            print(&text)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
