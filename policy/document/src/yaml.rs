//! YAML to tree, from saphyr-parser's events.
//!
//! Plain scalars mean what YAML 1.2's core schema says (section 10.3.2): `no` and `off` are strings. An alias stands for
//! a copy of what it names; how many values a document may come to by copying is bounded, so that a few lines of
//! aliases of aliases take no memory. Merge keys (`<<`) are resolved as every reader of such files does.
//!
//! A tag that YAML does not define changes what a value means to whoever defined it, so the value is not told:
//! [`Value::Other`]. The one exception is `!override` of compose files, under which the value counts as it stands.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, Tag};

use crate::{DEEPEST, Key, Node, Unreadable, Value};

/// What a document may come to, aliases copied.
const MOST: usize = 200_000;

pub(crate) fn parse(source: &str) -> Result<Node, Unreadable> {
    let mut documents = parse_all(source)?.into_iter();
    match (documents.next(), documents.next()) {
        (None, _) => Err(Unreadable::wrong(0, "there is no value in it")),
        (Some(_), Some(second)) => Err(Unreadable::wrong(second.at, "a second document begins here")),
        (Some(only), None) => Ok(only),
    }
}

/// All documents; those without a value (a `---` too many) are passed over.
pub(crate) fn parse_all(source: &str) -> Result<Vec<Node>, Unreadable> {
    let lines = std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let events = Parser::new_from_str(source);
    Reader { source, lines, events, anchors: HashMap::new(), left: MOST, last: (0, 0, 0) }.documents()
}

struct Reader<'a, P> {
    source: &'a str,
    /// Offsets at which lines begin.
    lines: Vec<usize>,
    events: P,
    anchors: HashMap<usize, Node>,
    left: usize,
    /// Line, column and offset of the last place that was asked for.
    last: (usize, usize, usize),
}

