//! Extensions of goose, from wherever they are named.

use closedbook_document::{Node, Value};

use crate::config::argv::Arguments;
use crate::config::layers::Layer;
use crate::config::{Kind, Origin};

/// The extension that has `web_scrape`.
pub(super) const SCRAPER: &str = "computercontroller";

/// One extension.
#[derive(Debug, Clone)]
pub(super) struct Extension {
    pub(super) name: String,
    pub(super) runs: Runs,
    pub(super) enabled: Enabled,
    /// Whether it lists which of its tools are available.
    pub(super) is_narrowed: bool,
    pub(super) what: String,
    pub(super) origin: Origin,
    pub(super) layer: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enabled {
    Yes,
    No,
    /// Neither `true` nor `false`: YAML 1.2, as goose reads it, takes `no` for a string.
    Odd,
}

/// Where an extension's tools come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Runs {
    /// In the program.
    Builtin,
    /// A command.
    Command(String),
    /// A server.
    Remote(String),
    /// Something else.
    Other(String),
}

impl Extension {
    /// `extensions` of config.yaml, by key.
    pub(super) fn listed(layer: &Layer) -> Vec<Self> {
        let Some(document) = layer.document() else { return Vec::new() };
        let fields = document.root.get("extensions").into_iter().flat_map(|node| node.fields());
        let extensions = fields.map(|(key, node)| {
            let enabled = match node.get("enabled").map(|node| &node.value) {
                Some(Value::Boolean(true)) => Enabled::Yes,
                Some(Value::Boolean(false)) => Enabled::No,
                _ => Enabled::Odd,
            };
            let name = node.get("name").and_then(Node::text).unwrap_or(&key.text);
            let words = match enabled {
                Enabled::Yes => "enabled: true",
                Enabled::No => "enabled: false",
                Enabled::Odd => "enabled is neither true nor false",
            };
            let what = format!("extensions.{}: {words}", key.text);
            Self { enabled, what, ..Self::of(name, node, document.origin(key.at), "config") }
        });
        extensions.collect()
    }

    /// `extensions` of a recipe, a list.
    pub(super) fn of_recipe(layer: &Layer) -> Vec<Self> {
        let Some(document) = layer.document() else { return Vec::new() };
        let items = document.root.get("extensions").map(Node::items).unwrap_or_default();
        let extensions = items.iter().map(|node| {
            let name = node.get("name").and_then(Node::text).unwrap_or_default();
            Self::of(name, node, document.origin(node.at), "recipe")
        });
        extensions.collect()
    }

    /// `--with-builtin` and its kin.
    pub(super) fn of_flags(arguments: &Arguments<'_>) -> Vec<Self> {
        let mut extensions = Vec::new();
        for (flag, runs) in [
            ("--with-builtin", (|_| Runs::Builtin) as fn(String) -> Runs),
            ("--with-extension", Runs::Command),
            ("--with-remote-extension", Runs::Remote),
        ] {
            for word in arguments.values(flag) {
                let parts: Vec<&str> =
                    if flag == "--with-builtin" { word.text.split(',').collect() } else { vec![word.text] };
                for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
                    extensions.push(Self {
                        name: part.to_owned(),
                        runs: runs(part.to_owned()),
                        enabled: Enabled::Yes,
                        is_narrowed: false,
                        what: format!("{flag} {part}"),
                        origin: word.origin.clone(),
                        layer: "flag",
                    });
                }
            }
        }
        extensions
    }

    fn of(name: &str, node: &Node, origin: Origin, layer: &'static str) -> Self {
        let text = |key: &str| node.get(key).and_then(Node::text).unwrap_or_default().to_owned();
        let runs = match text("type").as_str() {
            "builtin" | "platform" => Runs::Builtin,
            "stdio" => {
                let args = node.get("args").map(Node::items).unwrap_or_default();
                let words = args.iter().filter_map(Node::text);
                Runs::Command(
                    std::iter::once(text("cmd").as_str()).chain(words).collect::<Vec<_>>().join(" "),
                )
            }
            "sse" | "streamable_http" => Runs::Remote(text("uri")),
            other => Runs::Other(other.to_owned()),
        };
        let is_narrowed = node.get("available_tools").is_some_and(|list| !list.items().is_empty());
        let what = format!("extension {name}");
        Self { name: name.to_owned(), runs, enabled: Enabled::Yes, is_narrowed, what, origin, layer }
    }

    /// Names are told apart without their spaces and capitals.
    fn key(&self) -> String {
        self.name.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
    }

    pub(super) fn is_scraper(&self) -> bool {
        match &self.runs {
            Runs::Command(command) => command.split_whitespace().any(|word| word == SCRAPER),
            Runs::Builtin => self.key() == SCRAPER,
            _ => false,
        }
    }

    /// What it is to somebody who counts what brings the web; nothing if it is one of the program's own that reach
    /// nothing by themselves.
    pub(super) fn kind(&self) -> Option<(Kind, &str)> {
        match &self.runs {
            Runs::Remote(uri) => Some((Kind::McpRemote, uri)),
            Runs::Command(command) => Some((Kind::McpLocal, command)),
            Runs::Other(kind) => Some((Kind::Plugin, kind)),
            Runs::Builtin if OWN.contains(&self.key().as_str()) || self.is_scraper() => None,
            Runs::Builtin => Some((Kind::Plugin, "an extension of the program that was not read")),
        }
    }
}

const OWN: [&str; 12] = [
    "developer",
    "memory",
    "tutorial",
    "autovisualiser",
    "todo",
    "skills",
    "summon",
    "chatrecall",
    "extensionmanager",
    "code_execution",
    "apps",
    "subagent",
];
