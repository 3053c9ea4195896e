//! Where Grok finds its settings.

use closedbook_document::{Format, Node};

use crate::Malformed;
use crate::config::argv::Arguments;
use crate::config::layers::{Assignment, Layer};
use crate::config::stops::Stops;
use crate::config::{Content, Origin, Scene};

/// What Grok would read.
pub(super) struct Setup {
    /// Weakest first, requirements left out.
    pub(super) config: Vec<Layer>,
    /// Weakest first; they go over everything but flags, which can only add to what is switched off.
    pub(super) requirements: Vec<Layer>,
    /// Files of the project, the working directory's last.
    pub(super) project: Vec<Layer>,
    /// `$GROK_HOME`.
    pub(super) home: String,
    /// The folders from the project's root to the working directory.
    pub(super) folders: Vec<String>,
    /// Whether the project is trusted, so that its servers and hooks run.
    pub(super) is_trusted: bool,
}

impl Setup {
    pub(super) fn read(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Self {
        let home = match scene.env("GROK_HOME") {
            Some(home) if !home.is_empty() => home.trim_end_matches('/').to_owned(),
            _ => scene.home(".grok"),
        };
        let here = match arguments.last("--cwd").and_then(|given| given.value()) {
            Some(folder) if folder.starts_with('/') => folder.trim_end_matches('/').to_owned(),
            Some(folder) => scene.workdir(folder),
            None => scene.launch().workdir.trim_end_matches('/').to_owned(),
        };
        let mut config = Vec::new();
        for (name, path) in [
            ("managed config", "/etc/grok/managed_config.toml".to_owned()),
            ("managed config", format!("{home}/managed_config.toml")),
            ("user config", format!("{home}/config.toml")),
        ] {
            config.extend(stops.unless(Layer::file(scene, name, &path, Format::Toml)));
        }
        config.extend(overlay(scene));
        let mut requirements = Vec::new();
        for path in [format!("{home}/requirements.toml"), "/etc/grok/requirements.toml".to_owned()] {
            match Layer::file(scene, "requirements", &path, Format::Toml) {
                Ok(layer) => requirements.extend(layer),
                Err(_) => {
                    let origin = Origin::File { path, place: None };
                    scene.remark(origin, "grok passes over it without a word: none of its pins holds");
                }
            }
        }
        let folders = folders(scene, &here);
        let mut project = Vec::new();
        for folder in &folders {
            let path = format!("{folder}/.grok/config.toml");
            if path != format!("{home}/config.toml") {
                // A project's file that is no TOML is left out; the report has it.
                project.extend(Layer::file(scene, "project config", &path, Format::Toml).ok().flatten());
            }
        }
        let is_trusted = arguments.set("--trust").is_some() || is_trusted(scene, &home, &folders);
        Self { config, requirements, project, home, folders, is_trusted }
    }
}

/// What the overlay may set, of what matters here.
const OVERLAID: &str = "features";

/// `$GROK_CONFIG`, JSON, or else the file of `$GROK_CONFIG_PATH`. What can't be read is passed over with a warning in the
/// log.
fn overlay(scene: &mut Scene<'_>) -> Option<Layer> {
    if let Some((value, origin)) = scene.variable("GROK_CONFIG").filter(|(value, _)| !value.trim().is_empty())
    {
        match Format::Json.read(value) {
            Ok(root) => return Some(only_features(&root, |_| origin.clone())),
            Err(fault) => {
                let reason = format!("no JSON, so grok passes over it: {fault}");
                scene.malformed(Malformed::at("$GROK_CONFIG", value.as_bytes(), fault.at, reason));
            }
        }
    }
    let path = scene.env("GROK_CONFIG_PATH").filter(|path| !path.is_empty())?;
    let format = if path.ends_with(".json") { Format::Json } else { Format::Toml };
    let layer = Layer::file(scene, "overlay", path, format).ok().flatten()?;
    let document = layer.document()?;
    Some(only_features(&document.root, |at| document.origin(at)))
}

fn only_features(root: &Node, origin: impl Fn(usize) -> Origin) -> Layer {
    let fields = root.get(OVERLAID).into_iter().flat_map(|node| node.fields());
    let set = fields.map(|(key, value)| Assignment {
        path: vec![OVERLAID.to_owned(), key.text.clone()],
        value: value.clone(),
        origin: origin(key.at),
    });
    Layer::assignments("overlay", set.collect())
}

fn folders(scene: &Scene<'_>, here: &str) -> Vec<String> {
    let mut folders = vec![here.to_owned()];
    let mut folder = here;
    while !scene.exists(&format!("{folder}/.git")) {
        match folder.rsplit_once('/') {
            Some((parent, name)) if !name.is_empty() && folders.len() < 64 => folder = parent,
            _ => return vec![here.to_owned()],
        }
        folders.push(folder.to_owned());
    }
    folders.reverse();
    folders
}

/// `trusted_folders.toml`: a folder and everything below it.
fn is_trusted(scene: &mut Scene<'_>, home: &str, folders: &[String]) -> bool {
    let path = format!("{home}/trusted_folders.toml");
    if scene.launch().files.read(&path) == Content::Absent {
        return false;
    }
    let Ok(Some(layer)) = Layer::file(scene, "trust", &path, Format::Toml) else { return false };
    let Some(here) = folders.last() else { return false };
    layer.names(&["folders"]).iter().any(|folder| {
        let trusted = layer.get(&["folders", folder, "trusted"]).and_then(|found| found.value.boolean());
        let below = here.strip_prefix(folder.trim_end_matches('/'));
        trusted == Some(true) && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}
