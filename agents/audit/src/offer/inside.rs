//! Tools inside a tool: one that runs a program in which the others are functions.

use serde_json::Value;

use super::{How, Offer, reach, string};

/// What says that a description has other tools in it (Codex's code mode).
const HAS_OTHERS: &str = "global `tools` object";
/// What says that it does not name them all.
const NOT_ALL: &str = "deferred nested tools may be omitted";
/// Before the signature of one of them.
const DECLARED: &str = "declare const tools: {";
/// Before its heading.
const HEADING: &str = "### `";
/// Before its name in a program.
const CALLED: &str = "tools.";

/// Reads the description of a tool.
pub(super) fn description(offer: &mut Offer, number: usize, tool: &str, text: &str) {
    let declared = names_after(text, DECLARED, '(');
    let headed = names_after(text, HEADING, '`');
    // Programs in the text may be examples, whose tools need not be there; those that reach the web are no examples.
    let called = names_after(text, CALLED, '(').into_iter().filter(|name| reach::sounds_like_web(name));
    let has_others = text.contains(HAS_OTHERS) || !declared.is_empty();
    if !has_others {
        return;
    }
    let found: Vec<&str> = declared.into_iter().chain(headed).chain(called).collect();
    if found.is_empty() {
        offer.unread(
            Some(number),
            format!("{tool} has tools inside, and its description names none that could be read"),
        );
    }
    for name in found {
        offer.add(name, How::InsideAnother, false, Some(number));
    }
    if text.contains(NOT_ALL) {
        offer.unread(Some(number), unlisted(tool));
    }
}

/// Reads what a tool answered: a list of all that are inside, where that was asked for.
pub(super) fn output(offer: &mut Offer, number: usize, item: &Value) {
    let texts = match item.get("output") {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| string(part, "text")).collect(),
        _ => return,
    };
    for text in texts {
        let Some(names) = text.find("[{").and_then(|start| listed(text.get(start..)?)) else { continue };
        for name in names {
            offer.add(&name, How::InsideAnother, false, Some(number));
        }
        // All are known now.
        offer.unread.retain(|unread| !unread.why.ends_with(UNLISTED));
    }
}

/// A list of `{name, description}`, and nothing else in it.
fn listed(text: &str) -> Option<Vec<String>> {
    let list: Value = serde_json::Deserializer::from_str(text).into_iter().next()?.ok()?;
    let named = |tool: &Value| string(tool, "description").and(string(tool, "name")).map(str::to_owned);
    list.as_array()?.iter().map(named).collect()
}

const UNLISTED: &str = "has tools inside that its description leaves out";

fn unlisted(tool: &str) -> String {
    format!("{tool} {UNLISTED}")
}

/// The identifiers between `before` and `end`, spaces passed over.
fn names_after<'a>(text: &'a str, before: &str, end: char) -> Vec<&'a str> {
    let rest = text.split(before).skip(1);
    let name = |rest: &'a str| rest.trim_start().split_once(end).map(|(name, _)| name.trim());
    rest.filter_map(name).filter(|name| is_identifier(name)).collect()
}

/// A name that tools have.
pub(super) fn is_identifier(name: &str) -> bool {
    const LONGEST: usize = 128;
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    !name.is_empty() && name.len() <= LONGEST && name.chars().all(fits)
}
