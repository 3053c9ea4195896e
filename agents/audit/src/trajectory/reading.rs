//! Reading one transcript: what is kept of it on the way, and what it comes to at the end.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::Malformed;

use super::finding::{Finding, Kind, Level, Raw};
use super::format::Format;
use super::shell::{self, World};
use super::walk::{Call, Sink, Spot};
use super::{Transcript, judge};

mod database;
mod text;

/// So many faulty lines are named; more are counted.
const MOST_FAULTS: usize = 20;

/// So many findings are kept of one transcript; more are counted in the last one's place.
const MOST_FINDINGS: usize = 100_000;

pub(super) struct Reading {
    transcript: Transcript,
    pub(super) format: Option<Format>,
    world: World,
    seen: HashSet<u64>,
    /// Files with network use in them that nothing has run yet: where they were written.
    written: HashMap<String, (Spot, String, Option<String>)>,
    faults: usize,
    dropped: usize,
}

impl Reading {
    pub(super) fn new(file: &str) -> Self {
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

    pub(super) fn fault(&mut self, fault: Malformed) {
        self.faults += 1;
        if self.faults <= MOST_FAULTS {
            self.transcript.malformed.push(fault);
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

    pub(super) fn finish(mut self) -> Transcript {
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
