//! The scan of TrialDesignBench 1.7.0, to the letter: the same records from the same trajectory.
//!
//! It is kept apart from this crate's own judgement. What it takes for a violation and what not is its own.

use serde::Serialize;

use super::json::{self, Json, quote};
use crate::Malformed;

mod patterns;

/// A record of TrialDesignBench's `grade.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkViolation {
    /// The schema that the record follows.
    pub schema_version: &'static str,
    /// The step, counted from 0.
    pub step_index: usize,
    /// The step's own name, a number or a text.
    pub step_id: Option<serde_json::Value>,
    /// The tool.
    pub tool_name: String,
    /// What was found.
    pub reason: String,
    /// The place, 300 characters at most.
    pub excerpt: String,
}

/// Names of web tools, in lower case.
const WEB_TOOLS: [&str; 6] =
    ["websearch", "webfetch", "web_search_call", "google_web_search", "web_search", "web_fetch"];

/// Parts of the names of tools that run commands.
const SHELL_HINTS: [&str; 5] = ["bash", "shell", "exec", "terminal", "command"];

const EXCERPT: usize = 300;

/// Scans a trajectory in ATIF.
pub fn scan(file: &str, bytes: &[u8]) -> Result<Vec<NetworkViolation>, Malformed> {
    let text = str::from_utf8(bytes)
        .map_err(|error| Malformed::at(file, bytes, error.valid_up_to(), "not UTF-8 text"))?;
    let value = json::parse(text).map_err(|fault| Malformed::at(file, bytes, fault.at, fault.what))?;
    if !value.is_table() {
        return Err(Malformed::whole(file, "no JSON object, which a trajectory in ATIF is"));
    }
    let Some(Json::List(steps)) = value.get("steps") else {
        return Err(Malformed::whole(file, "no list `steps`, which a trajectory in ATIF has"));
    };
    let mut found = Vec::new();
    for (index, step) in steps.iter().enumerate().filter(|(_, step)| step.is_table()) {
        let calls = match step.get("tool_calls") {
            Some(Json::List(calls)) => calls.as_slice(),
            Some(value @ (Json::Boolean(_) | Json::Number(_))) if value.says_something() => {
                return Err(Malformed::whole(file, format!("steps[{index}].tool_calls is no list")));
            }
            _ => &[],
        };
        for call in calls.iter().filter(|call| call.is_table()) {
            one(call, index, step_id(step), &mut found);
        }
    }
    Ok(found)
}

fn step_id(step: &Json<'_>) -> Option<serde_json::Value> {
    match step.get("step_id")? {
        Json::Text(text) => Some(text.as_ref().into()),
        Json::Number(number) => serde_json::from_str(number).ok(),
        _ => None,
    }
}

fn one(call: &Json<'_>, index: usize, step_id: Option<serde_json::Value>, found: &mut Vec<NetworkViolation>) {
    let name =
        ["function_name", "name"].iter().find_map(|key| call.get(key).filter(|name| name.says_something()));
    let tool = match name {
        Some(Json::Text(text)) => text.to_string(),
        Some(Json::Boolean(true)) => "True".into(),
        Some(other) => python(other),
        None => String::new(),
    };
    let mut add = |reason: String, excerpt: &str| {
        found.push(NetworkViolation {
            schema_version: "1",
            step_index: index,
            step_id: step_id.clone(),
            tool_name: tool.clone(),
            reason,
            excerpt: excerpt.chars().take(EXCERPT).collect(),
        });
    };
    let none = Json::Null;
    let arguments = call.get("arguments").unwrap_or(&none);
    let lower = tool.to_lowercase();
    if WEB_TOOLS.contains(&lower.as_str()) {
        return add("web tool call".into(), &python(arguments));
    }
    let mut texts = Vec::new();
    collect(arguments, &mut texts);
    let mut urls: Vec<&str> = texts.iter().flat_map(|text| patterns::urls(text)).collect();
    if !urls.is_empty() {
        urls.sort_unstable();
        urls.dedup();
        add("URL in tool arguments".into(), &urls.join(", "));
    }
    if SHELL_HINTS.iter().any(|hint| lower.contains(hint)) {
        for text in &texts {
            for (label, place) in patterns::commands(text) {
                let start = back(text, place.start, 60);
                let end = forth(text, place.end, 120);
                add(format!("network command: {label}"), text.get(start..end).unwrap_or_default());
            }
        }
    }
}

/// So many characters before a place.
fn back(text: &str, at: usize, count: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.char_indices().rev().take(count).last().map_or(at, |(start, _)| start)
}

/// So many characters after a place.
fn forth(text: &str, at: usize, count: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    after.char_indices().nth(count).map_or(text.len(), |(end, _)| at + end)
}

/// The texts in a value. Of a field that stands twice the second counts, in the first one's place.
fn collect<'v>(value: &'v Json<'_>, texts: &mut Vec<&'v str>) {
    match value {
        Json::Text(text) => texts.push(text),
        Json::List(items) => items.iter().for_each(|item| collect(item, texts)),
        Json::Table(_) => dictionary(value).into_iter().for_each(|(_, value)| collect(value, texts)),
        _ => {}
    }
}

/// The fields as Python's `dict` keeps them.
fn dictionary<'v, 'a>(value: &'v Json<'a>) -> Vec<(&'v str, &'v Json<'a>)> {
    let mut places = std::collections::HashMap::new();
    let mut fields: Vec<(&str, &Json<'a>)> = Vec::new();
    for (key, value) in value.fields() {
        match places.get(key.as_ref()).and_then(|place: &usize| fields.get_mut(*place)) {
            Some(field) => field.1 = value,
            None => {
                places.insert(key.as_ref(), fields.len());
                fields.push((key, value));
            }
        }
    }
    fields
}

/// A value as Python's `json.dumps(value, ensure_ascii=False)` writes it; not much more than what an excerpt needs.
fn python(value: &Json<'_>) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Json<'_>, out: &mut String) {
    // Four bytes for each character: what comes after can't be in the excerpt.
    if out.len() > EXCERPT * 4 {
        return;
    }
    match value {
        Json::Null => out.push_str("null"),
        Json::Boolean(true) => out.push_str("true"),
        Json::Boolean(false) => out.push_str("false"),
        Json::Number(text) => out.push_str(&number(text)),
        Json::Text(text) => quote(&mut text.chars().take(EXCERPT), out),
        Json::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Table(_) => {
            out.push('{');
            for (index, (key, value)) in dictionary(value).into_iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                quote(&mut key.chars(), out);
                out.push_str(": ");
                write(value, out);
            }
            out.push('}');
        }
    }
}

/// A number as Python gives it back: whole ones as they are, others in their shortest form.
fn number(text: &str) -> String {
    if !text.contains(['.', 'e', 'E']) {
        return if text == "-0" { "0".into() } else { text.to_owned() };
    }
    let value: f64 = text.parse().unwrap_or(f64::NAN);
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".into() } else { "-Infinity".into() };
    }
    let scientific = format!("{value:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { format!("{plain}.0") };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_python_writes_them() {
        for (text, written) in [
            ("1.0", "1.0"),
            ("1e5", "100000.0"),
            ("1e16", "1e+16"),
            ("1.5e-7", "1.5e-07"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("0.0001", "0.0001"),
            ("123456789012345678901", "123456789012345678901"),
        ] {
            assert_eq!(number(text), written, "{text}");
        }
    }
}
