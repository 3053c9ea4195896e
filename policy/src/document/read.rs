//! Tree to policy. Every fault is collected, so that a file is put right in one go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use closedbook_document::{Key, Node, Value};

use super::fault::{Fault, FaultKind, InvalidPolicy};
use crate::phase::PhaseName;
use crate::policy::Parts;
use crate::settings::{RouteTarget, Settings, Words};
use crate::{Carries, Entry, Name, Pattern, Ports, Target};

/// The keys of the document. Destructured by [`policy`], so that a key can't be known here and forgotten there.
#[derive(Default)]
struct Root {
    schema: Option<Node>,
    name: Option<Node>,
    phase: Option<Node>,
    route: Option<Node>,
    tls: Option<Node>,
    resolve: Option<Node>,
    dns: Option<Node>,
}

pub(super) fn policy(source: &str, root: Node) -> Result<Parts, InvalidPolicy> {
    let mut reader = Reader { source, faults: Vec::new(), misspelt: Vec::new() };
    let parts = reader.root(root);
    match InvalidPolicy::from_faults(reader.faults) {
        Some(invalid) => Err(invalid),
        None => Ok(parts),
    }
}

struct Reader<'a> {
    source: &'a str,
    faults: Vec<Fault>,
    /// Fields that are there under a wrong key: not missing too.
    misspelt: Vec<String>,
}

