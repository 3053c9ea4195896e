//! Where Codex finds its settings.

use closedbook_document::{Format, Node, Value};

use crate::config::argv::{Arguments, Dialect, Flag, Takes};
use crate::config::layers::{Assignment, Layer, find};
use crate::config::stops::Stops;
use crate::config::{Origin, Scene};

pub(super) const USER: &str = "user config";
pub(super) const PROJECT: &str = "project config";
const SYSTEM: &str = "system config";
const PROFILE: &str = "profile";
const FLAGS: &str = "flags";
const MANAGED: &str = "managed config";
const REQUIREMENTS: &str = "requirements";

/// What Codex would read.
pub(super) struct Setup {
    /// Weakest first; what counts.
    pub(super) layers: Vec<Layer>,
    /// Layers that are there and don't count, each with why.
    pub(super) idle: Vec<(Layer, String)>,
    /// What no flag undoes.
    pub(super) requirements: Option<Layer>,
    /// `$CODEX_HOME`.
    pub(super) home: String,
    /// The folders from the project's root to the working directory.
    pub(super) folders: Vec<String>,
    pub(super) trust: Trust,
}

/// Whether the project's own files count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    Trusted,
    /// Not said, or said not to be; 0.162.0 reads the files all the same.
    ReadThough,
    /// Not said, or said not to be; 0.171.0 leaves the files alone.
    Ignored,
}

