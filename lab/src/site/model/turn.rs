//! What the model does in its turn.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;

use super::shape;

/// What it says when nobody tells it what.
pub(super) const WORDS: [&str; 4] = ["Hello", " from", " the", " lab."];
/// How a prompt makes it call a tool.
const CALL: &str = "@@call ";
/// How a prompt makes it look for tools that it has not been told of.
const MORE_TOOLS: &str = "@@more-tools";

/// Calls in one conversation. A client that forgets them would have the model call for ever.
const MOST_CALLS: usize = 10;

/// What the model is told.
#[derive(Debug, Default)]
pub(super) struct Talk<'a> {
    /// What was said so far.
    pub(super) conversation: Option<&'a Value>,
    /// How many tools have answered.
    pub(super) answers: usize,
    /// The form that an answer must have.
    pub(super) wanted: Option<&'a Value>,
    /// How it would find more tools than it was told of; none if it has tried all ways.
    pub(super) finder: Option<Turn>,
}

/// A turn of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Turn {
    /// It says this, in pieces, and is done.
    Say(Vec<String>),
    /// It calls a tool.
    Call {
        /// The tool's name. `a.b` is the tool b of a namespace a, where the protocol has such.
        tool: String,
        /// What it is called with.
        with: Value,
    },
}

impl Turn {
    /// Its turn in this conversation.
    pub(super) fn of(talk: Talk<'_>) -> Self {
        if let Some(schema) = talk.wanted {
            return Turn::Say(vec![shape::example(schema).to_string()]);
        }
        let words = || Turn::Say(WORDS.map(str::to_owned).to_vec());
        let Some(conversation) = talk.conversation else { return words() };
        match directive(conversation, &in_text).filter(|_| talk.answers == 0) {
            Some((tool, with)) => Turn::Call { tool, with },
            None => {
                let finder = talk.finder.filter(|_| talk.answers < MOST_CALLS);
                finder.filter(|_| directive(conversation, &asks_for_more).is_some()).unwrap_or_else(words)
            }
        }
    }

    /// An id that no other answer has: clients take two calls of one id for the same.
    pub(super) fn fresh_id(prefix: &str) -> String {
        static LAST: AtomicU64 = AtomicU64::new(0);
        format!("{prefix}_lab{}", LAST.fetch_add(1, Ordering::Relaxed))
    }

    /// What it says, in one piece; nothing if it calls.
    pub(super) fn text(&self) -> String {
        match self {
            Turn::Say(pieces) => pieces.concat(),
            Turn::Call { .. } => String::new(),
        }
    }
}

/// The last directive in any text of it.
fn directive<T>(value: &Value, find: &impl Fn(&str) -> Option<T>) -> Option<T> {
    match value {
        Value::String(text) => find(text),
        Value::Array(items) => items.iter().rev().find_map(|item| directive(item, find)),
        Value::Object(fields) => fields.values().rev().find_map(|field| directive(field, find)),
        _ => None,
    }
}

fn asks_for_more(text: &str) -> Option<()> {
    text.contains(MORE_TOOLS).then_some(())
}

fn in_text(text: &str) -> Option<(String, Value)> {
    let (_, rest) = text.rsplit_once(CALL)?;
    let (tool, rest) = rest.split_once(char::is_whitespace)?;
    let with = serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()?;
    Some((tool.to_owned(), with))
}
