//! Why a text is no document.

use thiserror::Error;

/// A text that can't be read, and the place where that was found.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what}")]
pub struct Unreadable {
    /// Offset of the byte.
    pub at: usize,
    /// What is wrong there.
    pub what: Syntax,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Syntax {
    /// Not the syntax that it should be.
    #[error("{0}")]
    Wrong(String),
    /// A key that stands twice in one table.
    #[error("the key {0:?} stands here a second time")]
    Duplicate(String),
    /// Bytes that are no UTF-8.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// Over the size limit.
    #[error("it has {length} bytes; the limit is {longest}")]
    TooLarge {
        /// The size in bytes.
        length: usize,
        /// The largest that is read.
        longest: usize,
    },
}

impl Unreadable {
    pub(crate) fn wrong(at: usize, what: impl Into<String>) -> Self {
        Self { at, what: Syntax::Wrong(what.into()) }
    }
}
