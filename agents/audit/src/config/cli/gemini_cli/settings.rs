//! The settings files of Gemini CLI, and which of them count.

use closedbook_document::Node;

use super::super::gemini_family::{self, ByteOrderMark, Counts, Layer};
use super::start::Start;
use crate::config::scene::join;
use crate::config::{Loaded, Origin, Scene};

/// The settings.
pub(super) struct Settings {
    /// Strongest first: system, project, user, system defaults.
    pub(super) layers: Vec<Layer>,
    /// Whether the project's folder is trusted.
    pub(super) trust: Trust,
}

/// Whether the project's folder is trusted when settings are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Trust {
    Trusted(String),
    Not(String),
    Unknown(String),
}

const USER: &str = "user settings";
const PROJECT: &str = "project settings";
const BROKEN: &str = "the CLI does not start with it (exit 52)";

impl Settings {
    pub(super) fn load(scene: &mut Scene<'_>, start: &Start<'_>) -> Self {
        let system = system(scene, "system settings", &start.system);
        let user = gemini_family::layer(
            scene,
            USER,
            &join(&start.folder, "settings.json"),
            BROKEN,
            ByteOrderMark::Breaks,
        );
        let defaults = system_file_of_defaults(scene, start);
        let trust = Trust::of(scene, start, [&system, &user, &defaults].into_iter().flatten());
        let mut project = if start.is_home {
            None
        } else {
            gemini_family::layer(
                scene,
                PROJECT,
                &scene.workdir(".gemini/settings.json"),
                BROKEN,
                ByteOrderMark::Breaks,
            )
        };
        if let Some(layer) = &mut project
            && layer.counts()
        {
            layer.counts = match &trust {
                Trust::Trusted(_) => Counts::Yes,
                Trust::Not(why) => Counts::LeftOut(why.clone()),
                Trust::Unknown(why) => Counts::Unclear(why.clone()),
            };
        }
        Self { layers: [system, project, user, defaults].into_iter().flatten().collect(), trust }
    }
}

fn system_file_of_defaults(scene: &mut Scene<'_>, start: &Start<'_>) -> Option<Layer> {
    system(scene, "system defaults", &start.system_defaults)
}

/// A system file counts only if nobody but root can write it and the folders above.
fn system(scene: &mut Scene<'_>, name: &'static str, path: &(String, bool)) -> Option<Layer> {
    let (path, is_named) = path;
    let mut layer = gemini_family::layer(scene, name, path, BROKEN, ByteOrderMark::Breaks)?;
    if layer.counts() {
        match scene.launch().files.is_protected(path) {
            Some(true) => {}
            Some(false) => {
                let why = "others than root can write the file or a folder above, and the CLI skips it";
                layer.counts = Counts::LeftOut(why.into());
            }
            None if *is_named => {
                let why = "the CLI skips it if others than root can write the file or a folder above";
                layer.counts = Counts::Unclear(why.into());
            }
            None => {}
        }
    }
    Some(layer)
}

impl Trust {
    fn of<'l>(
        scene: &mut Scene<'_>,
        start: &Start<'_>,
        layers: impl Iterator<Item = &'l Layer> + Clone,
    ) -> Self {
        let variable = |name: &str| scene.env(name);
        if variable("GEMINI_RESTRICTED_MODE") == Some("true") {
            return Self::Not("$GEMINI_RESTRICTED_MODE says that the folder is not trusted".into());
        }
        match variable("GEMINI_CLI_TRUST_WORKSPACE") {
            Some("false") => return Self::Not("$GEMINI_CLI_TRUST_WORKSPACE is false".into()),
            Some("true") => return Self::Trusted("$GEMINI_CLI_TRUST_WORKSPACE is true".into()),
            _ => {}
        }
        // The strongest layer that says something decides.
        let enabled = layers.filter(|layer| layer.counts()).find_map(|layer| {
            let (value, origin) = layer.at(&["security", "folderTrust", "enabled"])?;
            Some((value.boolean()?, origin))
        });
        if let Some((false, origin)) = enabled {
            return Self::Trusted(format!("security.folderTrust.enabled is false ({origin})"));
        }
        let path = match scene.variable("GEMINI_CLI_TRUSTED_FOLDERS_PATH") {
            Some((path, _)) => scene.resolved(path),
            None => join(&start.folder, "trustedFolders.json"),
        };
        match gemini_family::commented(scene, &path) {
            Loaded::Document(document) => Self::by_list(scene, &document.root, |at| document.origin(at)),
            Loaded::Unreadable(why) => Self::Unknown(format!("{path} can't be read: {why}")),
            Loaded::Absent | Loaded::Malformed(_) if !scene.launch().env_is_whole => {
                Self::Unknown("$GEMINI_CLI_TRUST_WORKSPACE may be set, which makes the folder trusted".into())
            }
            Loaded::Absent | Loaded::Malformed(_) => {
                Self::Not("nothing makes the folder trusted when settings are read".into())
            }
        }
    }

    /// The longest path that the working directory lies in decides.
    fn by_list(scene: &Scene<'_>, list: &Node, origin: impl Fn(usize) -> Origin) -> Self {
        let workdir = format!("{}/", scene.launch().workdir.trim_end_matches('/'));
        let mut found: Option<(usize, bool, usize)> = None;
        for (path, level) in list.fields() {
            let folder = match level.text() {
                Some("TRUST_PARENT") => path.text.rsplit_once('/').map_or("", |(parent, _)| parent),
                _ => &path.text,
            };
            let folder = format!("{}/", folder.trim_end_matches('/'));
            let trusts = matches!(level.text(), Some("TRUST_FOLDER" | "TRUST_PARENT"));
            let applies =
                workdir.starts_with(&folder) || (level.text() == Some("DO_NOT_TRUST") && workdir == folder);
            if applies && found.is_none_or(|(length, _, _)| length < folder.len()) {
                found = Some((folder.len(), trusts, path.at));
            }
        }
        match found {
            Some((_, true, at)) => Self::Trusted(format!("{} trusts the folder", origin(at))),
            Some((_, false, at)) => Self::Not(format!("{} does not trust the folder", origin(at))),
            None => Self::Not("nothing makes the folder trusted when settings are read".into()),
        }
    }
}
