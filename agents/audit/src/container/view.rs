//! Reading a located tree with types: what is not of its type is reported, and never taken for nothing.

use closedbook_document::{Node, Value};

use super::facts::{At, Flag, Spot};
use super::finding::{Level, Remark};
use crate::Malformed;

/// A value of the tree, and the path to it.
#[derive(Debug, Clone)]
pub(super) struct View<'a> {
    pub(super) node: &'a Node,
    pub(super) field: String,
}

impl<'a> View<'a> {
    pub(super) fn root(node: &'a Node) -> Self {
        Self { node, field: String::new() }
    }

    pub(super) fn spot(&self) -> Spot {
        Spot { at: Some(self.node.at), field: self.field.clone() }
    }

    /// Where a field would stand if it were there.
    pub(super) fn missing(&self, key: &str) -> Spot {
        Spot { at: None, field: self.join(key) }
    }

    /// The field, unless it is null.
    pub(super) fn get(&self, key: &str) -> Option<View<'a>> {
        let node = self.node.get(key).filter(|node| node.value != Value::Null)?;
        Some(View { node, field: self.join(key) })
    }

    pub(super) fn path(&self, keys: &[&str]) -> Option<View<'a>> {
        keys.iter().try_fold(self.clone(), |view, key| view.get(key))
    }

    pub(super) fn items(&self) -> impl Iterator<Item = View<'a>> + use<'a> {
        let field = self.field.clone();
        let item = move |(number, node)| View { node, field: format!("{field}[{number}]") };
        self.node.items().iter().enumerate().map(item)
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a str, View<'a>)> + use<'a> {
        let own = self.clone();
        self.node
            .fields()
            .map(move |(key, node)| (key.text.as_str(), View { node, field: own.join(&key.text) }))
    }

    /// A word, a number or a boolean, as text.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.node.value {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Boolean(boolean) => Some(boolean.to_string()),
            _ => None,
        }
    }

    fn join(&self, key: &str) -> String {
        match self.field.is_empty() {
            true => key.to_owned(),
            false => format!("{}.{key}", self.field),
        }
    }
}

/// Reads the values of one file, and keeps what is wrong with them.
pub(super) struct Reader<'a> {
    pub(super) file: &'a str,
    pub(super) source: &'a [u8],
    pub(super) malformed: Vec<Malformed>,
    /// About the container that is being read.
    pub(super) remarks: Vec<Remark>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(file: &'a str, source: &'a [u8]) -> Self {
        Self { file, source, malformed: Vec::new(), remarks: Vec::new() }
    }

    /// Says that something else should stand there.
    pub(super) fn expected(&mut self, view: &View<'_>, what: &str) {
        let kind = view.node.value.kind();
        if let Value::Other(kind) = view.node.value {
            self.remarks.push(
                Remark::new(
                    Level::Unknown,
                    "unreadable-value",
                    &view.spot(),
                    format!("{} is {kind}", view.field),
                )
                .allows("What it comes to can't be told, so it may be anything.")
                .remedy(format!("write {what} there, or give the file that the engine makes of it")),
            );
            return;
        }
        let reason = format!("{} is {kind}; {what} was expected", view.field);
        self.wrong(view.node.at, reason);
    }

    pub(super) fn wrong(&mut self, at: usize, reason: impl Into<String>) {
        self.malformed.push(Malformed::at(self.file, self.source, at, reason));
    }

    /// The text of a field.
    pub(super) fn text(&mut self, view: &View<'_>, key: &str) -> Option<At<String>> {
        let field = view.get(key)?;
        match field.scalar() {
            Some(text) => Some(At::new(text, field.spot())),
            None => {
                self.expected(&field, "a string");
                None
            }
        }
    }

    /// The texts of a list; one text alone counts as a list of one.
    pub(super) fn texts(&mut self, view: &View<'_>, key: &str) -> Vec<At<String>> {
        let Some(field) = view.get(key) else { return Vec::new() };
        if let Some(text) = field.scalar() {
            return vec![At::new(text, field.spot())];
        }
        let Value::List(_) = field.node.value else {
            self.expected(&field, "a list of strings");
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in field.items() {
            match item.scalar() {
                Some(text) => texts.push(At::new(text, item.spot())),
                None => self.expected(&item, "a string"),
            }
        }
        texts
    }

    /// The items of a list.
    pub(super) fn list<'n>(&mut self, view: &View<'n>, key: &str) -> Vec<View<'n>> {
        let Some(field) = view.get(key) else { return Vec::new() };
        let Value::List(_) = field.node.value else {
            self.expected(&field, "a list");
            return Vec::new();
        };
        field.items().collect()
    }

    /// A field that is a table.
    pub(super) fn table<'n>(&mut self, view: &View<'n>, key: &str) -> Option<View<'n>> {
        let field = view.get(key)?;
        if let Value::Table(_) = field.node.value {
            return Some(field);
        }
        self.expected(&field, "a table");
        None
    }

    /// A switch. Words count as the readers of YAML 1.1 take them.
    pub(super) fn flag(&mut self, view: &View<'_>, key: &str) -> At<Flag> {
        let Some(field) = view.get(key) else { return At::new(Flag::Unset, view.missing(key)) };
        let flag = match &field.node.value {
            Value::Boolean(true) => Flag::On,
            Value::Boolean(false) => Flag::Off,
            Value::Text(text) => match text.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "y" | "1" => Flag::On,
                "false" | "no" | "off" | "n" | "0" => Flag::Off,
                _ => Flag::Unknown(text.clone()),
            },
            other => {
                let kind = other.kind().to_owned();
                self.expected(&field, "true or false");
                Flag::Unknown(kind)
            }
        };
        At::new(flag, field.spot())
    }

    /// `KEY=VALUE` as a table or as a list.
    pub(super) fn pairs(&mut self, view: &View<'_>, key: &str) -> Vec<At<(String, Option<String>)>> {
        let Some(field) = view.get(key) else { return Vec::new() };
        let mut pairs = Vec::new();
        match field.node.value {
            Value::Table(_) => {
                for (name, value) in field.fields() {
                    let is_null = value.node.value == Value::Null;
                    let text = value.scalar();
                    if text.is_none() && !is_null {
                        self.expected(&value, "a string");
                    }
                    pairs.push(At::new((name.to_owned(), text), value.spot()));
                }
            }
            _ => {
                for item in self.texts(view, key) {
                    let pair = match item.value.split_once('=') {
                        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                        None => (item.value.clone(), None),
                    };
                    pairs.push(At::new(pair, item.spot));
                }
            }
        }
        pairs
    }
}
