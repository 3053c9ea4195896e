//! A value of a document, with the place where it stands.

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Offset of its first byte.
    pub at: usize,
    /// The value.
    pub value: Value,
}

/// What documents are made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// An integer that fits.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
    /// Nothing: JSON's and YAML's null.
    Null,
    /// A list.
    List(Vec<Node>),
    /// A table, its fields in the order of the document. JSON may name a key twice; see [`Node::get`].
    Table(Vec<(Key, Node)>),
    /// The name of another type: a float, a date, a value that lies too deep.
    Other(&'static str),
}

/// A key of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Offset of its first byte.
    pub at: usize,
    /// The key.
    pub text: String,
}

impl Node {
    /// The field of this name; the last one where a name stands twice, as JavaScript, Python and Go read it. `None` if
    /// there is none, or if this is no table.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.fields().rev().find(|(found, _)| found.text == key).map(|(_, node)| node)
    }

    /// The value at the end of a path of keys.
    pub fn at_path(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The fields of a table; nothing if this is none.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = (&Key, &Node)> {
        let fields = if let Value::Table(fields) = &self.value { fields.as_slice() } else { &[] };
        fields.iter().map(|(key, node)| (key, node))
    }

    /// The items of a list; nothing if this is none.
    pub fn items(&self) -> &[Node] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// The string that this is.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The boolean that this is.
    pub fn boolean(&self) -> Option<bool> {
        if let Value::Boolean(value) = self.value { Some(value) } else { None }
    }
}

impl Value {
    /// The type, for people.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Boolean(_) => "a boolean",
            Value::Null => "null",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}
