//! Where OpenCode finds its settings.

use closedbook_document::{Format, Node};

use super::permission;
use crate::Malformed;
use crate::config::argv::Arguments;
use crate::config::stops::Stops;
use crate::config::{Content, Document, Loaded, Origin, Scene};

/// Folders above the working directory that are looked through.
const DEEPEST: usize = 64;

/// Everything that OpenCode would read, weakest first.
pub(super) struct Places {
    pub(super) steps: Vec<Step>,
    /// Folders that may hold agents, plugins and tools of one's own.
    pub(super) folders: Vec<String>,
    /// What `$OPENCODE_PERMISSION` says, if it is JSON.
    pub(super) variable: Option<Source>,
    /// The folder that it works in.
    pub(super) here: String,
}

/// What is merged next.
pub(super) enum Step {
    Settings(Source),
    /// The Markdown files of agents in this folder.
    Agents(String),
}

/// One file, or one variable.
pub(super) struct Source {
    pub(super) layer: &'static str,
    pub(super) root: Node,
    text: Text,
}

enum Text {
    File(Document),
    Variable { name: String, value: String, origin: Origin },
}

impl permission::Places for Source {
    fn origin(&self, at: usize) -> Origin {
        match &self.text {
            Text::File(document) => document.origin(at),
            Text::Variable { origin, .. } => origin.clone(),
        }
    }
}

impl Source {
    /// What stands there is nothing that OpenCode accepts.
    pub(super) fn fault(&self, at: usize, reason: impl Into<String>) -> Malformed {
        match &self.text {
            Text::File(document) => document.fault(at, reason),
            Text::Variable { name, value, .. } => {
                Malformed::at(format!("${name}"), value.as_bytes(), at, reason)
            }
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.text, Text::File(_))
    }

    pub(super) fn of(layer: &'static str, document: Document) -> Self {
        Self { layer, root: document.root.clone(), text: Text::File(document) }
    }
}

impl Places {
    pub(super) fn read(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Self {
        let here = match arguments.last("--dir").and_then(|given| given.value()) {
            Some(folder) if folder.starts_with('/') => folder.trim_end_matches('/').to_owned(),
            Some(folder) => scene.workdir(folder),
            None => scene.launch().workdir.trim_end_matches('/').to_owned(),
        };
        let config = match scene.env("XDG_CONFIG_HOME") {
            Some(folder) if !folder.is_empty() => format!("{}/opencode", folder.trim_end_matches('/')),
            _ => scene.home(".config/opencode"),
        };
        let own = scene.env("OPENCODE_CONFIG_DIR").filter(|folder| !folder.is_empty()).map(str::to_owned);
        let projects = !is_set(scene, "OPENCODE_DISABLE_PROJECT_CONFIG");
        let above = above(scene, &here);
        let mut places = Self { steps: Vec::new(), folders: vec![config.clone()], variable: None, here };
        for name in ["config.json", "opencode.json", "opencode.jsonc"] {
            places.file(scene, stops, "user config", &format!("{config}/{name}"));
        }
        if let Some(path) = scene.env("OPENCODE_CONFIG").filter(|path| !path.is_empty()) {
            let path =
                if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", places.here) };
            if !scene.exists(&path) {
                let origin = scene.variable("OPENCODE_CONFIG").map(|(_, origin)| origin.clone());
                let text = format!("{path} is not there, and opencode says nothing about it");
                scene.remark(origin.unwrap_or(Origin::Default), text);
            }
            places.file(scene, stops, "$OPENCODE_CONFIG", &path);
        }
        if projects {
            for folder in above.iter().rev() {
                for name in ["opencode.json", "opencode.jsonc"] {
                    places.file(scene, stops, "project config", &format!("{folder}/{name}"));
                }
            }
        }
        places.steps.push(Step::Agents(config));
        let mut dotted: Vec<String> = Vec::new();
        if projects {
            dotted.extend(above.iter().map(|folder| format!("{folder}/.opencode")));
        }
        dotted.push(scene.home(".opencode"));
        dotted.extend(own);
        for folder in dotted {
            if places.folders.contains(&folder) {
                continue;
            }
            for name in ["opencode.json", "opencode.jsonc"] {
                places.file(scene, stops, ".opencode config", &format!("{folder}/{name}"));
            }
            places.steps.push(Step::Agents(folder.clone()));
            places.folders.push(folder);
        }
        places.steps.extend(content(scene, stops).map(Step::Settings));
        for name in ["opencode.json", "opencode.jsonc"] {
            places.file(scene, stops, "managed config", &format!("/etc/opencode/{name}"));
        }
        places.variable = permission_variable(scene);
        places
    }

    /// The settings that are merged, weakest first.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.steps.iter().filter_map(|step| match step {
            Step::Settings(source) => Some(source),
            Step::Agents(_) => None,
        })
    }

    fn file(&mut self, scene: &mut Scene<'_>, stops: &mut Stops, layer: &'static str, path: &str) {
        self.steps.extend(file(scene, stops, layer, path).map(Step::Settings));
    }
}

