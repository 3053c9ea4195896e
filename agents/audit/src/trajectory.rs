//! What an agent did, read from its transcript.
//!
//! A transcript is read into calls of tools and events of the provider ([`read`]); each is judged for what of it reaches
//! the network. With the decision log each finding is held against what the proxy saw ([`Log`]). [`tdb`] gives the same
//! answer as TrialDesignBench's own scan. A transcript that can't be read whole is malformed, whatever else is found.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use closedbook_document::Place;

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
mod shell;
mod sqlite;
pub mod tdb;
mod tools;
mod walk;

pub use finding::{Confidence, Finding, Kind, Level, Runs};
pub use format::Format;
pub use join::{Log, Outcome, Seen};

use finding::Raw;
use json::Json;
use shell::World;
use walk::{Call, Sink, Spot};

/// The largest transcript that is read.
pub const LARGEST: usize = 256 << 20;

/// The longest line that is read.
pub const LONGEST_LINE: usize = 64 << 20;

/// So many faulty lines are named; more are counted.
const MOST_FAULTS: usize = 20;

/// So many findings are kept of one transcript; more are counted in the last one's place.
const MOST_FINDINGS: usize = 100_000;

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

struct Reading {
    transcript: Transcript,
    format: Option<Format>,
    world: World,
    seen: HashSet<u64>,
    /// Files with network use in them that nothing has run yet: where they were written.
    written: HashMap<String, (Spot, String, Option<String>)>,
    faults: usize,
    dropped: usize,
}

impl Reading {
    fn new(file: &str) -> Self {
        Self {
            transcript: Transcript {
                file: file.into(),
                format: None,
                acted: false,
                calls: 0,
                findings: Vec::new(),
                malformed: Vec::new(),
            },
            format: None,
            world: World::default(),
            seen: HashSet::new(),
            written: HashMap::new(),
            faults: 0,
            dropped: 0,
        }
    }

    fn fault(&mut self, fault: Malformed) {
        self.faults += 1;
        if self.faults <= MOST_FAULTS {
            self.transcript.malformed.push(fault);
        }
    }

