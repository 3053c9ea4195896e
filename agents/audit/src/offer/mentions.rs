//! Names of web tools in places that are not read as offers: what catches the hiding place that nobody has met yet.

use serde_json::Value;

use super::{DEEPEST, How, Offer};

/// Looks for the names in all of a request.
pub(super) fn read(offer: &mut Offer, number: usize, body: &Value, names: &[&str]) {
    for name in names.iter().filter(|name| is_telling(name)) {
        if is_named(body, name, DEEPEST) && !offer.tools.iter().any(|tool| tool.name == **name) {
            offer.add(name, How::Mentioned, false, Some(number));
        }
    }
}

/// Whether a name can only be that of a tool. `browser` is a word of any text.
fn is_telling(name: &str) -> bool {
    let has_capital_inside = name.chars().skip(1).any(|c| c.is_ascii_uppercase());
    !name.contains(' ') && (name.contains('_') || has_capital_inside || name.starts_with("web"))
}

fn is_named(value: &Value, name: &str, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return false };
    match value {
        Value::String(text) => has_word(text, name),
        Value::Array(items) => items.iter().any(|item| is_named(item, name, below)),
        Value::Object(fields) => {
            fields.iter().any(|(key, field)| has_word(key, name) || is_named(field, name, below))
        }
        _ => false,
    }
}

/// The name with nothing before or after it that belongs to a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}
