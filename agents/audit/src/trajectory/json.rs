//! JSON as transcripts hold it.
//!
//! Not serde_json's tree, for three reasons: fields keep their order and their duplicates (a second field of the same
//! name must not hide the first), half a surrogate pair is read as U+FFFD and not refused (programs that cut texts by
//! UTF-16 units write them), and texts without escapes are borrowed, so that a large transcript is not copied.

use std::borrow::Cow;

mod parse;

pub(crate) use parse::parse;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Boolean(bool),
    /// As it stands in the text.
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Table(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// A field; the last of several with the same name, as most readers have it.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        self.fields().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The first of these fields that is there and not null.
    pub(crate) fn first(&self, keys: &[&str]) -> Option<&Json<'a>> {
        keys.iter().find_map(|key| self.get(key).filter(|value| **value != Json::Null))
    }

    /// A text field.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    /// The first of these fields that is a text.
    pub(crate) fn first_text(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.text(key))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Json::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> &[Json<'a>] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn fields(&self) -> &[(Cow<'a, str>, Json<'a>)] {
        match self {
            Json::Table(fields) => fields,
            _ => &[],
        }
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self, Json::Table(_))
    }

    /// Neither null nor empty, false or zero.
    pub(crate) fn says_something(&self) -> bool {
        match self {
            Json::Null => false,
            Json::Boolean(value) => *value,
            Json::Number(_) => self.as_number() != Some(0.0),
            Json::Text(text) => !text.is_empty(),
            Json::List(items) => !items.is_empty(),
            Json::Table(fields) => !fields.is_empty(),
        }
    }
}

/// As people read it: a text as it is, anything else as JSON.
pub(crate) fn shown(value: &Json<'_>, longest: usize) -> String {
    let mut out = String::new();
    match value {
        Json::Text(text) => out.extend(text.chars().take(longest)),
        value => {
            write(value, &mut out, longest.saturating_mul(4));
            if out.chars().count() > longest {
                out = out.chars().take(longest).collect();
            }
        }
    }
    out
}

/// Appends compact JSON, and stops soon after so many bytes.
fn write(value: &Json<'_>, out: &mut String, longest: usize) {
    if out.len() >= longest {
        return;
    }
    match value {
        Json::Null => out.push_str("null"),
        Json::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Json::Number(text) => out.push_str(text),
        Json::Text(text) => quote(&mut text.chars().take(longest), out),
        Json::List(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write(item, out, longest);
                if out.len() >= longest {
                    break;
                }
            }
            out.push(']');
        }
        Json::Table(fields) => {
            out.push('{');
            for (i, (key, value)) in fields.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                quote(&mut key.chars(), out);
                out.push_str(": ");
                write(value, out, longest);
                if out.len() >= longest {
                    break;
                }
            }
            out.push('}');
        }
    }
}

/// A JSON string, with nothing escaped but what must be.
pub(crate) fn quote(text: &mut dyn Iterator<Item = char>, out: &mut String) {
    out.push('"');
    for c in text {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