    fn text(&mut self, bytes: &[u8], format: Option<Format>) {
        self.format = format;
        let file = self.transcript.file.clone();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return self.fault(Malformed::whole(file, "the transcript is empty"));
        }
        // One value, or a value in each line?
        if let Ok(text) = str::from_utf8(bytes) {
            match json::parse(text) {
                Ok(value) => {
                    self.format = format.or_else(|| format::of_document(&value));
                    return self.document(&value);
                }
                Err(fault) if !begins_with_a_line(text) => {
                    return self.fault(Malformed::at(file, bytes, fault.at, fault.what));
                }
                Err(_) => {}
            }
        }
        self.lines(bytes);
    }

    fn document(&mut self, value: &Json<'_>) {
        match value {
            Json::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    let spot = Spot { step: Some(index), ..Spot::default() };
                    walk::walk(item, &spot, self);
                }
            }
            Json::Table(_) => {
                if self.format == Some(Format::Atif) && !matches!(value.get("steps"), Some(Json::List(_))) {
                    let file = self.transcript.file.clone();
                    self.fault(Malformed::whole(file, "no list `steps`, which a trajectory in ATIF has"));
                }
                if value.text("continued_trajectory_ref").is_some() {
                    let file = self.transcript.file.clone();
                    let next = value.text("continued_trajectory_ref").unwrap_or_default();
                    let raw = Raw::new(
                        Kind::Opaque,
                        "the trajectory goes on in another file, which must be read too",
                        next,
                    )
                    .note();
                    self.push(&Spot::default(), "continued_trajectory_ref", None, raw);
                    let _ = file;
                }
                walk::walk(value, &Spot::default(), self);
            }
            _ => {
                let file = self.transcript.file.clone();
                self.fault(Malformed::whole(file, "neither an object nor a list, which every transcript is"));
            }
        }
    }

    fn lines(&mut self, bytes: &[u8]) {
        let file = self.transcript.file.clone();
        let mut first_fault = None;
        for (index, raw) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let number = index + 1;
            if raw.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let at = |column: usize| Some(Place { line: number, column });
            let mut faulty = |reading: &mut Self, place, reason: &str| {
                first_fault.get_or_insert(number);
                reading.fault(Malformed { file: file.clone(), place, reason: reason.to_owned() });
            };
            if raw.len() > LONGEST_LINE {
                faulty(self, at(1), "the line is longer than 64 MiB");
                continue;
            }
            let text = match str::from_utf8(raw) {
                Ok(text) => text,
                Err(error) => {
                    let before = raw.get(..error.valid_up_to()).unwrap_or_default();
                    faulty(self, at(String::from_utf8_lossy(before).chars().count() + 1), "not UTF-8 text");
                    continue;
                }
            };
            match json::parse(text) {
                Ok(value) if value.is_table() => {
                    if self.format.is_none() {
                        self.format = format::of_line(&value);
                    }
                    let spot = Spot { line: Some(number), ..Spot::default() };
                    walk::walk(&value, &spot, self);
                }
                Ok(_) => faulty(self, at(1), "a line that is no JSON object"),
                Err(fault) => {
                    let column = text.get(..fault.at).unwrap_or_default().chars().count() + 1;
                    faulty(self, at(column), fault.what);
                }
            }
        }
    }

    fn database(&mut self, bytes: &[u8], wal: Option<&[u8]>) {
        let file = self.transcript.file.clone();
        let mut database = match sqlite::Database::open(bytes, wal) {
            Ok(database) => database,
            Err(reason) => return self.fault(Malformed::whole(file, reason)),
        };
        let tables = match database.tables() {
            Ok(tables) => tables,
            Err(reason) => return self.fault(Malformed::whole(file, reason)),
        };
        if !tables.iter().any(|table| {
            matches!(table.name.as_str(), "part" | "message" | "session_message" | "messages" | "event")
        }) {
            return self.fault(Malformed::whole(
                file,
                "a database without a table `part` or `message`: no agent's transcript",
            ));
        }
        // Settings and accounts are no part of what the agent did.
        for table in tables.iter().filter(|table| {
            !matches!(
                table.name.as_str(),
                "account" | "account_state" | "control_account" | "credential" | "permission"
            )
        }) {
            let rows = match database.rows(table) {
                Ok(rows) => rows,
                Err(reason) => {
                    self.fault(Malformed::whole(&file, format!("table {}: {reason}", table.name)));
                    continue;
                }
            };
            for row in rows {
                self.row(&table.name, &row);
            }
        }
    }

    fn row(&mut self, table: &str, row: &sqlite::Row) {
        let id = row.values.iter().find_map(|value| match value {
            sqlite::Value::Text(text) => Some(text.clone()),
            _ => None,
        });
        for value in &row.values {
            let text = match value {
                sqlite::Value::Text(text) => text,
                _ => continue,
            };
            if !text.trim_start().starts_with(['{', '[']) {
                continue;
            }
            let spot = Spot { step_id: id.clone(), step: usize::try_from(row.id).ok(), ..Spot::default() };
            match json::parse(text) {
                Ok(value) => walk::walk(&value, &spot, self),
                Err(fault) => {
                    let reason = format!("table {table}, row {}: {}", row.id, fault.what);
                    let file = self.transcript.file.clone();
                    self.fault(Malformed::whole(file, reason));
                }
            }
        }
    }

    /// Keeps a finding, once.
    fn push(&mut self, spot: &Spot, tool: &str, call: Option<&str>, raw: Raw) {
        let mut hasher = DefaultHasher::new();
        // The same call stands in several places of a transcript: when it was asked for, when it began, when it ended.
        if call.is_none() {
            (spot.line, spot.step, &spot.step_id).hash(&mut hasher);
        }
        if raw.kind != Kind::Offer {
            (call, raw.level).hash(&mut hasher);
        }
        (raw.kind, &raw.reason, &raw.what).hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return;
        }
        if self.transcript.findings.len() >= MOST_FINDINGS {
            self.dropped += 1;
            return;
        }
        self.transcript.findings.push(Finding {
            file: self.transcript.file.clone(),
            line: spot.line,
            step: spot.step,
            step_id: spot.step_id.clone(),
            call_id: call.map(str::to_owned),
            ts: spot.ts.clone(),
            tool: tool.to_owned(),
            kind: raw.kind,
            level: raw.level,
            confidence: raw.confidence,
            runs: raw.runs,
            reason: raw.reason,
            what: raw.what,
            hosts: raw.hosts,
            via: raw.via,
            log: None,
        });
    }

    /// Files that the last call wrote: what running them would do.
    fn look_at_files(&mut self, spot: &Spot, tool: &str, call: Option<&str>) {
        for name in self.world.files.take_fresh() {
            if shell::is_program_file(&self.world, &name) && shell::would_violate(&mut self.world, &name) {
                self.written
                    .entry(name)
                    .or_insert_with(|| (spot.clone(), tool.to_owned(), call.map(str::to_owned)));
            }
        }
    }

    fn finish(mut self) -> Transcript {
        let mut written: Vec<_> = std::mem::take(&mut self.written).into_iter().collect();
        written.sort_by_key(|(name, (spot, ..))| (spot.line, spot.step, name.clone()));
        for (name, (spot, tool, call)) in written {
            let Some(found) = shell::unrun(&mut self.world, &name) else { continue };
            for mut raw in found.into_iter().filter(|raw| raw.level == Level::Violation) {
                raw.reason = format!("{}, in a file that nothing was seen to run", raw.reason);
                raw.via.insert(0, name.clone());
                self.push(&spot, &tool, call.as_deref(), raw.text_only());
            }
        }
        let file = self.transcript.file.clone();
        if self.faults > MOST_FAULTS {
            let more = self.faults - MOST_FAULTS;
            self.transcript
                .malformed
                .push(Malformed::whole(&file, format!("and {more} more lines or rows that can't be read")));
        }
        if self.dropped > 0 {
            self.transcript.malformed.push(Malformed::whole(
                &file,
                format!("{} more findings than the {MOST_FINDINGS} that are kept", self.dropped),
            ));
        }
        if self.world.files.overflowed() {
            self.transcript.malformed.push(Malformed::whole(
                &file,
                "the agent wrote more text into files than can be followed (64 MiB)",
            ));
        }
        if self.transcript.malformed.is_empty() {
            if self.format.is_none() {
                let formats: Vec<&str> = Format::ALL.iter().map(|format| format.word()).collect();
                let reason = format!("the format can't be told; --format says it ({})", formats.join(", "));
                self.transcript.malformed.push(Malformed::whole(&file, reason));
            } else if !self.transcript.acted {
                let reason = "the agent takes no step in it, so it shows nothing of what the agent did";
                self.transcript.malformed.push(Malformed::whole(&file, reason));
            }
        }
        let order = |finding: &Finding| (finding.line, finding.line.is_none().then_some(finding.step));
        self.transcript.findings.sort_by_key(order);
        self.transcript.format = self.format;
        self.transcript
    }
}

impl Sink for Reading {
    fn call(&mut self, spot: &Spot, call: Call<'_, '_>) {
        self.transcript.calls += 1;
        let found = judge::judge(&mut self.world, &call.name, call.arguments);
        for raw in found {
            let raw = if call.provider { raw.provider() } else { raw };
            self.push(spot, &call.name, call.id, raw);
        }
        self.look_at_files(spot, &call.name, call.id);
    }

    fn event(&mut self, spot: &Spot, name: &str, id: Option<&str>, raw: Raw) {
        self.transcript.acted |= raw.kind != Kind::Offer;
        self.push(spot, name, id, raw);
    }

    fn step(&mut self) {
        self.transcript.acted = true;
    }
}

/// Whether a text has a whole value in its first line, so that it is one of lines.
fn begins_with_a_line(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let second = lines.next();
    json::parse(first).is_ok_and(|value| value.is_table())
        || second.is_some_and(|line| {
            line.trim_start().starts_with("{\"") && json::parse(line).is_ok_and(|value| value.is_table())
        })
}

#[cfg(test)]
mod tests;
