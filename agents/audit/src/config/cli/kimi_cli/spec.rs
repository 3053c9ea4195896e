//! Agent files of Kimi CLI: a list of tools, a list of those left out, and a file that both are taken over from.

use closedbook_document::{Format, Node, Value};

use super::{AGENT, FETCH, SEARCH};
use crate::config::layers::{brief, letters};
use crate::config::stops::Stops;
use crate::config::{Document, Loaded, Origin, Says, Scene, Setting};

/// Files that extend each other, at most.
const DEEPEST: usize = 16;

/// What an agent file and those that it extends come to.
#[derive(Debug, Default)]
pub(super) struct Spec {
    file: Option<Origin>,
    tools: Option<List>,
    allowed: Option<List>,
    excluded: Option<List>,
    subagents: Option<Vec<(String, Subagent)>>,
    /// Keys that mean nothing to Kimi and that look like these.
    odd: Vec<(String, Origin)>,
}

#[derive(Debug, Clone)]
struct List {
    items: Vec<(String, Origin)>,
    origin: Option<Origin>,
}

/// Where a subagent's own file is.
#[derive(Debug, Clone)]
pub(super) enum Subagent {
    /// In the program.
    Builtin,
    File(String, Origin),
}

/// What is said of a tool.
pub(super) enum Standing {
    /// It is in the list; where that is, unless it is the program's own.
    Listed(Option<Origin>),
    NotListed(Origin),
    Excluded(Origin),
}

impl Spec {
    /// What the program comes with.
    pub(super) fn builtin() -> Self {
        let items = [AGENT, SEARCH, FETCH].map(|id| (id.to_owned(), Origin::Default)).into();
        let subagents = ["coder", "explore", "plan"].map(|name| (name.to_owned(), Subagent::Builtin)).into();
        Self { tools: Some(List { items, origin: None }), subagents: Some(subagents), ..Self::default() }
    }

    /// An agent file, with those that it extends.
    pub(super) fn read(scene: &mut Scene<'_>, path: &str, stops: &mut Stops) -> Self {
        Self::at_depth(scene, path, stops, 0)
    }

    fn at_depth(scene: &mut Scene<'_>, path: &str, stops: &mut Stops, depth: usize) -> Self {
        let document = match scene.document(path, Format::Yaml) {
            Loaded::Document(document) => document,
            Loaded::Absent => {
                stops.refused(scene, path, "kimi ends with an error: this agent file is not there");
                return Self::default();
            }
            Loaded::Malformed(reason) => {
                stops.because(format!("{path} is {reason}"));
                return Self::default();
            }
            Loaded::Unreadable(why) => {
                stops.because(format!("{path} can't be read: {why}"));
                return Self::default();
            }
        };
        let agent = document.root.get("agent");
        let base = match agent.and_then(|agent| agent.get("extend")).and_then(Node::text) {
            Some(_) if depth >= DEEPEST => {
                stops.because(format!("{path} extends itself, or too many files"));
                Self::default()
            }
            Some("default") => Self::builtin(),
            Some(base) => Self::at_depth(scene, &beside(path, base), stops, depth + 1),
            None => Self::default(),
        };
        let own = Self::of(scene, &document, path, agent, stops);
        let spec = Self {
            file: own.file,
            tools: own.tools.or(base.tools),
            allowed: own.allowed.or(base.allowed),
            excluded: own.excluded.or(base.excluded),
            subagents: own.subagents.or(base.subagents),
            odd: own.odd.into_iter().chain(base.odd).collect(),
        };
        if spec.tools.is_none() {
            stops.because(format!("{path} neither lists tools nor extends a file that does"));
        }
        spec
    }