/// `1` and `true`, in upper and lower case, as OpenCode reads such a variable.
pub(super) fn is_set(scene: &Scene<'_>, name: &str) -> bool {
    scene.env(name).is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "1" | "true"))
}

/// The working directory and those above it, up to the one with `.git`, or all of them.
fn above(scene: &Scene<'_>, here: &str) -> Vec<String> {
    let mut folders = Vec::new();
    let mut folder = here;
    while folders.len() < DEEPEST {
        folders.push(folder.to_owned());
        if scene.exists(&format!("{folder}/.git")) {
            break;
        }
        match folder.rsplit_once('/') {
            Some((parent, name)) if !name.is_empty() => folder = parent,
            _ => break,
        }
    }
    folders
}

fn file(scene: &mut Scene<'_>, stops: &mut Stops, layer: &'static str, path: &str) -> Option<Source> {
    // An empty file says nothing, and is no fault to OpenCode.
    if scene.launch().files.read(path) == Content::Bytes(Vec::new()) {
        return None;
    }
    match scene.document(path, Format::Jsonc) {
        Loaded::Document(document) => Some(Source::of(layer, document)),
        Loaded::Absent => None,
        Loaded::Malformed(reason) => {
            stops.because(format!("{path} is {reason}"));
            None
        }
        Loaded::Unreadable(why) => {
            stops.because(format!("{path} can't be read: {why}"));
            None
        }
    }
}

fn content(scene: &mut Scene<'_>, stops: &mut Stops) -> Option<Source> {
    let name = "OPENCODE_CONFIG_CONTENT";
    let (value, origin) = scene.variable(name).filter(|(value, _)| !value.is_empty())?;
    match Format::Jsonc.read(value) {
        Ok(root) => Some(variable(name, value, origin, root)),
        Err(fault) => {
            stops.because(format!("${name} is no JSON with comments: {fault}"));
            scene.malformed(Malformed::unreadable(format!("${name}"), value.as_bytes(), &fault));
            None
        }
    }
}

/// What is no JSON in this variable OpenCode passes over: its log has a line, the screen has none.
fn permission_variable(scene: &mut Scene<'_>) -> Option<Source> {
    let name = "OPENCODE_PERMISSION";
    let (value, origin) = scene.variable(name).filter(|(value, _)| !value.is_empty())?;
    match Format::Json.read(value) {
        Ok(root) => Some(variable(name, value, origin, root)),
        Err(fault) => {
            let reason = format!("no JSON, so opencode passes over it without a word: {fault}");
            scene.malformed(Malformed::at(format!("${name}"), value.as_bytes(), fault.at, reason));
            None
        }
    }
}

fn variable(name: &'static str, value: &str, origin: &Origin, root: Node) -> Source {
    let layer =
        if name == "OPENCODE_PERMISSION" { "$OPENCODE_PERMISSION" } else { "$OPENCODE_CONFIG_CONTENT" };
    let text = Text::Variable { name: name.to_owned(), value: value.to_owned(), origin: origin.clone() };
    Source { layer, root, text }
}
