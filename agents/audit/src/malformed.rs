//! Input that can't be read: never a clean bill.

use std::fmt;

use closedbook_document::{Place, Unreadable};
use serde::Serialize;

/// A file (or argument, or variable) that is not what it should be. Whoever reports one exits 2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Malformed {
    /// The file; or `--flag`, `$VARIABLE`, `standard input`.
    pub file: String,
    /// Where in it, when a place can be named.
    #[serde(flatten)]
    pub place: Option<Place>,
    /// What is wrong, and what would be right.
    pub reason: String,
}

impl Malformed {
    /// A file that is wrong as a whole.
    pub fn whole(file: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, reason: reason.into() }
    }

    /// A file that is wrong at this byte.
    pub fn at(file: impl Into<String>, source: &[u8], at: usize, reason: impl Into<String>) -> Self {
        Self { file: file.into(), place: Some(Place::of(source, at)), reason: reason.into() }
    }

    /// A file that is no document.
    pub fn unreadable(file: impl Into<String>, source: &[u8], fault: &Unreadable) -> Self {
        Self::at(file, source, fault.at, fault.to_string())
    }
}

/// `FILE, line L, column C: REASON`
impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = self.place {
            write!(f, ", {place}")?;
        }
        write!(f, ": {}", self.reason)
    }
}
