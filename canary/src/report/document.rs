//! The report: evidence and judgement in one JSON, with a digest over both.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use super::evidence::{Evidence, SCHEMA};
use super::judgement::{Judgement, judge};
use super::signature::Signature;

/// More than any canary writes: a thousand probes of a hundred tries each have a tenth of it.
pub const LARGEST: u64 = 64 << 20;

/// A report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The version of this shape.
    pub schema: u32,
    /// What was seen.
    pub evidence: Evidence,
    /// What follows from it.
    pub judgement: Judgement,
    /// SHA-256 over the canonical JSON (sorted keys, no spaces) of `{"evidence": ..., "judgement": ...}`, in hexadecimal digits.
    pub digest: String,
    /// Whoever vouches for the digest.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub signature: Option<Signature>,
}

/// Why there is no report in a file.
#[derive(Debug, Error)]
pub enum Unreadable {
    /// The file can't be read.
    #[error("can't be read")]
    Io(#[from] io::Error),
    /// It is larger than any report.
    #[error("is larger than {} MiB", LARGEST >> 20)]
    TooLarge,
    /// It is no JSON: it may have been cut off.
    #[error("is no JSON: {0}")]
    NotJson(serde_json::Error),
    /// It is JSON of another program, or of another version of this.
    #[error("has schema {0}, and this canary reads {SCHEMA}")]
    Schema(Value),
    /// It is JSON, and no report.
    #[error("is no report of a canary: {0}")]
    NotAReport(serde_json::Error),
    /// It says more than a report says.
    #[error("has what no canary writes, at {0}")]
    Foreign(String),
}

impl Report {
    /// The report on this evidence: without what nobody needs, judged, with a digest.
    pub fn of(evidence: Evidence) -> Self {
        let evidence = evidence.trimmed();
        let judgement = judge(&evidence);
        let digest = digest(&evidence, &judgement);
        Self { schema: SCHEMA, evidence, judgement, digest, signature: None }
    }

    /// Reads a file; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, Unreadable> {
        Self::parse(&read(path)?)
    }

    /// Reads a text. Whether it is to be believed is another question: [`verify`](super::verify::verify).
    pub fn parse(text: &[u8]) -> Result<Self, Unreadable> {
        // Nesting deeper than 128 is refused by serde_json itself.
        let value: Value = serde_json::from_slice(text).map_err(Unreadable::NotJson)?;
        match value.get("schema") {
            Some(schema) if *schema == SCHEMA => {}
            other => return Err(Unreadable::Schema(other.cloned().unwrap_or_default())),
        }
        // From the text and not from the value: a field that stands twice is refused.
        let report: Self = serde_json::from_slice(text).map_err(Unreadable::NotAReport)?;
        let known = serde_json::to_value(&report).map_err(Unreadable::NotAReport)?;
        match foreign(&value, &known, "") {
            Some(place) => Err(Unreadable::Foreign(place)),
            None => Ok(report),
        }
    }

    /// The digest that it should have.
    pub fn true_digest(&self) -> String {
        digest(&self.evidence, &self.judgement)
    }

    /// As a file: one line.
    pub fn to_json(&self) -> String {
        // Strings, integers and maps with string keys always can be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Reads a file of bounded size; `-` is standard input.
pub fn read(path: &Path) -> Result<Vec<u8>, Unreadable> {
    let mut text = Vec::new();
    let source: Box<dyn Read> =
        if path.as_os_str() == "-" { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    source.take(LARGEST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(Unreadable::TooLarge);
    }
    Ok(text)
}

/// The digest over the canonical JSON of both. `Value` keeps its keys sorted, and prints no spaces.
fn digest(evidence: &Evidence, judgement: &Judgement) -> String {
    let both = serde_json::json!({ "evidence": evidence, "judgement": judgement });
    let octets = Sha256::digest(both.to_string());
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Where `text` says something that was not understood: some shapes ignore what they don't know when they are read.
fn foreign(text: &Value, known: &Value, at: &str) -> Option<String> {
    match (text, known) {
        (Value::Object(text), Value::Object(known)) => text.iter().find_map(|(key, value)| {
            let at = format!("{at}/{key}");
            match known.get(key) {
                Some(known) => foreign(value, known, &at),
                // What is null is not there.
                None => (!value.is_null()).then_some(at),
            }
        }),
        (Value::Array(text), Value::Array(known)) if text.len() == known.len() => {
            let mut pairs = text.iter().zip(known).enumerate();
            pairs.find_map(|(place, (text, known))| foreign(text, known, &format!("{at}/{place}")))
        }
        _ => (text != known).then(|| at.to_owned()),
    }
}
