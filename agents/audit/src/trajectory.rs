//! What an agent did, read from its transcript.
//!
//! A transcript is read into calls of tools and events of the provider ([`read`]); each is judged for what of it reaches
//! the network. With the decision log each finding is held against what the proxy saw ([`Log`]). [`tdb`] gives the same
//! answer as TrialDesignBench's own scan. A transcript that can't be read whole is malformed, whatever else is found.

use crate::Malformed;

mod code;
mod decode;
mod finding;
mod format;
mod hosts;
mod join;
mod json;
mod judge;
mod patch;
mod reading;
mod shell;
mod sqlite;
pub mod tdb;
mod tools;
mod walk;

pub use finding::{Confidence, Finding, Kind, Level, Runs};
pub use format::Format;
pub use join::{Log, Outcome, Seen};

use reading::Reading;

/// The largest transcript that is read.
pub const LARGEST: usize = 256 << 20;

/// The longest line that is read.
pub const LONGEST_LINE: usize = 64 << 20;

/// What one transcript shows.
#[derive(Debug)]
pub struct Transcript {
    /// Its name.
    pub file: String,
    /// Its format, if it could be told.
    pub format: Option<Format>,
    /// Whether the agent did or said anything.
    pub acted: bool,
    /// Calls of tools.
    pub calls: usize,
    /// What was found, in the order of the transcript.
    pub findings: Vec<Finding>,
    /// What could not be read. If there is anything here, the transcript is unauditable.
    pub malformed: Vec<Malformed>,
}

impl Transcript {
    /// Whether a finding counts.
    pub fn violates(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Violation)
    }
}

/// Reads a transcript. A database's write-ahead log belongs to it.
pub fn read(file: &str, bytes: &[u8], wal: Option<&[u8]>, format: Option<Format>) -> Transcript {
    let mut reading = Reading::new(file);
    if bytes.len() > LARGEST {
        reading
            .fault(Malformed::whole(file, format!("it has {} bytes; the limit is {LARGEST}", bytes.len())));
    } else if bytes.starts_with(sqlite::MAGIC) {
        reading.format = Some(format.unwrap_or(Format::Opencode));
        reading.database(bytes, wal);
    } else {
        reading.text(bytes, format);
    }
    reading.finish()
}

#[cfg(test)]
mod tests;
