//! Layers of settings, as CLIs stack them: a file each, or what was said in arguments.

use closedbook_document::{Format, Node, Value};

use super::{Document, Loaded, Origin, Scene};

/// One layer.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    /// Its name in the CLI's own order.
    pub(crate) name: &'static str,
    said: Said,
}

#[derive(Debug, Clone)]
enum Said {
    Document(Document),
    /// In the order of the arguments: a later one replaces what an earlier one set at the same path or below it.
    Assignments(Vec<Assignment>),
}

/// `a.b=c` in an argument.
#[derive(Debug, Clone)]
pub(crate) struct Assignment {
    pub(crate) path: Vec<String>,
    pub(crate) value: Node,
    pub(crate) origin: Origin,
}

/// A value that a layer has at some path.
#[derive(Debug, Clone)]
pub(crate) struct Found<'a> {
    pub(crate) layer: &'static str,
    pub(crate) value: &'a Node,
    pub(crate) origin: Origin,
}

impl Layer {
    /// A file's layer; `None` if there is no file. A file that is no document comes back as the reason.
    pub(crate) fn file(
        scene: &mut Scene<'_>,
        name: &'static str,
        path: &str,
        format: Format,
    ) -> Result<Option<Self>, String> {
        match scene.document(path, format) {
            Loaded::Absent => Ok(None),
            Loaded::Document(document) => Ok(Some(Self { name, said: Said::Document(document) })),
            Loaded::Malformed(reason) => Err(format!("{path} is {reason}")),
            Loaded::Unreadable(why) => Err(format!("{path} can't be read: {why}")),
        }
    }

    /// A file that is not the CLI's own, though people take it for that: what it says has no effect, so its faults have
    /// none either.
    pub(crate) fn stray(
        scene: &mut Scene<'_>,
        name: &'static str,
        path: &str,
        format: Format,
    ) -> Option<Self> {
        let document = scene.stray(path, format)?;
        Some(Self { name, said: Said::Document(document) })
    }

    /// What arguments set.
    pub(crate) fn assignments(name: &'static str, assignments: Vec<Assignment>) -> Self {
        Self { name, said: Said::Assignments(assignments) }
    }

    /// The file, if this is one's layer.
    pub(crate) fn document(&self) -> Option<&Document> {
        if let Said::Document(document) = &self.said { Some(document) } else { None }
    }

    /// The value at a path.
    pub(crate) fn get(&self, path: &[&str]) -> Option<Found<'_>> {
        let (value, origin) = match &self.said {
            Said::Document(document) => {
                let value = document.root.at_path(path)?;
                (value, document.origin(value.at))
            }
            Said::Assignments(assignments) => {
                let last = assignments.iter().rev().find(|set| starts_with(path, &set.path))?;
                (last.value.at_path(path.get(last.path.len()..)?)?, last.origin.clone())
            }
        };
        Some(Found { layer: self.name, value, origin })
    }

    /// Where something is said at a path or below it.
    pub(crate) fn mention(&self, path: &[&str]) -> Option<Origin> {
        let below = match &self.said {
            Said::Document(_) => None,
            Said::Assignments(assignments) => assignments
                .iter()
                .rev()
                .find(|set| set.path.len() >= path.len() && set.path.iter().zip(path).all(|(a, b)| a == b)),
        };
        self.get(path).map(|found| found.origin).or_else(|| below.map(|set| set.origin.clone()))
    }

    /// The names that stand below a path, in order.
    pub(crate) fn names(&self, path: &[&str]) -> Vec<String> {
        let fields = |node: &Node| node.fields().map(|(key, _)| key.text.clone()).collect::<Vec<_>>();
        match &self.said {
            Said::Document(document) => document.root.at_path(path).map(fields).unwrap_or_default(),
            Said::Assignments(assignments) => assignments
                .iter()
                .flat_map(|set| match set.path.get(path.len()) {
                    Some(name) if set.path.iter().zip(path).all(|(a, b)| a == b) => vec![name.clone()],
                    None if starts_with(path, &set.path) => path
                        .get(set.path.len()..)
                        .and_then(|rest| set.value.at_path(rest))
                        .map(fields)
                        .unwrap_or_default(),
                    _ => Vec::new(),
                })
                .collect(),
        }
    }

    /// Every value with its path, tables themselves included.
    pub(crate) fn every(&self) -> Vec<(Vec<String>, Found<'_>)> {
        let mut all = Vec::new();
        match &self.said {
            Said::Document(document) => {
                walk(&document.root, &mut Vec::new(), &mut |path, key_at, value| {
                    all.push((path, Found { layer: self.name, value, origin: document.origin(key_at) }));
                });
            }
            Said::Assignments(assignments) => {
                for set in assignments {
                    let found = |value| Found { layer: self.name, value, origin: set.origin.clone() };
                    all.push((set.path.clone(), found(&set.value)));
                    walk(&set.value, &mut set.path.clone(), &mut |path, _, value| {
                        all.push((path, found(value)));
                    });
                }
            }
        }
        all
    }
}

/// What the layers say at a path, strongest first; they come weakest first.
pub(crate) fn find<'a>(layers: &'a [Layer], path: &[&str]) -> Vec<Found<'a>> {
    layers.iter().rev().filter_map(|layer| layer.get(path)).collect()
}

/// The strongest layer that says something at a path or below it, and where.
pub(crate) fn mention(layers: &[Layer], path: &[&str]) -> Option<(&'static str, Origin)> {
    layers.iter().rev().find_map(|layer| Some((layer.name, layer.mention(path)?)))
}

/// The names below a path over all layers, each once.
pub(crate) fn names(layers: &[Layer], path: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in layers.iter().flat_map(|layer| layer.names(path)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A key as people misspell it: `web-search`, `webSearch` and `WEB_SEARCH` are the same letters.
pub(crate) fn letters(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A value for people, short.
pub(crate) fn brief(value: &Node) -> String {
    match &value.value {
        Value::Text(text) if text.chars().count() <= 60 => format!("{text:?}"),
        Value::Text(text) => format!("{:?}...", text.chars().take(60).collect::<String>()),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::List(items) if items.len() <= 8 && items.iter().all(|item| item.text().is_some()) => {
            let items: Vec<String> = items.iter().map(brief).collect();
            format!("[{}]", items.join(", "))
        }
        other => other.kind().to_owned(),
    }
}

fn starts_with(path: &[&str], prefix: &[String]) -> bool {
    prefix.len() <= path.len() && prefix.iter().zip(path).all(|(a, b)| a == b)
}

fn walk<'a>(node: &'a Node, path: &mut Vec<String>, visit: &mut impl FnMut(Vec<String>, usize, &'a Node)) {
    for (key, value) in node.fields() {
        path.push(key.text.clone());
        visit(path.clone(), key.at, value);
        walk(value, path, visit);
        path.pop();
    }
}

#[cfg(test)]
mod tests;
