//! Values as the files that Harbor writes. Their order is kept: some CLIs read rules in it.

use closedbook_document::{Node, Value};
use serde_json::json;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tree {
    /// Text, a number, a boolean, nothing.
    Plain(serde_json::Value),
    List(Vec<Tree>),
    Table(Table),
}

/// A table in its order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Table(Vec<(String, Tree)>);

impl Tree {
    pub(super) fn of(node: &Node) -> Self {
        match &node.value {
            Value::Text(text) => Self::Plain(json!(text)),
            Value::Integer(integer) => Self::Plain(json!(integer)),
            Value::Boolean(boolean) => Self::Plain(json!(boolean)),
            Value::Null | Value::Other(_) => Self::Plain(serde_json::Value::Null),
            Value::List(items) => Self::List(items.iter().map(Self::of).collect()),
            Value::Table(fields) => {
                let mut table = Table::default();
                for (key, value) in fields {
                    table.insert(&key.text, Self::of(value));
                }
                Self::Table(table)
            }
        }
    }

    pub(super) fn is_null(&self) -> bool {
        *self == Self::Plain(serde_json::Value::Null)
    }

    /// The value as JSON.
    pub(super) fn json(&self) -> String {
        match self {
            Self::Plain(value) => value.to_string(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::json).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(table) => table.json(),
        }
    }

    fn toml(&self) -> String {
        match self {
            Self::Plain(serde_json::Value::String(string)) => text(string),
            Self::Plain(value) => value.to_string(),
            Self::List(items) => {
                let items = items.iter().filter(|item| !item.is_null()).map(Self::toml);
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Self::Table(Table(fields)) => {
                let fields = fields.iter().filter(|(_, value)| !value.is_null());
                let fields = fields.map(|(key, value)| format!("{} = {}", text(key), value.toml()));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl From<serde_json::Value> for Tree {
    fn from(value: serde_json::Value) -> Self {
        match value {
            serde_json::Value::Array(items) => Self::List(items.into_iter().map(Self::from).collect()),
            serde_json::Value::Object(fields) => {
                Self::Table(Table(fields.into_iter().map(|(key, value)| (key, value.into())).collect()))
            }
            plain => Self::Plain(plain),
        }
    }
}

impl Table {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets a field, in its old place if there is one.
    pub(super) fn insert(&mut self, key: &str, value: impl Into<Tree>) {
        let value = value.into();
        match self.0.iter_mut().find(|(found, _)| found == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Tree> {
        let at = self.0.iter().position(|(found, _)| found == key)?;
        Some(self.0.remove(at).1)
    }

    /// Lays another table over this one, deep.
    pub(super) fn merge(&mut self, over: &Tree) {
        let Tree::Table(Self(fields)) = over else { return };
        for (key, value) in fields {
            match self.0.iter_mut().find(|(found, _)| found == key) {
                Some((_, Tree::Table(inner))) if matches!(value, Tree::Table(_)) => inner.merge(value),
                _ => self.insert(key, value.clone()),
            }
        }
    }

    /// The table as JSON, one line a field.
    pub(super) fn json(&self) -> String {
        let fields = self.0.iter().map(|(key, value)| format!("{}: {}", json!(key), value.json()));
        format!("{{{}}}", fields.collect::<Vec<_>>().join(",\n"))
    }

    /// The table as a TOML document. TOML has no null, so fields without a value are left out.
    pub(super) fn toml(&self) -> String {
        let fields = self.0.iter().filter(|(_, value)| !value.is_null());
        fields.map(|(key, value)| format!("{} = {}\n", text(key), value.toml())).collect()
    }
}

/// A basic string. JSON's escapes are TOML's too, but TOML wants one for DEL.
fn text(string: &str) -> String {
    json!(string).to_string().replace('\u{7f}', "\\u007f")
}
