//! TOML to tree.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::{DEEPEST, Key, Node, Syntax, Unreadable, Value};

pub(crate) fn parse(source: &str) -> Result<Node, Unreadable> {
    match DeTable::parse(source) {
        Ok(root) => Ok(Node { at: 0, value: table(root.into_inner(), 0) }),
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let what = match (error.message(), source.get(span.clone())) {
                ("duplicate key", Some(key)) => Syntax::Duplicate(key.to_owned()),
                (message, _) => Syntax::Wrong(message.trim().replace('\n', ", ")),
            };
            Err(Unreadable { at: span.start, what })
        }
    }
}

fn table(table: DeTable<'_>, depth: usize) -> Value {
    let mut fields: Vec<_> = table
        .into_iter()
        .map(|(key, value)| {
            let at = key.span().start;
            (Key { at, text: Cow::into_owned(key.into_inner()) }, node(value, depth + 1))
        })
        .collect();
    // Faults come in the order of the file; the parser's map has its own.
    fields.sort_by_key(|(key, _)| key.at);
    Value::Table(fields)
}

fn node(spanned: Spanned<DeValue<'_>>, depth: usize) -> Node {
    let at = spanned.span().start;
    let value = match spanned.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
            .map_or(Value::Other("a huge integer"), Value::Integer),
        DeValue::Float(_) => Value::Other("a float"),
        DeValue::Boolean(value) => Value::Boolean(value),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(_) | DeValue::Table(_) if depth > DEEPEST => Value::Other("a deeply nested value"),
        DeValue::Array(items) => Value::List(items.into_iter().map(|item| node(item, depth + 1)).collect()),
        DeValue::Table(fields) => table(fields, depth),
    };
    Node { at, value }
}
