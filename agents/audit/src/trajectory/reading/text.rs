//! Transcripts that are text: one value, or a value in each line.

use closedbook_document::Place;

use crate::Malformed;
use crate::trajectory::LONGEST_LINE;
use crate::trajectory::finding::{Kind, Raw};
use crate::trajectory::format::{self, Format};
use crate::trajectory::json::{self, Json};
use crate::trajectory::walk::{self, Spot};

use super::Reading;

impl Reading {
    pub(in crate::trajectory) fn text(&mut self, bytes: &[u8], format: Option<Format>) {
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
                if let Some(next) = value.text("continued_trajectory_ref") {
                    let raw = Raw::new(
                        Kind::Opaque,
                        "the trajectory goes on in another file, which must be read too",
                        next,
                    )
                    .note();
                    self.push(&Spot::default(), "continued_trajectory_ref", None, raw);
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
