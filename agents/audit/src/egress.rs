//! What the decision log says about a policy or a row of the agent table: what was refused, what was used, what never was,
//! and whether the log is whole.
//!
//! A log is read line by line and summed; what is kept does not grow with its length. [`Log::line`] takes the lines,
//! [`Log::end`] gives the report.

mod allowed;
mod ids;
mod propose;
mod record;
mod report;
mod tally;

pub use allowed::{Allowed, Entry, Phase};
pub use propose::{List, lists, lists_of_row, proposal};
pub use report::{Finding, Host, Level, Outcome, PhaseReport, PolicySeen, Report, Switch, Unused, Wildcard};

use crate::Malformed;
use ids::Runs;
use record::Line;
use tally::Tally;

/// A line of more bytes is no record.
pub const LONGEST_LINE: usize = 1 << 16;

/// So many malformed lines are told one by one.
const MOST_MALFORMED: usize = 20;

/// A decision log that is being read.
#[derive(Debug, Default)]
pub struct Log {
    runs: Runs,
    tally: Tally,
    records: u64,
    malformed: Vec<Malformed>,
    more_malformed: u64,
}

impl Log {
    /// Takes one line, without its line feed. Empty lines say nothing: a writer that was killed within a line may leave one.
    pub fn line(&mut self, file: &str, number: u64, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return;
        }
        match Line::read(line) {
            Ok(Line::Opened(id)) => self.runs.opened(id),
            Ok(Line::Ended(record)) => {
                self.records += 1;
                self.runs.ended(record.id);
                self.tally.add(&record);
            }
            Err((column, reason)) => self.malformed(file, number, column, reason),
        }
    }

    /// A line that was too long to be kept.
    pub fn too_long(&mut self, file: &str, number: u64) {
        self.malformed(file, number, 1, format!("a line of more than {LONGEST_LINE} bytes is no record"));
    }

    /// A file that could not be read, or not to its end.
    pub fn unread(&mut self, file: Malformed) {
        self.malformed.push(file);
    }

    fn malformed(&mut self, file: &str, number: u64, column: usize, reason: String) {
        if self.malformed.len() >= MOST_MALFORMED {
            self.more_malformed += 1;
            return;
        }
        let line = usize::try_from(number).unwrap_or(usize::MAX);
        let place = Some(closedbook_document::Place { line, column });
        self.malformed.push(Malformed { file: file.to_owned(), place, reason });
    }

    /// What it comes to, measured against what should be allowed if that is known.
    pub fn end(self, allowed: Option<&Allowed>) -> Report {
        report::report(self, allowed)
    }
}

#[cfg(test)]
mod tests;
