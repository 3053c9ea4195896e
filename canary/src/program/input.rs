//! Files that are read: reports, evidence, records of a witness, waivers, keys.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;

use super::{Stop, chain};
use crate::report::document::{Report, Unreadable, read};
use crate::report::evidence::{Baseline, Evidence};
use crate::report::signature::{BadSignature, Signatory, Signer};
use crate::report::waiver::Waivers;
use crate::witness::{Arrival, Record};

/// What a report or evidence is judged with besides.
#[derive(Debug, Args)]
pub(super) struct Besides {
    /// What the witness wrote down (JSON lines), where that is not in the file.
    #[arg(long, value_name = "FILE")]
    pub(super) arrivals: Option<PathBuf>,

    /// A report or evidence of the same probes where nothing was in their way, where that is not in the file.
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,

    /// Suspicions that were looked into (TOML or JSON): for what is shown and the exit code, the report stays as it is. A leak is
    /// never waived.
    #[arg(long, value_name = "FILE")]
    waive: Option<PathBuf>,
}

impl Besides {
    /// The waivers; none without a file.
    pub(super) fn waivers(&self) -> Result<Waivers, Stop> {
        waivers(self.waive.as_deref())
    }
}

/// A report, or evidence on which one is made.
pub(super) fn report_or_evidence(path: &Path) -> Result<Report, Stop> {
    let text = octets(path)?;
    // Evidence begins like a report and is none; which of them it was meant to be, a report's own key tells.
    let is_report = serde_json::from_slice::<Value>(&text).is_ok_and(|value| value.get("evidence").is_some());
    if is_report {
        return Report::parse(&text).map_err(|error| unreadable(path, &error));
    }
    let evidence: Result<Evidence, _> = serde_json::from_slice(&text);
    evidence.map(Report::of).map_err(|error| {
        Stop::usage(
            format!("{} is neither a report nor evidence: {error}", path.display()),
            "canary run -o FILE writes evidence",
        )
    })
}

/// A baseline: a report or evidence of a run where nothing was in the way.
pub(super) fn baseline(path: &Path) -> Result<Baseline, Stop> {
    let Evidence { stages, witness, .. } = report_or_evidence(path)?.evidence;
    Ok(Baseline { stages, witness: witness.unwrap_or_default() })
}

/// What a witness wrote down, a line of JSON each. It is shown to have been alive by whatever came after `ended`.
pub(super) fn arrivals(path: &Path, ended: Option<&str>) -> Result<Record, Stop> {
    let text = octets(path)?;
    let mut record = Record::default();
    for line in String::from_utf8_lossy(&text).lines().filter(|line| !line.trim().is_empty()) {
        let value: Value = serde_json::from_str(line).unwrap_or_default();
        let later = |ended: &str| {
            let ts = value.get("ts").and_then(Value::as_str).and_then(|ts| ts.get(..19));
            // RFC 3339 in UTC to the second: the order of the texts is that of the times.
            ts.zip(ended.get(..19)).is_some_and(|(ts, ended)| ts > ended)
        };
        record.alive |= ended.is_some_and(later);
        match serde_json::from_value::<Arrival>(value) {
            Ok(arrival) => record.arrivals.push(arrival),
            // Half a line is an arrival that was not kept.
            Err(_) => record.lost += 1,
        }
    }
    Ok(record)
}

/// Waivers; none without a file.
pub(super) fn waivers(path: Option<&Path>) -> Result<Waivers, Stop> {
    let Some(path) = path else { return Ok(Waivers::default()) };
    let text = octets(path)?;
    Waivers::from_text(&String::from_utf8_lossy(&text)).map_err(|why| {
        Stop::usage(
            format!("the waivers {}: {why}", path.display()),
            "docs/canary-report.md shows such a file",
        )
    })
}

/// Whom to believe.
pub(super) fn signatory(path: &Path) -> Result<Signatory, Stop> {
    Signatory::from_pem(&octets(path)?).map_err(|error| key(path, &error))
}

/// Whoever signs.
pub(super) fn signer(path: &Path) -> Result<Signer, Stop> {
    Signer::from_pem(&octets(path)?).map_err(|error| key(path, &error))
}

/// What is said of a file that is no report.
pub(super) fn unreadable(path: &Path, error: &Unreadable) -> Stop {
    let what = format!("{}: {}", path.display(), chain(error));
    match error {
        // It was read, and refused.
        Unreadable::Schema(_) => Stop::refused(what, "read it with the version of the canary that made it"),
        Unreadable::NotAReport(_) | Unreadable::Foreign(_) => Stop::refused(
            what,
            "get the file as the canary wrote it; canary report makes a report of evidence",
        ),
        Unreadable::Io(_) => Stop::usage(what, "name a file that can be read"),
        Unreadable::NotJson(_) | Unreadable::TooLarge => {
            Stop::usage(what, "get the whole file, and that alone")
        }
    }
}

fn octets(path: &Path) -> Result<Vec<u8>, Stop> {
    read(path).map_err(|error| unreadable(path, &error))
}

fn key(path: &Path, error: &BadSignature) -> Stop {
    Stop::usage(format!("{}: {error}", path.display()), "name a key file as OpenSSL makes it")
}
