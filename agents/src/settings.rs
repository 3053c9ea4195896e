//! What it takes to start a CLI with settings: arguments, variables, and whole files.

use std::collections::BTreeMap;

use thiserror::Error;
use toml::{Table, Value};

use crate::row::Probe;
use crate::switch::{Place, Switch};

/// What stands for the prompt in the arguments of a [`Probe`].
const PROMPT: &str = "{prompt}";

/// Arguments, variables and files of one start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// The arguments, the prompt in its place.
    pub args: Vec<String>,
    /// The variables.
    pub env: BTreeMap<String, String>,
    /// The files, by their paths, and what they say.
    pub files: BTreeMap<String, String>,
}

/// Why switches can't be set together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unsettable {
    /// Two switches want different values in one place.
    #[error("two settings want different values of {0}")]
    Contradiction(String),
    /// A key lies below something that is no table.
    #[error("{key} in {file}: {part} is no table there")]
    NoTable {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// The part of it.
        part: String,
    },
    /// A file whose syntax its name does not tell.
    #[error("{0}: no way to write such a file; known are .toml, .json, .jsonc, .yaml and .yml")]
    Syntax(String),
    /// A file of the probe that is not what its name says.
    #[error("{file}, as the probe wants it, is no {syntax}: {why}")]
    NoDocument {
        /// The file.
        file: String,
        /// What it should be.
        syntax: &'static str,
        /// Why it is not.
        why: String,
    },
    /// A value that the syntax of its file can't hold.
    #[error("{file} can't be written: {why}")]
    Value {
        /// The file.
        file: String,
        /// Why.
        why: String,
    },
}

#[derive(Debug, Clone, Copy)]
enum Syntax {
    Toml,
    /// YAML too: JSON is YAML.
    Json,
}

impl Settings {
    /// A probe with this prompt and these switches. Flags come last, so that one that takes several values can't take
    /// the prompt for one.
    pub fn of<'a>(
        probe: &Probe,
        prompt: &str,
        switches: impl IntoIterator<Item = &'a Switch>,
    ) -> Result<Self, Unsettable> {
        let args = probe.args.iter().map(|arg| arg.replace(PROMPT, prompt)).collect();
        let files = probe.files.iter().map(|file| (file.path.clone(), file.text.clone())).collect();
        let mut settings = Self { args, env: probe.env.clone(), files };
        let mut documents: BTreeMap<&str, Table> = BTreeMap::new();
        let mut flags: Vec<(&str, Option<&Value>)> = Vec::new();
        for Switch { place, value } in switches {
            match place {
                Place::Flag { flag } => {
                    let one = (flag.as_str(), value.as_ref());
                    // The same switch belongs to several tools.
                    if !flags.contains(&one) {
                        flags.push(one);
                    }
                }
                Place::Env { env } => settings.set_variable(env, value.as_ref())?,
                Place::File { file, key } => {
                    let document = match documents.remove(file.as_str()) {
                        Some(document) => document,
                        None => settings.files.get(file).map_or(Ok(Table::new()), |text| read(file, text))?,
                    };
                    documents.insert(file, with(document, file, key, value.as_ref())?);
                }
            }
        }
        for (flag, value) in flags {
            settings.args.push(flag.to_owned());
            settings.args.extend(value.map(text));
        }
        for (file, document) in documents {
            settings.files.insert(file.to_owned(), write(file, &document)?);
        }
        Ok(settings)
    }

    fn set_variable(&mut self, name: &str, value: Option<&Value>) -> Result<(), Unsettable> {
        let value = value.map(text).unwrap_or_default();
        match self.env.get(name) {
            Some(other) if *other != value => Err(Unsettable::Contradiction(format!("the variable {name}"))),
            _ => {
                self.env.insert(name.to_owned(), value);
                Ok(())
            }
        }
    }
}

impl Syntax {
    fn of(file: &str) -> Result<Self, Unsettable> {
        match file.rsplit('.').next() {
            Some("toml") => Ok(Syntax::Toml),
            Some("json" | "jsonc" | "yaml" | "yml") => Ok(Syntax::Json),
            _ => Err(Unsettable::Syntax(file.to_owned())),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn read(file: &str, text: &str) -> Result<Table, Unsettable> {
    let no = |syntax, why: String| Unsettable::NoDocument { file: file.to_owned(), syntax, why };
    match Syntax::of(file)? {
        Syntax::Toml => toml::from_str(text).map_err(|error| no("TOML", error.message().to_owned())),
        Syntax::Json => serde_json::from_str(text).map_err(|error| no("JSON", error.to_string())),
    }
}

fn write(file: &str, document: &Table) -> Result<String, Unsettable> {
    let cannot = |why: String| Unsettable::Value { file: file.to_owned(), why };
    match Syntax::of(file)? {
        Syntax::Toml => toml::to_string(document).map_err(|error| cannot(error.to_string())),
        Syntax::Json => serde_json::to_string_pretty(document)
            .map(|text| text + "\n")
            .map_err(|error| cannot(error.to_string())),
    }
}

/// The document with one more key.
fn with(document: Table, file: &str, key: &str, value: Option<&Value>) -> Result<Table, Unsettable> {
    let Some(value) = value else { return Ok(document) };
    let (path, last) = key.rsplit_once('.').unwrap_or(("", key));
    let mut document = document;
    let mut place = &mut document;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let next = place.entry(part).or_insert_with(|| Value::Table(Table::new()));
        place = next.as_table_mut().ok_or_else(|| Unsettable::NoTable {
            file: file.to_owned(),
            key: key.to_owned(),
            part: part.to_owned(),
        })?;
    }
    match (place.get_mut(last), value) {
        (None, value) => {
            place.insert(last.to_owned(), value.clone());
        }
        // Lists add up: what each switch names is named.
        (Some(Value::Array(there)), Value::Array(more)) => {
            let new: Vec<Value> = more.iter().filter(|one| !there.contains(one)).cloned().collect();
            there.extend(new);
        }
        (Some(there), value) if there == value => {}
        (Some(_), _) => return Err(Unsettable::Contradiction(format!("{key} in {file}"))),
    }
    Ok(document)
}

#[cfg(test)]
mod tests;