impl Setup {
    pub(super) fn read(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Self {
        let home = match scene.variable("CODEX_HOME") {
            Some((home, _)) if !home.is_empty() => home.trim_end_matches('/').to_owned(),
            _ => scene.home(".codex"),
        };
        let mut setup = Self {
            layers: Vec::new(),
            idle: Vec::new(),
            requirements: None,
            home,
            folders: Vec::new(),
            trust: Trust::Ignored,
        };
        setup.file(scene, stops, SYSTEM, "/etc/codex/config.toml");
        setup.user(scene, arguments, stops);
        let flags = flags(scene, arguments, stops);
        setup.project(scene, arguments, &flags, stops);
        setup.layers.push(flags);
        setup.file(scene, stops, MANAGED, "/etc/codex/managed_config.toml");
        let requirements = Layer::file(scene, REQUIREMENTS, "/etc/codex/requirements.toml", Format::Toml);
        setup.requirements = stops.unless(requirements);
        setup.elsewhere(scene);
        setup
    }

    fn file(&mut self, scene: &mut Scene<'_>, stops: &mut Stops, name: &'static str, path: &str) {
        self.layers.extend(stops.unless(Layer::file(scene, name, path, Format::Toml)));
    }

    fn user(&mut self, scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) {
        let mut files = vec![(USER, format!("{}/config.toml", self.home))];
        if let Some(profile) = arguments.last("--profile").and_then(|given| given.value()) {
            files.push((PROFILE, format!("{}/{profile}.config.toml", self.home)));
        }
        for (name, path) in files {
            let Some(layer) = stops.unless(Layer::file(scene, name, &path, Format::Toml)) else {
                if name == PROFILE {
                    scene.remark(Origin::Default, format!("{path} is not there: the profile says nothing"));
                }
                continue;
            };
            if let Some(chosen) = layer.get(&["profile"]) {
                stops.because(format!("{} chooses a profile by the old key `profile`", chosen.origin));
                let document = layer.document().map(|document| document.fault(chosen.value.at, OLD_PROFILE));
                document.into_iter().for_each(|fault| scene.malformed(fault));
            }
            if arguments.set("--ignore-user-config").is_some() {
                self.idle.push((layer, "--ignore-user-config leaves it out".into()));
            } else {
                self.layers.push(layer);
            }
        }
    }

    /// The files that come with the task.
    fn project(
        &mut self,
        scene: &mut Scene<'_>,
        arguments: &Arguments<'_>,
        flags: &Layer,
        stops: &mut Stops,
    ) {
        let given = arguments.last("--cd").and_then(|given| given.value());
        let here = match given {
            Some(folder) if folder.starts_with('/') => folder.trim_end_matches('/').to_owned(),
            Some(folder) => scene.workdir(folder),
            None => scene.launch().workdir.trim_end_matches('/').to_owned(),
        };
        self.folders = project_folders(scene, &here);
        let mut known = self.layers.clone();
        known.push(flags.clone());
        self.trust = trust(scene, &known, &self.folders);
        for folder in self.folders.clone() {
            let path = format!("{folder}/.codex/config.toml");
            if format!("{folder}/.codex") == self.home {
                continue;
            }
            match (Layer::file(scene, PROJECT, &path, Format::Toml), self.trust) {
                (Ok(Some(layer)), Trust::Ignored) => {
                    self.idle
                        .push((layer, "the folder is not trusted, and 0.171.0 leaves its file out".into()));
                }
                (Err(_), Trust::Ignored) => {}
                (read, _) => self.layers.extend(stops.unless(read)),
            }
        }
    }

    /// Files that people take for Codex's own.
    fn elsewhere(&mut self, scene: &mut Scene<'_>) {
        let toml = [
            (scene.home(".config/codex/config.toml"), "codex does not look there"),
            (format!("{}/managed_config.toml", self.home), "codex reads it in /etc/codex only"),
            (format!("{}/requirements.toml", self.home), "codex reads it in /etc/codex only"),
        ];
        let json = [(format!("{}/config.json", self.home), "codex reads config.toml only")];
        let mut files: Vec<_> = toml.map(|(path, why)| (path, Format::Toml, why)).into();
        files.extend(json.map(|(path, why)| (path, Format::Json, why)));
        let mine = scene.home(".codex");
        if mine != self.home {
            files.push((format!("{mine}/config.toml"), Format::Toml, "$CODEX_HOME is elsewhere"));
        }
        for (path, format, why) in files {
            let layer = Layer::stray(scene, "no layer", &path, format);
            self.idle.extend(layer.map(|layer| (layer, why.to_owned())));
        }
    }
}

const OLD_PROFILE: &str = "codex 0.162.0 ends with an error at the key `profile`; a profile is a file NAME.config.toml \
                           beside this one, chosen with --profile NAME";

/// Folders from the one with `.git` down to this one; this one alone if there is none.
fn project_folders(scene: &Scene<'_>, here: &str) -> Vec<String> {
    let mut folders = Vec::new();
    let mut folder = here;
    loop {
        folders.push(folder.to_owned());
        if scene.exists(&format!("{folder}/.git")) {
            folders.reverse();
            return folders;
        }
        match folder.rsplit_once('/') {
            Some((parent, name)) if !name.is_empty() && folders.len() < 64 => folder = parent,
            _ => return vec![here.to_owned()],
        }
    }
}

fn trust(scene: &Scene<'_>, layers: &[Layer], folders: &[String]) -> Trust {
    let is_trusted = folders.iter().any(|folder| {
        let folder = if folder.is_empty() { "/" } else { folder };
        let said = find(layers, &["projects", folder, "trust_level"]);
        said.first().and_then(|found| found.value.text()) == Some("trusted")
    });
    match scene.launch().version.as_deref() {
        _ if is_trusted => Trust::Trusted,
        Some(version) if version.trim_start_matches('v') == "0.171.0" => Trust::Ignored,
        _ => Trust::ReadThough,
    }
}

/// `-c` in order, then `--enable`, then `--disable`: measured with 0.162.0, where `--disable apps` wins over
/// `-c features.apps=true` and over `--enable apps` wherever they stand.
fn flags(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Layer {
    let mut assignments = Vec::new();
    for word in arguments.values("--config") {
        let Some((path, value)) = word.text.split_once('=') else {
            stops.refused(scene, word.origin.to_string(), format!("-c {:?} lacks `=`", word.text));
            continue;
        };
        assignments.push(Assignment {
            path: path.trim().split('.').map(str::to_owned).collect(),
            value: literal(value.trim()),
            origin: word.origin.clone(),
        });
    }
    for (flag, on) in [("--enable", true), ("--disable", false)] {
        for word in arguments.values(flag) {
            assignments.push(Assignment {
                path: vec!["features".into(), word.text.to_owned()],
                value: Node { at: 0, value: Value::Boolean(on) },
                origin: word.origin.clone(),
            });
        }
    }
    if let Some(search) = arguments.set("--search") {
        assignments.push(Assignment {
            path: vec!["web_search".into()],
            value: Node { at: 0, value: Value::Text("live".into()) },
            origin: search.origin.clone(),
        });
    }
    Layer::assignments(FLAGS, assignments)
}

/// What is no TOML value is a string.
fn literal(text: &str) -> Node {
    let read = Format::Toml.read(&format!("value = {text}")).ok();
    let value = read.as_ref().filter(|root| root.fields().count() == 1).and_then(|root| root.get("value"));
    value.cloned().unwrap_or_else(|| {
        let text = text.trim_matches(|c| c == '"' || c == '\'');
        Node { at: 0, value: Value::Text(text.to_owned()) }
    })
}

pub(super) fn read_arguments(argv: &[(String, Origin)]) -> Arguments<'_> {
    Arguments::read(argv, ARGUMENTS, Dialect::Clap)
}

const fn flag(spellings: &'static [&'static str], name: &'static str, takes: Takes) -> Flag {
    Flag { name, spellings, takes }
}