    fn of(
        scene: &mut Scene<'_>,
        document: &Document,
        path: &str,
        agent: Option<&Node>,
        stops: &mut Stops,
    ) -> Self {
        let mut spec =
            Self { file: Some(Origin::File { path: path.to_owned(), place: None }), ..Self::default() };
        for (key, value) in agent.iter().flat_map(|agent| agent.fields()) {
            let list = match key.text.as_str() {
                "tools" => &mut spec.tools,
                "allowed_tools" => &mut spec.allowed,
                "exclude_tools" => &mut spec.excluded,
                "subagents" => {
                    spec.subagents = Some(subagents(document, path, value));
                    continue;
                }
                _ => {
                    if letters(&key.text).contains("tool") {
                        let what = format!("{} = {}", key.text, brief(value));
                        spec.odd.push((what, document.origin(key.at)));
                    }
                    continue;
                }
            };
            match strings(document, value) {
                Some(items) => *list = Some(List { items, origin: Some(document.origin(key.at)) }),
                None => {
                    let reason = format!(
                        "kimi ends with an error: {} must be a list of names, not {}",
                        key.text,
                        brief(value)
                    );
                    stops.because(format!("{}: {reason}", document.origin(value.at)));
                    scene.malformed(document.fault(value.at, reason));
                }
            }
        }
        spec
    }

    /// What is said of a tool: what is left of the list that counts.
    pub(super) fn standing(&self, id: &str) -> Standing {
        let excluded = self.excluded.iter().flat_map(|list| &list.items).find(|(item, _)| item == id);
        if let Some((_, origin)) = excluded {
            return Standing::Excluded(origin.clone());
        }
        let Some(list) = self.allowed.as_ref().or(self.tools.as_ref()) else { return Standing::Listed(None) };
        match list.items.iter().find(|(item, _)| item == id) {
            Some((_, origin)) if list.origin.is_some() => Standing::Listed(Some(origin.clone())),
            Some(_) => Standing::Listed(None),
            None => Standing::NotListed(list.origin.clone().unwrap_or(Origin::Default)),
        }
    }

    pub(super) fn subagents(&self) -> Vec<(String, Subagent)> {
        self.subagents.clone().unwrap_or_default()
    }

    /// The file, or the program itself.
    pub(super) fn origin(&self) -> Origin {
        self.file.clone().unwrap_or(Origin::Default)
    }

    /// Tools that are not the program's own.
    pub(super) fn foreign(&self) -> Vec<(String, Origin)> {
        let list = self.allowed.as_ref().or(self.tools.as_ref());
        let items = list.into_iter().flat_map(|list| list.items.clone());
        items.filter(|(item, _)| !item.starts_with("kimi_cli.tools.")).collect()
    }

    /// What people write to take a tool away, and what takes nothing away.
    pub(super) fn misspelt(&self, name: &str, id: &str) -> Vec<Setting> {
        let named = |text: &str| letters(text).contains(&letters(name)) && text != id;
        let items = self.excluded.iter().flat_map(|list| &list.items).filter(|(item, _)| named(item));
        let mut settings: Vec<Setting> = items
            .map(|(item, origin)| {
                let why = format!("the tool is named {id} here");
                setting(&format!("exclude_tools has {item:?}"), origin, Says::Ignored(why))
            })
            .collect();
        settings.extend(self.odd.iter().map(|(what, origin)| {
            setting(what, origin, Says::Ignored("kimi passes over it: the key is exclude_tools".into()))
        }));
        settings
    }
}

pub(super) fn setting(what: &str, origin: &Origin, says: Says) -> Setting {
    Setting { what: what.to_owned(), origin: origin.clone(), layer: "agent file", says }
}

/// A list of strings; nothing is an empty one.
fn strings(document: &Document, value: &Node) -> Option<Vec<(String, Origin)>> {
    match &value.value {
        Value::Null => Some(Vec::new()),
        Value::List(items) => {
            items.iter().map(|item| Some((item.text()?.to_owned(), document.origin(item.at)))).collect()
        }
        _ => None,
    }
}

fn subagents(document: &Document, path: &str, value: &Node) -> Vec<(String, Subagent)> {
    let files = value.fields().filter_map(|(key, node)| {
        let file = node.get("path")?.text()?;
        Some((key.text.clone(), Subagent::File(beside(path, file), document.origin(key.at))))
    });
    files.collect()
}

/// A path as it is meant in a file at another.
fn beside(path: &str, other: &str) -> String {
    if other.starts_with('/') {
        return other.to_owned();
    }
    let mut folder: Vec<&str> = path.split('/').collect();
    folder.pop();
    for part in other.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                folder.pop();
            }
            part => folder.push(part),
        }
    }
    folder.join("/")
}
