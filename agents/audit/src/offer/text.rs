//! Tools that are kept back: named in a text of the conversation, with the tool that loads or calls them in the list.

use serde_json::Value;

use super::inside::is_identifier;
use super::{DEEPEST, How, Offer, string};

/// The tools that load or call the others.
const LOADERS: [&str; 3] = ["ToolSearch", "tool_search", "tool_call"];

/// Claude Code: a sentence, and after its line the names, one each, to an empty line.
const CLAUDE: &str = "deferred tools are now available";
/// Claude Code, earlier: the same between tags.
const CLAUDE_TAGS: (&str, &str) = ("<available-deferred-tools>", "</available-deferred-tools>");
/// Qwen Code: a sentence, and after it items with the name in quotes.
const QWEN: &str = "tools are reachable through `tool_search`";
const QWEN_END: &str = "</system-reminder>";

/// Reads all texts of a request.
pub(super) fn read(offer: &mut Offer, number: usize, body: &Value) {
    let mut texts = Vec::new();
    for field in ["system", "systemInstruction", "instructions", "messages", "input", "contents"] {
        match body.get(field) {
            Some(value) => collect(value, DEEPEST, &mut texts),
            None => continue,
        }
    }
    let mut lists = 0;
    for text in texts {
        for names in [claude(text), tagged(text), qwen(text)].into_iter().flatten() {
            lists += 1;
            if names.is_empty() {
                offer.unread(
                    Some(number),
                    "a text says that tools are kept back, and names none that could be read",
                );
            }
            for name in names {
                offer.add(name, How::Deferred, false, Some(number));
            }
        }
    }
    if let Some(loader) = loader(offer, number).filter(|_| lists == 0) {
        let why =
            format!("{loader} loads tools that are kept back, and no text that could be read names them");
        offer.unread(Some(number), why);
    }
}

/// The loader that this very request declares.
fn loader(offer: &Offer, number: usize) -> Option<String> {
    let mut here = offer.tools.iter().filter(|tool| tool.request == Some(number));
    here.find(|tool| LOADERS.contains(&tool.name.as_str())).map(|tool| tool.name.clone())
}

fn claude(text: &str) -> Option<Vec<&str>> {
    let at = find_ignoring_case(text, CLAUDE)?;
    let (_, rest) = text.get(at..)?.split_once('\n')?;
    Some(rest.lines().map(str::trim).take_while(|line| is_identifier(line)).collect())
}

fn tagged(text: &str) -> Option<Vec<&str>> {
    let (_, rest) = text.split_once(CLAUDE_TAGS.0)?;
    let (inner, _) = rest.split_once(CLAUDE_TAGS.1).unwrap_or((rest, ""));
    Some(inner.lines().map(str::trim).filter(|line| is_identifier(line)).collect())
}

fn qwen(text: &str) -> Option<Vec<&str>> {
    let at = text.find(QWEN)?;
    let rest = text.get(at..)?;
    let (inner, _) = rest.split_once(QWEN_END).unwrap_or((rest, ""));
    let items = inner.lines().filter_map(|line| line.trim().strip_prefix("- \"")?.split_once('"'));
    Some(items.map(|(name, _)| name).filter(|name| is_identifier(name)).collect())
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    // Lower-casing ASCII alone keeps every offset.
    text.to_ascii_lowercase().find(what)
}

/// All strings below, but for the names of fields.
fn collect<'a>(value: &'a Value, depth: usize, into: &mut Vec<&'a str>) {
    let Some(below) = depth.checked_sub(1) else { return };
    match value {
        Value::String(text) => into.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, below, into)),
        // What a tool answered is data, but a list of kept-back tools that comes with it is no less real.
        Value::Object(fields) => {
            let is_tool_list = string(value, "type") == Some("additional_tools");
            fields.values().filter(|_| !is_tool_list).for_each(|field| collect(field, below, into));
        }
        _ => {}
    }
}
