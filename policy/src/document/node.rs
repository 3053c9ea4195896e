//! A value of a document, with the place where it stands.

/// A value.
#[derive(Debug)]
pub(super) struct Node {
    /// Offset of its first byte.
    pub(super) at: usize,
    pub(super) value: Value,
}

/// What a policy document is made of; whatever else TOML and JSON have is [`Value::Other`].
#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    List(Vec<Node>),
    Table(Vec<(Key, Node)>),
    /// The name of a type that no field has.
    Other(&'static str),
}

/// A key of a table.
#[derive(Debug)]
pub(super) struct Key {
    /// Offset of its first byte.
    pub(super) at: usize,
    pub(super) text: String,
}

/// No field lies deeper than `phase.agent.allow[0]`, so deeper values are not looked at and can't exhaust a stack.
pub(super) const DEEPEST: usize = 8;

impl Value {
    /// The type, for people.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(kind) => kind,
        }
    }
}
