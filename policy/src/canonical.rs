//! The canonical JSON of a policy, and its digest.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::phase::PhaseName;
use crate::settings::{Settings, word};
use crate::{Entry, Name};

/// The SHA-256 of a policy's canonical JSON. Shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of a text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text).into())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

// Fields in the order of their names, which is the order they are written in.
#[derive(Serialize)]
struct Document<'a> {
    dns: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    phase: BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a str>>>,
    resolve: BTreeMap<&'a str, &'a str>,
    route: BTreeMap<&'a str, String>,
    schema: u64,
    tls: BTreeMap<&'a str, &'a str>,
}

/// The canonical JSON: what it is exactly is documented at [`Policy::to_json`](crate::Policy::to_json).
pub(crate) fn json(
    name: Option<&str>,
    phases: &BTreeMap<PhaseName, Vec<Entry>>,
    settings: &Settings,
) -> String {
    let Settings { routes, ech, private, dns_answers } = settings;
    let document = Document {
        dns: [("answers", word(*dns_answers))].into(),
        name,
        phase: phases
            .iter()
            .map(|(phase, entries)| (phase.as_str(), [("allow", texts(entries))].into()))
            .collect(),
        resolve: [("private", word(*private))].into(),
        route: routes.iter().map(|(from, to): (&Name, _)| (from.as_str(), to.to_string())).collect(),
        schema: 1,
        tls: [("ech", word(*ech))].into(),
    };
    // Serialising strings and maps with string keys into memory has no way to fail.
    serde_json::to_string(&document).unwrap_or_default()
}

fn texts(entries: &[Entry]) -> Vec<&str> {
    let mut texts: Vec<&str> = entries.iter().map(Entry::as_str).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}
