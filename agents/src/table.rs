//! A whole table.

use std::collections::BTreeMap;

use closedbook_policy::Digest;
use serde::Serialize;
use serde_json::Value;

use crate::choice::{Ask, Choice};
use crate::fault::InvalidTable;
use crate::read;
use crate::refused::Refused;
use crate::row::{Provider, Row};
use crate::source::Source;

/// A table of agents. Immutable, and every name in it refers to something.
///
/// ```
/// # use closedbook_agents::{Ask, AuthMode, Table};
/// let table = Table::embedded()?;
/// let choice = table.choose(&Ask { agent: "claude-code", ..Ask::default() })?;
/// assert_eq!(choice.auth(), AuthMode::Api);
/// assert!(table.choose(&Ask { agent: "devin", ..Ask::default() }).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    parts: Parts,
    json: String,
    digest: Digest,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Parts {
    pub(crate) version: u32,
    pub(crate) date: String,
    pub(crate) judge: String,
    pub(crate) sources: BTreeMap<String, Source>,
    pub(crate) providers: BTreeMap<String, Provider>,
    #[serde(rename = "agents")]
    pub(crate) rows: BTreeMap<String, Row>,
}

impl Table {
    /// The text of the table that this program was built with.
    pub const EMBEDDED: &str = include_str!("../table.toml");

    /// The table that this program was built with.
    pub fn embedded() -> Result<Self, InvalidTable> {
        Self::from_toml(Self::EMBEDDED)
    }

    /// Reads a table. The error names every fault.
    pub fn from_toml(source: &str) -> Result<Self, InvalidTable> {
        if source.len() > closedbook_document::LONGEST {
            return Err(InvalidTable::one("a table has at most 1 MiB"));
        }
        let parts = read::table(source)?;
        // Strings, numbers and maps with string keys: writing them into memory has no way to fail.
        let json = canonical(&serde_json::to_value(&parts).unwrap_or_default());
        let digest = Digest::of(&json);
        Ok(Self { parts, json, digest })
    }

    /// The integer that only grows.
    pub fn version(&self) -> u32 {
        self.parts.version
    }

    /// The day of this version, as `2026-11-30`.
    pub fn date(&self) -> &str {
        &self.parts.date
    }

    /// The canonical JSON: keys sorted, no blanks. What the table means, whatever its layout and comments.
    pub fn to_json(&self) -> &str {
        &self.json
    }

    /// SHA-256 of [`Table::to_json`].
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// All rows, by name.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.parts.rows.values()
    }

    /// The row of this name, whatever its status.
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.parts.rows.get(name)
    }

    /// All providers, by name.
    pub fn providers(&self) -> impl Iterator<Item = &Provider> {
        self.parts.providers.values()
    }

    /// The provider of this name.
    pub fn provider(&self, name: &str) -> Option<&Provider> {
        self.parts.providers.get(name)
    }

    /// The provider of the model that judges, which the verifier phase reaches unless another is named.
    pub fn judge(&self) -> &str {
        &self.parts.judge
    }

    /// The source of this name.
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.parts.sources.get(name)
    }

    /// The one way to a policy: an agent that may be run, with a provider and a login that it has.
    pub fn choose(&self, ask: &Ask<'_>) -> Result<Choice<'_>, Refused> {
        Choice::of(self, ask)
    }
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}

/// JSON with its keys sorted, whatever order the library keeps them in.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            let field = |(key, value): (&String, &Value)| {
                format!("{}:{}", Value::from(key.as_str()), canonical(value))
            };
            format!("{{{}}}", sorted.into_iter().map(field).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests;
