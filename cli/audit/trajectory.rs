//! `closedbook audit trajectory`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;
use closedbook_audit::Malformed;
use closedbook_audit::trajectory::{self, Finding, Format, Level, Log, Transcript};
use serde_json::json;

use crate::exit::Failure;
use crate::output::{harmless, print, print_json};

mod files;

/// The schema of `--json`.
const SCHEMA: u32 = 1;

#[derive(Args)]
pub(super) struct Trajectory {
    /// Transcripts, or folders that are searched for them; `-` reads standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The transcripts' format, if it can't be told from what they hold
    #[arg(long, value_parser = PossibleValuesParser::new(Format::ALL.map(Format::word)))]
    format: Option<String>,
    /// A decision log: say of each finding what the proxy saw of it
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Print JSON
    #[arg(long, conflicts_with = "tdb")]
    json: bool,
    /// Print what TrialDesignBench 1.7.0 finds, as its records; for trajectories in ATIF
    #[arg(long, conflicts_with_all = ["log", "format"])]
    tdb: bool,
    /// Print only violations, no notes
    #[arg(long, short, conflicts_with_all = ["json", "tdb"])]
    quiet: bool,
}

/// What was read.
struct Report {
    transcripts: Vec<Transcript>,
    /// What could not be read beside them: files, the log.
    malformed: Vec<Malformed>,
    /// Files of folders that are no transcripts.
    skipped: Vec<String>,
}

impl Trajectory {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let mut sources = Vec::new();
        let mut malformed = Vec::new();
        for path in &self.files {
            files::collect(path, &mut sources, &mut malformed);
        }
        if self.tdb {
            return tdb(&sources, malformed);
        }
        let log = match &self.log {
            Some(path) => {
                let (log, faults) = files::log(path);
                malformed.extend(faults);
                log
            }
            None => None,
        };
        let report = self.read(sources, malformed, log.as_ref());
        if self.json {
            print_json(&report.json())?
        } else {
            print(&report.text(self.quiet))?
        }
        Ok(ExitCode::from(report.code()))
    }

    fn read(&self, sources: Vec<files::Source>, malformed: Vec<Malformed>, log: Option<&Log>) -> Report {
        let format = self.format.as_deref().and_then(Format::from_word);
        let mut report = Report { transcripts: Vec::new(), malformed, skipped: Vec::new() };
        let mut found_in = std::collections::BTreeMap::new();
        for source in sources {
            let bytes = match source.bytes() {
                Ok(bytes) => bytes,
                Err(fault) => {
                    report.malformed.push(fault);
                    continue;
                }
            };
            let wal = match source.wal() {
                Ok(wal) => wal,
                Err(fault) => {
                    report.malformed.push(fault);
                    continue;
                }
            };
            let mut transcript = trajectory::read(&source.name, &bytes, wal.as_deref(), format);
            if let Some(folder) = &source.folder {
                let counted = found_in.entry(folder.clone()).or_insert(0usize);
                if transcript.format.is_none() && !source.must_be_one(&transcript) {
                    report.skipped.push(source.name);
                    continue;
                }
                *counted += 1;
            }
            if let Some(log) = log {
                log.join(&mut transcript.findings);
            }
            report.transcripts.push(transcript);
        }
        for (folder, _) in found_in.into_iter().filter(|(_, count)| *count == 0) {
            report.malformed.push(Malformed::whole(folder, "no transcript in this folder"));
        }
        report
    }
}

fn tdb(sources: &[files::Source], mut malformed: Vec<Malformed>) -> Result<ExitCode, Failure> {
    let mut records = Vec::new();
    let mut scanned = 0;
    for source in sources {
        match source.bytes().and_then(|bytes| trajectory::tdb::scan(&source.name, &bytes)) {
            Ok(found) => {
                scanned += 1;
                records.extend(found);
            }
            // A folder holds other files too; one that is called a trajectory should be one.
            Err(_) if source.folder.is_some() && !source.is_called_trajectory() => {}
            Err(fault) => malformed.push(fault),
        }
    }
    if scanned == 0 && malformed.is_empty() {
        malformed.push(Malformed::whole("the folder", "no trajectory in ATIF in it"));
    }
    let code = match (malformed.is_empty(), records.is_empty()) {
        (false, _) => 2,
        (true, empty) => u8::from(!empty),
    };
    let text = serde_json::to_string_pretty(&records).map_err(|error| Failure::bug(error.to_string()))?;
    print(&format!("{text}\n"))?;
    complain(&malformed);
    Ok(ExitCode::from(code))
}

