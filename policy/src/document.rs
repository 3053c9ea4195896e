//! The policy document: TOML or JSON, one meaning.
//!
//! Both are read into one tree of values that know where they stand, so that a fault names its line, column and field
//! whichever format the file has; [`read`] turns the tree into a policy and collects every fault.

use closedbook_document::{Format, LONGEST, Syntax};

use crate::Policy;

mod fault;
mod read;

pub use fault::{Fault, FaultKind, InvalidPolicy};

impl Policy {
    /// Reads a document of either format: JSON begins with `{`, which no TOML document does.
    pub fn from_text(source: &str) -> Result<Self, InvalidPolicy> {
        match source.trim_start_matches(BYTE_ORDER_MARK).trim_start().starts_with('{') {
            true => Self::from_json(source),
            false => Self::from_toml(source),
        }
    }

    /// Reads a TOML document of schema 1. The error lists every fault, not only the first.
    pub fn from_toml(source: &str) -> Result<Self, InvalidPolicy> {
        from(source, Format::Toml)
    }

    /// Reads a JSON document of schema 1. The error lists every fault, not only the first.
    pub fn from_json(source: &str) -> Result<Self, InvalidPolicy> {
        from(source, Format::Json)
    }
}

/// A byte order mark says nothing in UTF-8, and editors leave it without showing it.
const BYTE_ORDER_MARK: char = '\u{feff}';

fn from(source: &str, format: Format) -> Result<Policy, InvalidPolicy> {
    let whole = |at, kind| InvalidPolicy::from(Fault::new(source, at, String::new(), kind));
    if source.len() > LONGEST {
        return Err(whole(0, FaultKind::TooLarge { length: source.len(), longest: LONGEST }));
    }
    let source = source.strip_prefix(BYTE_ORDER_MARK).unwrap_or(source);
    if source.trim().is_empty() {
        return Err(whole(0, FaultKind::Empty));
    }
    let root = format.read(source).map_err(|fault| {
        let kind = match fault.what {
            Syntax::Duplicate(key) => FaultKind::Duplicate(key),
            other => FaultKind::Syntax(other.to_string()),
        };
        whole(fault.at, kind)
    })?;
    read::policy(source, root).map(Policy::assemble)
}

#[cfg(test)]
mod tests;
