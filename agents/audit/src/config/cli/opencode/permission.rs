//! The permissions of OpenCode: an ordered list of rules of which the last that fits decides.
//!
//! A tool is left out for the model if the last rule whose name fits it says `deny` for every pattern; with `ask` it is
//! offered. Order is that of the keys, and merging two files keeps a key where it stood first: `"*"` in a later file
//! stands after all keys of an earlier one, and undoes their `deny`.

use closedbook_document::{Node, Value};

use crate::config::{Document, Origin};

/// Permissions, merged.
#[derive(Debug, Clone, Default)]
pub(super) struct Permissions {
    rules: Vec<(String, Rule)>,
    /// What stood at a key before something else did.
    replaced: Vec<(String, Said)>,
}

/// What stands at one key.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Flat(Said),
    /// By pattern, in order.
    Patterns(Vec<(String, Said)>),
    /// Neither a word nor a table, which gives no rule; where a variable says so, nothing checks it.
    Nothing,
}

/// An action and where it is said.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) action: String,
    pub(super) origin: Origin,
    pub(super) layer: &'static str,
}

/// What the rules come to for one tool.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// Left out.
    Denied(String, Said),
    /// Offered, by this rule.
    Offered(String, Said),
    /// No rule speaks of it.
    Unsaid,
    /// The action holds a reference that is replaced when the file is read.
    Unclear(String, Said),
}

/// Where the values of a tree are said.
pub(super) trait Places {
    fn origin(&self, at: usize) -> Origin;
}

impl Places for Document {
    fn origin(&self, at: usize) -> Origin {
        Document::origin(self, at)
    }
}

/// All in one place: a variable's value.
impl Places for Origin {
    fn origin(&self, _at: usize) -> Origin {
        self.clone()
    }
}

impl Permissions {
    /// A tree's permissions over those so far.
    pub(super) fn merge(&mut self, node: &Node, layer: &'static str, places: &dyn Places) {
        let said =
            |action: &str, at: usize| Said { action: action.to_owned(), origin: places.origin(at), layer };
        if let Some(action) = node.text() {
            return self.put("*".into(), Rule::Flat(said(action, node.at)));
        }
        for (key, value) in node.fields() {
            let rule = match &value.value {
                Value::Text(action) => Rule::Flat(said(action, key.at)),
                Value::Table(_) => Rule::Patterns(
                    value
                        .fields()
                        .map(|(pattern, action)| {
                            let word = action.text().unwrap_or_default();
                            (pattern.text.clone(), said(word, pattern.at))
                        })
                        .collect(),
                ),
                _ => Rule::Nothing,
            };
            self.put(key.text.clone(), rule);
        }
    }

    /// Others merged over these, key by key.
    pub(super) fn overlaid(mut self, others: Permissions) -> Self {
        for (key, rule) in others.rules {
            self.put(key, rule);
        }
        self.replaced.extend(others.replaced);
        self
    }

    /// `tools: {webfetch: false}`, as permissions.
    pub(super) fn of_tools(node: &Node, layer: &'static str, places: &dyn Places) -> Self {
        let mut permissions = Self::default();
        for (key, value) in node.fields() {
            let Some(on) = value.boolean() else { continue };
            let name =
                if matches!(key.text.as_str(), "write" | "edit" | "patch") { "edit" } else { &key.text };
            let action = if on { "allow" } else { "deny" };
            let said = Said { action: action.into(), origin: places.origin(key.at), layer };
            permissions.put(name.to_owned(), Rule::Flat(said));
        }
        permissions
    }

    /// The same rules after others, without merging keys: an agent's own after everybody's.
    pub(super) fn followed_by(&self, own: &Permissions) -> Self {
        Self {
            rules: self.rules.iter().chain(&own.rules).cloned().collect(),
            replaced: self.replaced.iter().chain(&own.replaced).cloned().collect(),
        }
    }

    /// What the rules come to for a tool.
    pub(super) fn outcome(&self, tool: &str) -> Outcome {
        match self.lines().rfind(|(key, ..)| fits(key, tool)) {
            None => Outcome::Unsaid,
            Some((key, _, said)) if said.action.contains("{env:") || said.action.contains("{file:") => {
                Outcome::Unclear(key.to_owned(), said.clone())
            }
            Some((key, "*", said)) if said.action == "deny" => Outcome::Denied(key.to_owned(), said.clone()),
            Some((key, _, said)) => Outcome::Offered(key.to_owned(), said.clone()),
        }
    }

    /// Every rule: key, pattern, action.
    pub(super) fn lines(&self) -> impl DoubleEndedIterator<Item = (&str, &str, &Said)> {
        self.rules.iter().flat_map(|(key, rule)| match rule {
            Rule::Flat(said) => vec![(key.as_str(), "*", said)],
            Rule::Patterns(patterns) => {
                patterns.iter().map(|(pattern, said)| (key.as_str(), pattern.as_str(), said)).collect()
            }
            Rule::Nothing => Vec::new(),
        })
    }

    /// What stood at a key before something else did.
    pub(super) fn replaced(&self) -> impl Iterator<Item = (&str, &Said)> {
        self.replaced.iter().map(|(key, said)| (key.as_str(), said))
    }

    fn put(&mut self, key: String, rule: Rule) {
        let Some((_, old)) = self.rules.iter_mut().find(|(found, _)| *found == key) else {
            return self.rules.push((key, rule));
        };
        match (old, rule) {
            (Rule::Patterns(old), Rule::Patterns(new)) => {
                for (pattern, said) in new {
                    match old.iter_mut().find(|(found, _)| *found == pattern) {
                        Some((_, old)) => self.replaced.push((key.clone(), std::mem::replace(old, said))),
                        None => old.push((pattern, said)),
                    }
                }
            }
            (old, rule) => match std::mem::replace(old, rule) {
                Rule::Flat(said) => self.replaced.push((key, said)),
                Rule::Patterns(patterns) => {
                    self.replaced.extend(patterns.into_iter().map(|(_, said)| (key.clone(), said)));
                }
                Rule::Nothing => {}
            },
        }
    }
}

/// `*` for any run of characters, `?` for one; the rest as it stands, upper and lower case told apart.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '?' || Some(c) == name.get(n) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests;