/// The flags of `codex` and `codex exec`, `resume` and `fork` included.
const ARGUMENTS: &[Flag] = &[
    flag(&["-c", "--config"], "--config", Takes::One),
    flag(&["--enable"], "--enable", Takes::One),
    flag(&["--disable"], "--disable", Takes::One),
    flag(&["-p", "--profile"], "--profile", Takes::One),
    flag(&["-C", "--cd"], "--cd", Takes::One),
    flag(&["-m", "--model"], "--model", Takes::One),
    flag(&["-i", "--image"], "--image", Takes::Many),
    flag(&["-s", "--sandbox"], "--sandbox", Takes::One),
    flag(&["-a", "--ask-for-approval"], "--ask-for-approval", Takes::One),
    flag(&["-o", "--output-last-message"], "--output-last-message", Takes::One),
    flag(&["--local-provider"], "--local-provider", Takes::One),
    flag(&["--add-dir"], "--add-dir", Takes::One),
    flag(&["--thread-source"], "--thread-source", Takes::One),
    flag(&["--cyber-access-program"], "--cyber-access-program", Takes::One),
    flag(&["--output-schema"], "--output-schema", Takes::One),
    flag(&["--color"], "--color", Takes::One),
    flag(&["--remote"], "--remote", Takes::One),
    flag(&["--remote-auth-token-env"], "--remote-auth-token-env", Takes::One),
    flag(&["--ignore-user-config"], "--ignore-user-config", Takes::Nothing),
    flag(&["--ignore-rules"], "--ignore-rules", Takes::Nothing),
    flag(&["--strict-config"], "--strict-config", Takes::Nothing),
    flag(&["--oss"], "--oss", Takes::Nothing),
    flag(&["--search"], "--search", Takes::Nothing),
    flag(&["--approve-for-me"], "--approve-for-me", Takes::Nothing),
    flag(&["--full-auto"], "--full-auto", Takes::Nothing),
    flag(
        &["--dangerously-bypass-approvals-and-sandbox", "--yolo"],
        "--dangerously-bypass-approvals-and-sandbox",
        Takes::Nothing,
    ),
    flag(&["--dangerously-bypass-hook-trust"], "--dangerously-bypass-hook-trust", Takes::Nothing),
    flag(&["--skip-git-repo-check"], "--skip-git-repo-check", Takes::Nothing),
    flag(&["--ephemeral"], "--ephemeral", Takes::Nothing),
    flag(&["--worktree"], "--worktree", Takes::Nothing),
    flag(&["--json", "--experimental-json"], "--json", Takes::Nothing),
    flag(&["--last"], "--last", Takes::Nothing),
    flag(&["--all"], "--all", Takes::Nothing),
    flag(&["--no-daemon"], "--no-daemon", Takes::Nothing),
    flag(&["--no-alt-screen"], "--no-alt-screen", Takes::Nothing),
    flag(&["-h", "--help"], "--help", Takes::Nothing),
    flag(&["-V", "--version"], "--version", Takes::Nothing),
];
