//! What is wrong with a document, and where.

use std::error::Error;
use std::fmt;

use thiserror::Error;

use crate::phase::InvalidPhaseName;
use crate::settings::InvalidRouteTarget;
use crate::{EntryFault, InvalidEntry};

/// A document that is not a policy: every fault that was found, at least one, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPolicy {
    first: Box<Fault>,
    others: Vec<Fault>,
}

/// One fault of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: usize,
    /// The character in the line, counted from 1.
    pub column: usize,
    /// The field, such as `phase.agent.allow[2]`; empty where the fault is the document's.
    pub field: String,
    /// What is wrong.
    pub kind: FaultKind,
}

/// What is wrong with a field of a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FaultKind {
    /// Nothing but blanks.
    #[error("the policy is empty; it begins with `schema = 1` (TOML) or {{\"schema\": 1, ...}} (JSON)")]
    Empty,
    /// Over the size limit.
    #[error("the policy has {length} bytes; the limit is {longest}")]
    TooLarge {
        /// The size in bytes.
        length: usize,
        /// The largest that is read.
        longest: usize,
    },
    /// Not TOML, or not JSON.
    #[error("{0}")]
    Syntax(String),
    /// A key that stands twice in one object.
    #[error("the key {0:?} stands here a second time")]
    Duplicate(String),
    /// A key that no document has at this place.
    #[error("unknown key {key:?}; {hint}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The key that was probably meant, or all keys of this place.
        hint: String,
    },
    /// A field that must be there.
    #[error("missing; {remedy}")]
    Missing {
        /// What to write.
        remedy: &'static str,
    },
    /// A value of the wrong type.
    #[error("this is {found}; expected is {expected}")]
    Type {
        /// The type that belongs there, with an example.
        expected: &'static str,
        /// The type that is there.
        found: &'static str,
    },
    /// A schema of a later version, or of none.
    #[error("schema {0} is not known to this version, which reads schema 1")]
    Schema(i64),
    /// A policy name that can't be shown on one line.
    #[error("a policy name has 1 to 100 characters, none of them a control character")]
    Name,
    /// A phase name that can't be one.
    #[error("{0}")]
    PhaseName(#[from] InvalidPhaseName),
    /// A table of phases without a phase.
    #[error("the policy defines no phase; write [phase.agent] with allow = [...]")]
    NoPhase,
    /// An entry that can't be one.
    #[error("{0}")]
    Entry(#[from] InvalidEntry),
    /// A word that the setting does not know.
    #[error("{found:?} is not one of {known}; {hint}")]
    Word {
        /// The word.
        found: String,
        /// The words that the setting knows.
        known: String,
        /// The default.
        hint: String,
    },
    /// A route from something that is not one exact name.
    #[error("a route starts from one exact name: {0}")]
    RouteFrom(EntryFault),
    /// A route from a name with a port, a wildcard, or an address.
    #[error("a route starts from one exact name, without wildcard or port")]
    RouteFromForm,
    /// Two routes from one name, spelled differently.
    #[error("a second route from {0}")]
    RouteTwice(String),
    /// A route to something that can't be dialled.
    #[error("{text:?}: {fault}")]
    RouteTo {
        /// The target as written.
        text: String,
        /// What is wrong with it.
        fault: InvalidRouteTarget,
    },
}

impl Fault {
    pub(super) fn new(source: &str, at: usize, field: String, kind: FaultKind) -> Self {
        let before = source.get(..at).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column, field, kind }
    }
}

impl InvalidPolicy {
    /// `None` if there is no fault.
    pub(super) fn from_faults(mut faults: Vec<Fault>) -> Option<Self> {
        faults.sort_by_key(|fault| (fault.line, fault.column));
        let mut faults = faults.into_iter();
        faults.next().map(|first| Self { first: Box::new(first), others: faults.collect() })
    }

    /// The faults, in the order of the file.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        std::iter::once(&*self.first).chain(&self.others)
    }
}

impl From<Fault> for InvalidPolicy {
    fn from(first: Fault) -> Self {
        Self { first: Box::new(first), others: Vec::new() }
    }
}

/// The first fault, and how many there are besides.
impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        match self.others.len() {
            0 => Ok(()),
            1 => f.write_str(" (and 1 other fault)"),
            n => write!(f, " (and {n} other faults)"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)?;
        if !self.field.is_empty() {
            write!(f, ", {}", self.field)?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl Error for InvalidPolicy {}

impl Error for Fault {}
