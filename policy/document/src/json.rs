//! JSON to tree.
//!
//! serde_json does the parsing. It keeps no positions, but its raw values borrow from the source, so where one
//! begins follows from where it lies in memory. One level is read at a time.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{DEEPEST, Key, Node, Unreadable, Value};

type Outcome<T> = Result<T, Unreadable>;

pub(crate) fn parse(source: &str) -> Outcome<Node> {
    let raw: &RawValue = serde_json::from_str(source).map_err(|error| syntax(source, &error))?;
    node(source, raw, 0)
}

fn node(source: &str, raw: &RawValue, depth: usize) -> Outcome<Node> {
    let text = raw.get();
    let at = offset(source, text);
    // The whole source was scanned above, so only the escapes of a string can still be wrong.
    let fault = |error: serde_json::Error| Unreadable::wrong(at, message(&error));
    let value = match text.as_bytes() {
        [b'"', ..] => Value::Text(serde_json::from_str(text).map_err(fault)?),
        [b'[' | b'{', ..] if depth > DEEPEST => Value::Other("a deeply nested value"),
        [b'[', ..] => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(fault)?;
            Value::List(items.into_iter().map(|item| node(source, item, depth + 1)).collect::<Outcome<_>>()?)
        }
        [b'{', ..] => {
            let Fields(fields) = serde_json::from_str(text).map_err(fault)?;
            Value::Table(
                fields
                    .into_iter()
                    .map(|(key, value)| Ok((self::key(source, key)?, node(source, value, depth + 1)?)))
                    .collect::<Outcome<_>>()?,
            )
        }
        [b't', ..] => Value::Boolean(true),
        [b'f', ..] => Value::Boolean(false),
        [b'n', ..] => Value::Null,
        _ => match serde_json::from_str::<i64>(text) {
            Ok(integer) => Value::Integer(integer),
            Err(_) => Value::Other("a number that is not a small integer"),
        },
    };
    Ok(Node { at, value })
}

fn key(source: &str, raw: &RawValue) -> Outcome<Key> {
    let at = offset(source, raw.get());
    let text = serde_json::from_str(raw.get()).map_err(|error| Unreadable::wrong(at, message(&error)))?;
    Ok(Key { at, text })
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

fn syntax(source: &str, error: &serde_json::Error) -> Unreadable {
    let line_start: usize =
        source.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let at = (line_start + error.column().saturating_sub(1)).min(source.len());
    Unreadable::wrong(at, message(error))
}

/// The text without the place that it ends with: the fault names the place in the whole document.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}
