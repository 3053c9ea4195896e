//! What is answered when something can't be done: JSON-RPC's own codes, and those of closedbook.

use serde_json::{Map, Value, json};

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal $word:literal,)+) => {
        /// The closed list of what can be wrong. Each has one stable word and one code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Word {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Word {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Word] = &[$(Word::$variant),+];

            /// The stable word: `error.data.word`.
            pub fn word(self) -> &'static str {
                match self { $(Word::$variant => $word),+ }
            }

            /// The code: `error.code`.
            pub fn code(self) -> i64 {
                match self { $(Word::$variant => $code),+ }
            }
        }
    };
}

words! {
    /// The line is no JSON.
    ParseError = -32700 "parse-error",
    /// The line is JSON and no request.
    InvalidRequest = -32600 "invalid-request",
    /// The line is longer than the method may have.
    LineTooLong = -32600 "line-too-long",
    /// An array of requests.
    BatchNotServed = -32600 "batch-not-served",
    /// There is no such method.
    UnknownMethod = -32601 "unknown-method",
    /// The method has no such parameters.
    InvalidParams = -32602 "invalid-params",
    /// A fault of closedbook, or it is ending.
    Internal = -32603 "internal",
    /// The process at the other end belongs to another user.
    NotPermitted = -32001 "not-permitted",
    /// The policy has no such phase.
    UnknownPhase = -32002 "unknown-phase",
    /// The ratchet does not let it through.
    WideningRefused = -32003 "widening-refused",
    /// The document is no policy.
    InvalidPolicy = -32004 "invalid-policy",
    /// The policy lacks the phase in force.
    PhaseMissing = -32005 "phase-missing",
    /// This client follows the log already.
    AlreadyFollowing = -32006 "already-following",
}

/// Something that can't be done, and why. Nothing has changed by it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    word: Word,
    message: String,
    data: Map<String, Value>,
}

impl Fault {
    /// With its message for people.
    pub(super) fn new(word: Word, message: impl Into<String>) -> Self {
        Self { word, message: message.into(), data: Map::new() }
    }

    /// Adds something for programs.
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    /// What it is.
    #[cfg(test)]
    pub(super) fn word(&self) -> Word {
        self.word
    }

    /// The error object.
    pub(super) fn into_json(self) -> Value {
        let Self { word, message, mut data } = self;
        data.insert("word".to_owned(), word.word().into());
        json!({ "code": word.code(), "message": message, "data": data })
    }
}