impl Reader<'_> {
    fn root(&mut self, node: Node) -> Parts {
        if !matches!(node.value, Value::Table(_)) {
            // Without a table every field is missing too, which need not be said.
            self.wrong_type(&node, "", "a table with schema = 1");
            return Parts::nothing();
        }
        let mut root = Root::default();
        for (key, value) in self.table(node, "", "a table of settings") {
            let slot = match key.text.as_str() {
                "schema" => &mut root.schema,
                "name" => &mut root.name,
                "phase" => &mut root.phase,
                "route" => &mut root.route,
                "tls" => &mut root.tls,
                "resolve" => &mut root.resolve,
                "dns" => &mut root.dns,
                _ => {
                    self.unknown(&key, "", &["schema", "name", "phase", "route", "tls", "resolve", "dns"]);
                    continue;
                }
            };
            *slot = Some(value);
        }
        let Root { schema, name, phase, route, tls, resolve, dns } = root;
        if !self.schema(schema) {
            // Another schema has other fields: what they say about this one would only confuse.
            self.faults.retain(|fault| matches!(fault.kind, FaultKind::Schema(_)));
            return Parts::nothing();
        }
        let settings = Settings {
            routes: route.map(|node| self.routes(node)).unwrap_or_default(),
            ech: self.setting(tls, "tls", "ech"),
            private: self.setting(resolve, "resolve", "private"),
            dns_answers: self.setting(dns, "dns", "answers"),
        };
        Parts { name: name.and_then(|node| self.name(node)), phases: self.phases(phase), settings }
    }

    /// Whether the rest can be read.
    fn schema(&mut self, node: Option<Node>) -> bool {
        match node {
            None => self.missing(0, "schema", "write schema = 1"),
            Some(Node { value: Value::Integer(1), .. }) => {}
            Some(Node { at, value: Value::Integer(schema) }) => {
                self.fault(at, "schema", FaultKind::Schema(schema));
                return false;
            }
            Some(node) => self.wrong_type(&node, "schema", "the integer 1"),
        }
        true
    }

    fn name(&mut self, node: Node) -> Option<Arc<str>> {
        let at = node.at;
        let name = self.text(node, "name", "a string")?;
        if !(1..=100).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            self.fault(at, "name", FaultKind::Name);
        }
        Some(name.into())
    }

    fn phases(&mut self, node: Option<Node>) -> BTreeMap<PhaseName, Vec<Entry>> {
        let Some(node) = node else {
            self.missing(0, "phase", "write at least one phase: [phase.agent] with allow = [...]");
            return BTreeMap::new();
        };
        let (at, mut phases) = (node.at, BTreeMap::new());
        let fields = self.table(node, "phase", "a table of phases, as in [phase.agent]");
        if fields.is_empty() && self.faults.is_empty() {
            self.fault(at, "phase", FaultKind::NoPhase);
        }
        for (key, node) in fields {
            let field = join("phase", &key.text);
            let entries = self.phase(node, &field);
            match PhaseName::parse(&key.text) {
                Ok(name) => drop(phases.insert(name, entries)),
                Err(fault) => self.fault(key.at, &field, fault.into()),
            }
        }
        phases
    }

    fn phase(&mut self, node: Node, field: &str) -> Vec<Entry> {
        let at = node.at;
        let is_table = matches!(node.value, Value::Table(_));
        let mut allow = None;
        for (key, value) in self.table(node, field, "a table with allow = [...]") {
            match key.text.as_str() {
                "allow" => allow = Some(value),
                _ => self.unknown(&key, field, &["allow"]),
            }
        }
        match allow {
            Some(node) => self.entries(node, &join(field, "allow")),
            None => {
                if is_table {
                    self.missing(
                        at,
                        &join(field, "allow"),
                        "write allow = [...]; an empty list permits nothing",
                    );
                }
                Vec::new()
            }
        }
    }

    fn entries(&mut self, node: Node, field: &str) -> Vec<Entry> {
        let Value::List(items) = node.value else {
            self.wrong_type(&node, field, "a list of entries, as in [\"api.example.com\"]");
            return Vec::new();
        };
        let mut entries = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let (at, field) = (item.at, format!("{field}[{index}]"));
            let Some(text) = self.text(item, &field, "a string, as in \"api.example.com\"") else { continue };
            match Entry::parse(&text) {
                Ok(entry) => entries.push(entry),
                Err(invalid) => self.fault(at, &field, invalid.into()),
            }
        }
        entries
    }

    fn routes(&mut self, node: Node) -> BTreeMap<Name, RouteTarget> {
        let mut routes = BTreeMap::new();
        for (key, node) in
            self.table(node, "route", "a table of names, as in \"api.example.com\" = \"10.0.0.5\"")
        {
            let (at, field) = (node.at, join("route", &key.text));
            let from = route_from(&key.text).map_err(|kind| self.fault(key.at, &field, kind)).ok();
            let Some(text) = self.text(node, &field, "a string, as in \"10.0.0.5:8443\"") else { continue };
            let to = RouteTarget::parse(&text)
                .map_err(|fault| self.fault(at, &field, FaultKind::RouteTo { text, fault }))
                .ok();
            let (Some(from), Some(to)) = (from, to) else { continue };
            if routes.contains_key(&from) {
                self.fault(key.at, &field, FaultKind::RouteTwice(from.to_string()));
            }
            routes.insert(from, to);
        }
        routes
    }

    /// A table with one key, whose value is one of a few words.
    fn setting<T: Words + Default>(&mut self, node: Option<Node>, table: &str, name: &'static str) -> T {
        let mut value = T::default();
        let Some(node) = node else { return value };
        for (key, node) in self.table(node, table, "a table of settings") {
            if key.text != name {
                self.unknown(&key, table, &[name]);
                continue;
            }
            let (at, field) = (node.at, join(table, name));
            let Some(text) = self.text(node, &field, "a string") else { continue };
            match T::ALL.iter().find(|(word, _)| *word == text) {
                Some((_, known)) => value = *known,
                None => {
                    let words: Vec<String> = T::ALL.iter().map(|(word, _)| format!("{word:?}")).collect();
                    let hint = format!("the default is {}", words.first().map_or("", String::as_str));
                    let kind = FaultKind::Word { found: text, known: words.join(", "), hint };
                    self.fault(at, &field, kind);
                }
            }
        }
        value
    }

    fn table(&mut self, node: Node, field: &str, expected: &'static str) -> Vec<(Key, Node)> {
        match node.value {
            Value::Table(fields) => {
                // JSON leaves open which of two equal keys counts (RFC 8259 section 4): here neither does.
                let mut seen = BTreeSet::new();
                for (key, _) in &fields {
                    if !seen.insert(key.text.as_str()) {
                        self.fault(key.at, field, FaultKind::Duplicate(key.text.clone()));
                    }
                }
                fields
            }
            _ => {
                self.wrong_type(&node, field, expected);
                Vec::new()
            }
        }
    }

    fn text(&mut self, node: Node, field: &str, expected: &'static str) -> Option<String> {
        match node.value {
            Value::Text(text) => Some(text),
            _ => {
                self.wrong_type(&node, field, expected);
                None
            }
        }
    }

    fn wrong_type(&mut self, node: &Node, field: &str, expected: &'static str) {
        self.fault(node.at, field, FaultKind::Type { expected, found: node.value.kind() });
    }

    fn unknown(&mut self, key: &Key, table: &str, known: &[&str]) {
        let hint = match nearest(&key.text, known) {
            Some(near) => {
                self.misspelt.push(join(table, near));
                format!("did you mean {near:?}?")
            }
            None => format!("known here: {}", known.join(", ")),
        };
        self.fault(key.at, &join(table, &key.text), FaultKind::UnknownKey { key: key.text.clone(), hint });
    }

    fn missing(&mut self, at: usize, field: &str, remedy: &'static str) {
        if !self.misspelt.iter().any(|misspelt| misspelt == field) {
            self.fault(at, field, FaultKind::Missing { remedy });
        }
    }

    fn fault(&mut self, at: usize, field: &str, kind: FaultKind) {
        self.faults.push(Fault::new(self.source, at, field.to_owned(), kind));
    }
}

/// The grammar of entries says what is wrong with a URL and the like, so it reads the name.
fn route_from(text: &str) -> Result<Name, FaultKind> {
    let entry = Entry::parse(text).map_err(|invalid| FaultKind::RouteFrom(invalid.fault().clone()))?;
    match entry.target() {
        Target::Names(Pattern::Exact(name))
            if entry.carries() == Carries::Web && *entry.ports() == Ports::web() && !text.contains(':') =>
        {
            Ok(name.clone())
        }
        _ => Err(FaultKind::RouteFromForm),
    }
}

/// Keys are joined by dots; one that is not bare is quoted, as TOML would.
fn join(table: &str, key: &str) -> String {
    let bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    let key = if bare { key.to_owned() } else { format!("{key:?}") };
    if table.is_empty() { key } else { format!("{table}.{key}") }
}

/// The known word within two slips of the pen.
fn nearest<'a>(text: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|word| (distance(text, word), *word));
    distances.min().filter(|(distance, word)| *distance <= 2 && *distance < word.len()).map(|(_, word)| word)
}

/// Levenshtein distance, row by row; long texts are far from everything.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 32 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        let mut left = i + 1;
        next.push(left);
        for ((y, diagonal), above) in b.chars().zip(&row).zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(x != y)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}
