//! Where something stands, as people say it.

use std::fmt;

/// A line and a character in it, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Place {
    /// The place of the byte at this offset. Bytes that are no text count as one character each run of them.
    pub fn of(source: &[u8], at: usize) -> Self {
        let before = source.get(..at).unwrap_or(source);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let last = before.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        Self { line, column: String::from_utf8_lossy(last).chars().count() + 1 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