fn complain(malformed: &[Malformed]) {
    for fault in malformed {
        eprintln!("closedbook: {}", harmless(&fault.to_string()));
    }
}

impl Report {
    fn faults(&self) -> impl Iterator<Item = &Malformed> {
        self.malformed.iter().chain(self.transcripts.iter().flat_map(|transcript| &transcript.malformed))
    }

    fn count(&self, level: Level) -> usize {
        self.transcripts
            .iter()
            .flat_map(|transcript| &transcript.findings)
            .filter(|finding| finding.level == level)
            .count()
    }

    /// What could not be read weighs more than what was found: nothing is known of it.
    fn code(&self) -> u8 {
        if self.faults().next().is_some() || self.transcripts.is_empty() {
            return 2;
        }
        u8::from(self.count(Level::Violation) > 0)
    }

    fn json(&self) -> serde_json::Value {
        let transcripts: Vec<_> = self
            .transcripts
            .iter()
            .map(|transcript| {
                json!({
                    "file": transcript.file,
                    "format": transcript.format,
                    "calls": transcript.calls,
                    "findings": transcript.findings,
                    "malformed": transcript.malformed,
                })
            })
            .collect();
        json!({
            "schema": SCHEMA,
            "violations": self.count(Level::Violation),
            "notes": self.count(Level::Note),
            "transcripts": transcripts,
            "malformed": self.malformed,
            "skipped": self.skipped,
        })
    }

    fn text(&self, quiet: bool) -> String {
        complain(&self.malformed);
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = self.write(&mut text, quiet);
        text
    }

    fn write(&self, out: &mut String, quiet: bool) -> std::fmt::Result {
        for transcript in &self.transcripts {
            complain(&transcript.malformed);
            let format = transcript.format.map_or("unknown format", Format::word);
            let calls = many(transcript.calls, "tool call");
            writeln!(out, "{}  ({format}, {calls})", harmless(&transcript.file))?;
            if transcript.calls == 0 && transcript.acted {
                writeln!(out, "  note       the agent called no tool")?;
            }
            let shown =
                transcript.findings.iter().filter(|finding| !quiet || finding.level == Level::Violation);
            for finding in shown {
                writeln!(out, "  {}", harmless(&line(finding)))?;
            }
            if !transcript.malformed.is_empty() {
                writeln!(out, "  malformed  it could not be read whole: nothing is known of the rest")?;
            }
        }
        let violations = many(self.count(Level::Violation), "violation");
        let notes = many(self.count(Level::Note), "note");
        write!(out, "{violations}, {notes} in {}", many(self.transcripts.len(), "transcript"))?;
        if !self.skipped.is_empty() {
            write!(out, "; passed over: {}", many(self.skipped.len(), "other file"))?;
        }
        let faults = self.faults().count();
        if faults > 0 {
            write!(out, "; {} that can't be read, so this is no clean bill", many(faults, "thing"))?;
        }
        writeln!(out)
    }
}

/// `1 note`, `2 notes`
fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// `violation  step 3, line 7  Bash  network-command  curl  via bash -c  hosts a, b  log refused  | curl ...`
fn line(finding: &Finding) -> String {
    let mut line = format!("{:<9}  ", finding.level.word());
    match (finding.line, finding.step, &finding.step_id) {
        (Some(number), ..) => line.push_str(&format!("line {number}")),
        (None, Some(step), Some(id)) => line.push_str(&format!("step {step} ({id})")),
        (None, Some(step), None) => line.push_str(&format!("step {step}")),
        _ => line.push_str("somewhere"),
    }
    line.push_str(&format!("  {}  {}: {}", finding.tool, finding.kind.word(), finding.reason));
    if !finding.via.is_empty() {
        line.push_str(&format!("  via {}", finding.via.join(" > ")));
    }
    if !finding.hosts.is_empty() {
        line.push_str(&format!("  to {}", finding.hosts.join(", ")));
    }
    if let Some(seen) = &finding.log {
        line.push_str(&format!("  [{}: {}]", seen.outcome.word(), seen.detail));
    }
    line.push_str(&format!("  | {}", finding.what));
    line
}
