//! JSON to tree.
//!
//! serde_json does the parsing. It keeps no positions, but its raw values borrow from the source, so where one
//! begins follows from where it lies in memory. One level is read at a time.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::FaultKind;
use super::node::{DEEPEST, Key, Node, Value};

type Outcome<T> = Result<T, (usize, FaultKind)>;

pub(super) fn parse(source: &str) -> Outcome<Node> {
    let raw: &RawValue = serde_json::from_str(source).map_err(|error| syntax(source, &error))?;
    node(source, raw, 0)
}

fn node(source: &str, raw: &RawValue, depth: usize) -> Outcome<Node> {
    let text = raw.get();
    let at = offset(source, text);
    // The whole source was scanned above, so only the escapes of a string can still be wrong.
    let fault = |error: serde_json::Error| (at, FaultKind::Syntax(message(&error)));
    let value = match text.as_bytes() {
        [b'"', ..] => Value::Text(serde_json::from_str(text).map_err(fault)?),
        [b'[' | b'{', ..] if depth > DEEPEST => Value::Other("a deeply nested value"),
        [b'[', ..] => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(fault)?;
            Value::List(items.into_iter().map(|item| node(source, item, depth + 1)).collect::<Outcome<_>>()?)
        }
        [b'{', ..] => {
            let Fields(fields) = serde_json::from_str(text).map_err(fault)?;
            Value::Table(table(source, fields, depth)?)
        }
        [b't' | b'f', ..] => Value::Other("a boolean"),
        [b'n', ..] => Value::Other("null"),
        _ => match serde_json::from_str::<i64>(text) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Other("a number that is not a small integer"),
        },
    };
    Ok(Node { at, value })
}

fn table<'a>(
    source: &str,
    fields: Vec<(&'a RawValue, &'a RawValue)>,
    depth: usize,
) -> Outcome<Vec<(Key, Node)>> {
    let mut table: Vec<(Key, Node)> = Vec::with_capacity(fields.len());
    let mut seen = std::collections::HashSet::new();
    for (key, value) in fields {
        let at = offset(source, key.get());
        let text: String =
            serde_json::from_str(key.get()).map_err(|error| (at, FaultKind::Syntax(message(&error))))?;
        // JSON leaves open which of two equal keys counts (RFC 8259 section 4): here neither does.
        if !seen.insert(text.clone()) {
            return Err((at, FaultKind::Duplicate(text)));
        }
        table.push((Key { at, text }, node(source, value, depth + 1)?));
    }
    Ok(table)
}

/// The fields of an object as they stand, duplicates too.
struct Fields<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

fn offset(source: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(source.as_ptr() as usize).min(source.len())
}

fn syntax(source: &str, error: &serde_json::Error) -> (usize, FaultKind) {
    let line_start: usize =
        source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line_start + error.column().saturating_sub(1)).min(source.len());
    (at, FaultKind::Syntax(message(error)))
}

/// The text without the place that it ends with: the fault names the place in the whole document.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
