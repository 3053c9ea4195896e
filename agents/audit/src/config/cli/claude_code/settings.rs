//! The settings files of Claude Code, and which of them count.

use closedbook_document::{Format, Node};

use super::schema::{self, Taken};
use super::start::Start;
use crate::Malformed;
use crate::config::scene::join;
use crate::config::{Document, Loaded, Origin, Scene};

/// A place that holds settings.
pub(super) struct Layer {
    /// Its name.
    pub(super) name: &'static str,
    /// Where.
    pub(super) origin: Origin,
    /// What it holds, where that can be read.
    pub(super) document: Option<Document>,
    /// Whether the CLI takes it.
    pub(super) counts: Counts,
}

/// Whether the CLI takes a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Counts {
    /// It does.
    Yes,
    /// Something else keeps it out.
    LeftOut(String),
    /// It passes over it.
    Ignored(String),
    /// That is not known.
    Unclear(String),
}

pub(super) const MANAGED: &str = "managed settings";
const FLAG: &str = "settings of a flag";
const LOCAL: &str = "local project settings";
const PROJECT: &str = "project settings";
const USER: &str = "user settings";

const MANAGED_FOLDER: &str = "/etc/claude-code";

impl Layer {
    /// The value at the end of a path of keys, with where it stands.
    pub(super) fn at(&self, path: &[&str]) -> Option<(&Node, Origin)> {
        let document = self.document.as_ref()?;
        let node = document.root.at_path(path)?;
        Some((node, document.origin(node.at)))
    }

    pub(super) fn is_managed(&self) -> bool {
        self.name == MANAGED
    }
}

/// Every layer that there is, strongest first.
pub(super) fn layers(scene: &mut Scene<'_>, start: &Start<'_>) -> Vec<Layer> {
    let mut layers = managed(scene, start);
    layers.extend(flag(scene, start));
    let project = start.project_root.clone();
    let local_root = git_root(scene, &project).unwrap_or_else(|| project.clone());
    let mut files = vec![
        (LOCAL, "local", join(&project, ".claude/settings.local.json")),
        (PROJECT, "project", join(&project, ".claude/settings.json")),
        (USER, "user", join(&start.folder, "settings.json")),
    ];
    if local_root != project {
        files.insert(1, (LOCAL, "local", join(&local_root, ".claude/settings.local.json")));
    }
    for (name, source, path) in files {
        let left_out = start.leaves_out(source);
        layers.extend(file(scene, name, &path, left_out));
    }
    layers
}

fn managed(scene: &mut Scene<'_>, start: &Start<'_>) -> Vec<Layer> {
    let drop_ins = join(MANAGED_FOLDER, "managed-settings.d");
    let names = scene.list(&drop_ins);
    let mut paths: Vec<String> = names
        .iter()
        .filter(|name| name.ends_with(".json") && !name.starts_with('.'))
        .map(|name| join(&drop_ins, name))
        .collect();
    paths.insert(0, join(MANAGED_FOLDER, "managed-settings.json"));
    let mut layers = Vec::new();
    for path in paths {
        let Some(mut layer) = file(scene, MANAGED, &path, None) else { continue };
        if layer.document.is_some() {
            // Only a field that is wrong is passed over here, and the rest is enforced.
            layer.counts = Counts::Yes;
        }
        layers.push(layer);
    }
    if let Some(given) = start.arguments.last("--managed-settings") {
        let text = given.value().unwrap_or_default().as_bytes().to_vec();
        let loaded = scene.parse("--managed-settings", text, Format::Json);
        let mut layer = layer(MANAGED, given.origin.clone(), loaded, None);
        if layer.document.is_some() {
            layer.counts = Counts::Yes;
        }
        layers.push(layer);
    }
    layers
}

/// `--settings`: JSON, or the path of a file; the last one counts.
fn flag(scene: &mut Scene<'_>, start: &Start<'_>) -> Option<Layer> {
    let given = start.arguments.last("--settings")?;
    let value = given.value().unwrap_or_default().trim();
    if value.is_empty() {
        return None;
    }
    if value.starts_with('{') {
        let loaded = scene.parse("--settings", value.as_bytes().to_vec(), Format::Json);
        return Some(layer(FLAG, given.origin.clone(), loaded, None));
    }
    let path = scene.resolved(value);
    let found = file(scene, FLAG, &path, None);
    if found.is_none() {
        let reason =
            format!("--settings names it and it is not there: the CLI does not start ({})", given.origin);
        scene.malformed(Malformed::whole(path, reason));
    }
    found
}

fn file(scene: &mut Scene<'_>, name: &'static str, path: &str, left_out: Option<String>) -> Option<Layer> {
    match scene.javascript_document(path, Format::Json) {
        Loaded::Absent => None,
        loaded => {
            let origin = Origin::File { path: path.to_owned(), place: None };
            Some(layer(name, origin, loaded, left_out))
        }
    }
}

fn layer(name: &'static str, origin: Origin, loaded: Loaded, left_out: Option<String>) -> Layer {
    let (document, counts) = match loaded {
        Loaded::Absent => (None, Counts::Yes),
        Loaded::Unreadable(why) => (None, Counts::Unclear(format!("it can't be read: {why}"))),
        Loaded::Malformed(reason) => (None, Counts::Ignored(format!("the CLI takes none of it, {reason}"))),
        Loaded::Document(document) => {
            let counts = match schema::judge(&document.root) {
                Taken::Yes => Counts::Yes,
                Taken::No(why) => Counts::Ignored(format!("the CLI takes none of this file, since {why}")),
                Taken::Perhaps(why) => {
                    Counts::Unclear(format!("whether the CLI takes this file can't be told, since {why}"))
                }
            };
            (Some(document), counts)
        }
    };
    let counts = left_out.map_or(counts, Counts::LeftOut);
    Layer { name, origin, document, counts }
}

/// The root of the repository that a folder lies in, which is where local settings are looked for as well.
fn git_root(scene: &Scene<'_>, folder: &str) -> Option<String> {
    let above = scene.workdir_and_above();
    let inside = above.iter().any(|above| above == folder);
    above.into_iter().filter(|_| inside).find(|folder| scene.exists(&join(folder, ".git")))
}