impl<'a, P> Reader<'a, P>
where
    P: Iterator<Item = Result<(Event<'a>, Span), saphyr_parser::ScanError>>,
{
    fn documents(&mut self) -> Result<Vec<Node>, Unreadable> {
        let mut roots = Vec::new();
        loop {
            let (event, span) = self.event()?;
            match event {
                Event::StreamEnd => return Ok(roots),
                // An anchor is known in its own document.
                Event::DocumentStart(_) => self.anchors.clear(),
                Event::StreamStart | Event::DocumentEnd | Event::Nothing => {}
                event => {
                    let root = self.node(event, &span, 0)?;
                    // Two lines with `---` have an empty document between them, which nobody meant.
                    let is_written =
                        self.source.get(root.at..).is_some_and(|s| s.starts_with(['~', 'n', 'N']));
                    if root.value != Value::Null || is_written {
                        roots.push(root);
                    }
                }
            }
        }
    }

    fn node(&mut self, event: Event<'a>, span: &Span, depth: usize) -> Result<Node, Unreadable> {
        let at = self.offset(&span.start);
        self.spend(at, 1)?;
        if depth > DEEPEST {
            // Unlike in the other syntaxes, the rest would still have to be read by recursion.
            return Err(Unreadable::wrong(at, format!("values lie deeper than {DEEPEST}")));
        }
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = style != ScalarStyle::Plain
                    || tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
                let value = if is_text { Value::Text(text.into_owned()) } else { plain(&text) };
                (anchor, told(tag.as_deref(), value))
            }
            Event::SequenceStart(anchor, tag) => {
                let list = Value::List(self.list(depth)?);
                (anchor, told(tag.as_deref(), list))
            }
            Event::MappingStart(anchor, tag) => {
                let table = Value::Table(self.table(depth)?);
                (anchor, told(tag.as_deref(), table))
            }
            Event::Alias(anchor) => {
                let named = self.anchors.get(&anchor).cloned();
                let named =
                    named.ok_or_else(|| Unreadable::wrong(at, "an alias of nothing, or of itself"))?;
                self.spend(at, size(&named))?;
                return Ok(Node { at, value: named.value });
            }
            _ => return Err(Unreadable::wrong(at, "a value was expected here")),
        };
        let node = Node { at, value };
        if anchor != 0 {
            self.spend(at, size(&node))?;
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, Unreadable> {
        let mut items = Vec::new();
        loop {
            match self.event()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, span) => items.push(self.node(event, &span, depth + 1)?),
            }
        }
    }

    fn table(&mut self, depth: usize) -> Result<Vec<(Key, Node)>, Unreadable> {
        let mut fields: Vec<(Key, Node)> = Vec::new();
        let mut merged = Vec::new();
        loop {
            let (event, span) = self.event()?;
            if event == Event::MappingEnd {
                break;
            }
            let at = self.offset(&span.start);
            let Event::Scalar(text, style, ..) = event else {
                return Err(Unreadable::wrong(at, "a key that is no plain word"));
            };
            let (event, span) = self.event()?;
            let value = self.node(event, &span, depth + 1)?;
            if text == "<<" && style == ScalarStyle::Plain {
                merged.push(value);
            } else if fields.iter().any(|(key, _)| key.text == text) {
                return Err(Unreadable { at, what: crate::Syntax::Duplicate(text.into_owned()) });
            } else {
                fields.push((Key { at, text: text.into_owned() }, value));
            }
        }
        for (key, value) in merged.into_iter().flat_map(sources).flat_map(into_fields) {
            if !fields.iter().any(|(own, _)| own.text == key.text) {
                fields.push((key, value));
            }
        }
        Ok(fields)
    }

    fn event(&mut self) -> Result<(Event<'a>, Span), Unreadable> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(Unreadable::wrong(self.offset(error.marker()), error.info())),
            None => Err(Unreadable::wrong(self.source.len(), "the document ends too early")),
        }
    }

    fn spend(&mut self, at: usize, values: usize) -> Result<(), Unreadable> {
        let left = self.left.checked_sub(values);
        self.left =
            left.ok_or_else(|| Unreadable::wrong(at, format!("it comes to more than {MOST} values")))?;
        Ok(())
    }

    /// The parser counts characters; where a line begins tells the byte. What comes later in the same line is counted
    /// from what came before, or one long line would be counted through again for each of its values.
    fn offset(&mut self, marker: &Marker) -> usize {
        let start = self.lines.get(marker.line().saturating_sub(1)).copied().unwrap_or(self.source.len());
        let (line, column, at) = self.last;
        let (from, skip) = match line == marker.line() && column <= marker.col() {
            true => (at, marker.col() - column),
            false => (start, marker.col()),
        };
        let rest = self.source.get(from..).unwrap_or_default();
        let at = rest.char_indices().nth(skip).map_or(self.source.len(), |(at, _)| from + at);
        self.last = (marker.line(), marker.col(), at);
        at
    }
}

/// The value, unless a tag gives it another meaning.
fn told(tag: Option<&Tag>, value: Value) -> Value {
    match tag {
        Some(tag) if tag.is_yaml_core_schema() || (tag.handle == "!" && tag.suffix == "override") => value,
        Some(_) => Value::Other("a value under a tag of its own"),
        None => value,
    }
}

/// What a merge key names: a table, or a list of them of which the first counts most.
fn sources(node: Node) -> Vec<Node> {
    match node.value {
        Value::List(items) => items,
        _ => vec![node],
    }
}

fn into_fields(node: Node) -> Vec<(Key, Node)> {
    match node.value {
        Value::Table(fields) => fields,
        _ => Vec::new(),
    }
}

fn size(node: &Node) -> usize {
    let inner: usize = match &node.value {
        Value::List(items) => items.iter().map(size).sum(),
        Value::Table(fields) => fields.iter().map(|(_, node)| size(node)).sum(),
        _ => 0,
    };
    inner.saturating_add(1)
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Boolean(true),
        "false" | "False" | "FALSE" => Value::Boolean(false),
        text => integer(text).map_or_else(|| Value::Text(text.to_owned()), Value::Integer),
    }
}

fn integer(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).ok();
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return i64::from_str_radix(digits, 8).ok();
    }
    text.parse().ok()
}
