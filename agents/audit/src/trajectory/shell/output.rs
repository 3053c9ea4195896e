//! What is known of a program's output, so far as it matters to what reads it.

use super::super::hosts::UNKNOWN;
use super::LONGEST_VALUE;

/// What the scan knows of a program's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// This text.
    Text(String),
    /// Something.
    Unknown,
    /// Something that was decoded or unpacked, so that it can't be read here.
    Decoded,
}

impl Output {
    pub(crate) fn none() -> Self {
        Output::Text(String::new())
    }

    pub(super) fn append(self, more: Output) -> Output {
        match (self, more) {
            (Output::Text(mut text), Output::Text(more)) => {
                if text.len() + more.len() > LONGEST_VALUE {
                    return Output::Unknown;
                }
                text.push_str(&more);
                Output::Text(text)
            }
            (Output::Decoded, _) | (_, Output::Decoded) => Output::Decoded,
            _ => Output::Unknown,
        }
    }

    /// The text, with a mark for what is unknown.
    pub(super) fn or_mark(self) -> String {
        match self {
            Output::Text(text) => text,
            _ => UNKNOWN.to_string(),
        }
    }
}
