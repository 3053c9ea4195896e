//! Where aider finds its settings.

use closedbook_document::{Format, Node, Value};

use super::flags;
use crate::Malformed;
use crate::config::argv::{Arguments, Takes};
use crate::config::layers::{Layer, brief};
use crate::config::stops::Stops;
use crate::config::{Content, Origin, Scene, dotenv};

/// What aider would read.
#[derive(Default)]
pub(super) struct Settings {
    /// Weakest first.
    pub(super) files: Vec<Layer>,
    /// Variables of `.env` files, weakest first; they go over the environment's own.
    pub(super) variables: Vec<Variable>,
    /// `AIDER_...` of the environment itself.
    pub(super) environment: Vec<Variable>,
    /// Settings of models, which hold options of requests.
    pub(super) models: Vec<Layer>,
}

#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) origin: Origin,
}

/// What one place says of an option.
#[derive(Debug, Clone)]
pub(super) struct Spoken {
    pub(super) what: String,
    pub(super) value: String,
    pub(super) origin: Origin,
    pub(super) layer: &'static str,
}

impl Settings {
    pub(super) fn read(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Self {
        let mut settings = Self::default();
        let here = scene.launch().workdir.trim_end_matches('/').to_owned();
        let root = repository(scene, &here);
        let mut folders = vec![scene.launch().home.trim_end_matches('/').to_owned()];
        folders.extend(root.clone().filter(|root| *root != here));
        folders.push(here.clone());
        folders.dedup();

        let mut paths: Vec<(&'static str, String)> = folders
            .iter()
            .map(|folder| ("configuration file", format!("{folder}/.aider.conf.yml")))
            .collect();
        for given in arguments.all("--config") {
            paths.extend(given.value().map(|path| ("--config", within(&here, path))));
        }
        for (name, path) in paths {
            settings.file(scene, stops, name, &path);
        }
        for folder in &folders {
            let path = format!("{folder}/.aider.model.settings.yml");
            settings.models.extend(Layer::file(scene, "model settings", &path, Format::Yaml).ok().flatten());
        }
        for (name, (value, origin)) in &scene.launch().env {
            if name.starts_with("AIDER_") {
                let (name, value, origin) = (name.clone(), value.clone(), origin.clone());
                settings.environment.push(Variable { name, value, origin });
            }
        }
        // The root's own comes last unless another is named: that is the default of --env-file.
        let named = settings.strongest(arguments, "env-file").map(|spoken| within(&here, &spoken.value));
        let last = named.unwrap_or_else(|| format!("{}/.env", root.unwrap_or(here)));
        let mut paths: Vec<String> = vec![scene.home(".aider/oauth-keys.env")];
        paths.extend(folders.iter().map(|folder| format!("{folder}/.env")).filter(|path| *path != last));
        paths.push(last);
        paths.iter().for_each(|path| settings.dotenv(scene, path));
        settings
    }

    /// What every place says of an option, strongest first.
    pub(super) fn spoken(&self, arguments: &Arguments<'_>, option: &str) -> Vec<Spoken> {
        let flag = format!("--{option}");
        let given = arguments.last(&flag).and_then(|given| {
            let value = given.value()?.to_owned();
            Some(Spoken {
                what: format!("{flag} {value}"),
                value,
                origin: given.origin.clone(),
                layer: "flag",
            })
        });
        let mut spoken: Vec<Spoken> = given.into_iter().collect();
        let variable = format!("AIDER_{}", option.to_uppercase().replace('-', "_"));
        for (variables, layer) in [(&self.variables, ".env file"), (&self.environment, "environment")] {
            for found in variables.iter().rev().filter(|found| found.name == variable) {
                let (value, origin) = (found.value.clone(), found.origin.clone());
                spoken.push(Spoken { what: format!("{variable}={value}"), value, origin, layer });
            }
        }
        for layer in self.files.iter().rev() {
            for name in [option.to_owned(), format!("--{option}")] {
                let Some(found) = layer.get(&[&name]) else { continue };
                let Some(value) = plain(found.value) else { continue };
                spoken.push(Spoken {
                    what: format!("{name}: {value}"),
                    value,
                    origin: found.origin,
                    layer: layer.name,
                });
            }
        }
        spoken
    }

    pub(super) fn strongest(&self, arguments: &Arguments<'_>, option: &str) -> Option<Spoken> {
        self.spoken(arguments, option).into_iter().next()
    }

    fn file(&mut self, scene: &mut Scene<'_>, stops: &mut Stops, name: &'static str, path: &str) {
        let Some(layer) = stops.unless(Layer::file(scene, name, path, Format::Yaml)) else { return };
        let Some(document) = layer.document() else { return };
        let mut faults = Vec::new();
        if !matches!(document.root.value, Value::Table(_)) {
            faults.push((document.root.at, "aider ends with an error at a file that is no table".to_owned()));
        }
        for (key, value) in document.root.fields() {
            let Some(takes) = takes(&key.text) else {
                let reason = format!("aider has no option {:?}, and ends with an error at it", key.text);
                faults.push((key.at, reason));
                continue;
            };
            if takes == Takes::Nothing && plain(value).is_some_and(|text| truth(&text).is_none()) {
                let reason = format!("{} must be true or false, not {}", key.text, brief(value));
                faults.push((value.at, reason));
            }
        }
        for (at, reason) in faults {
            stops.because(format!("{}: {reason}", document.origin(at)));
            scene.malformed(document.fault(at, reason));
        }
        self.files.push(layer);
    }

    fn dotenv(&mut self, scene: &mut Scene<'_>, path: &str) {
        let Content::Bytes(bytes) = scene.bytes(path) else { return };
        // aider prints a line about such a file, and goes on without it.
        let text = match str::from_utf8(&bytes) {
            Ok(text) => text,
            Err(error) => {
                scene.malformed(Malformed::at(path, &bytes, error.valid_up_to(), "not UTF-8 text"));
                return;
            }
        };
        for entry in dotenv::read(text) {
            let place = Some(closedbook_document::Place::of(&bytes, entry.at));
            let origin = Origin::File { path: path.to_owned(), place };
            self.variables.push(Variable { name: entry.name, value: entry.value, origin });
        }
    }
}

/// How a switch reads its value, from a file and from a variable alike.
pub(super) fn truth(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    }
}

/// A value as the text that it becomes; nothing is said by a key without a value.
fn plain(value: &Node) -> Option<String> {
    match &value.value {
        Value::Text(text) => Some(text.clone()),
        Value::Boolean(value) => Some(value.to_string()),
        Value::Integer(value) => Some(value.to_string()),
        Value::Null => None,
        other => Some(other.kind().to_owned()),
    }
}

fn takes(key: &str) -> Option<Takes> {
    let dashed = if key.starts_with('-') { key.to_owned() } else { format!("--{key}") };
    flags::FLAGS.iter().find(|flag| flag.spellings.contains(&dashed.as_str())).map(|flag| flag.takes)
}

fn repository(scene: &Scene<'_>, here: &str) -> Option<String> {
    let mut folder = here;
    for _ in 0..64 {
        if scene.exists(&format!("{folder}/.git")) {
            return Some(folder.to_owned());
        }
        folder = folder.rsplit_once('/').filter(|(_, name)| !name.is_empty())?.0;
    }
    None
}

fn within(folder: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{folder}/{path}") }
}
