//! `canary report`: makes a report of evidence, and shows it.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::input::Besides;
use super::{Stop, input, print};
use crate::report::document::Report;
use crate::report::html;
use crate::report::judgement::judge_waiving;
use crate::report::table::{self, Look};

/// Show a report, or make one of evidence: as a table, a page or JSON.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The report, or evidence of `canary run`; - reads standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Write a page to this file: all of it, readable without a network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the report to this file.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Sign it with this private key (PEM, PKCS#8, Ed25519).
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,

    #[command(flatten)]
    besides: Besides,

    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

impl Show {
    /// Does it.
    pub(super) fn run(self) -> Result<ExitCode, Stop> {
        let mut report = input::report_or_evidence(&self.file)?;
        if self.besides.arrivals.is_some() || self.besides.baseline.is_some() {
            report = self.completed(report)?;
        }
        if let Some(path) = &self.sign {
            input::signer(path)?.sign(&mut report);
        }
        let judgement = judge_waiving(&report.evidence, &self.besides.waivers()?);
        if let Some(path) = &self.output {
            write(path, &(report.to_json() + "\n"))?;
        }
        if let Some(path) = &self.html {
            write(path, &html::page(&report, &judgement))?;
        }
        if self.json {
            print(&(report.to_json() + "\n"))?;
        } else {
            print(&table::render(&report.evidence, &judgement, Look::of_stdout()))?;
        }
        Ok(ExitCode::from(judgement.overall.code()))
    }

    /// A new report on more evidence.
    fn completed(&self, report: Report) -> Result<Report, Stop> {
        let mut evidence = report.evidence;
        let twice = |what: &str, flag: &str| {
            let file = self.file.display();
            Stop::usage(format!("{file} has {what} of its own"), format!("leave out {flag}"))
        };
        if let Some(path) = &self.besides.arrivals {
            if evidence.witness.is_some() {
                return Err(twice("a record of the witness", "--arrivals"));
            }
            evidence.witness = Some(input::arrivals(path, evidence.ended.as_deref())?);
        }
        if let Some(path) = &self.besides.baseline {
            if evidence.baseline.is_some() {
                return Err(twice("a baseline", "--baseline"));
            }
            evidence.baseline = Some(input::baseline(path)?);
        }
        Ok(Report::of(evidence))
    }
}

fn write(path: &Path, text: &str) -> Result<(), Stop> {
    std::fs::write(path, text).map_err(|error| {
        Stop::usage(format!("can't write {}: {error}", path.display()), "name a file that can be written")
    })
}
