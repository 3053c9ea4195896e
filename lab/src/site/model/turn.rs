//! What the model does in its turn.

use serde_json::Value;

use super::shape;

/// What it says when nobody tells it what.
pub(super) const WORDS: [&str; 4] = ["Hello", " from", " the", " lab."];
/// How a prompt makes it call a tool.
const CALL: &str = "@@call ";

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
    /// Its turn in this conversation, in which a tool has answered or none has yet; `wanted` is the form that an answer
    /// must have.
    pub(super) fn of(conversation: Option<&Value>, answered: bool, wanted: Option<&Value>) -> Self {
        if let Some(schema) = wanted {
            return Turn::Say(vec![shape::example(schema).to_string()]);
        }
        match conversation.and_then(directive) {
            Some((tool, with)) if !answered => Turn::Call { tool, with },
            _ => Turn::Say(WORDS.map(str::to_owned).to_vec()),
        }
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
fn directive(value: &Value) -> Option<(String, Value)> {
    match value {
        Value::String(text) => in_text(text),
        Value::Array(items) => items.iter().rev().find_map(directive),
        Value::Object(fields) => fields.values().rev().find_map(directive),
        _ => None,
    }
}

fn in_text(text: &str) -> Option<(String, Value)> {
    let (_, rest) = text.rsplit_once(CALL)?;
    let (tool, rest) = rest.split_once(char::is_whitespace)?;
    let with = serde_json::Deserializer::from_str(rest).into_iter().next()?.ok()?;
    Some((tool.to_owned(), with))
}
