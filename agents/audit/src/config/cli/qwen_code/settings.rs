//! How Qwen Code is started, and its settings files.

use super::super::gemini_family::{self, ByteOrderMark, Counts, Layer};
use super::flags::FLAGS;
use crate::config::Scene;
use crate::config::argv::{Arguments, Dialect};
use crate::config::scene::join;

/// A start of Qwen Code.
pub(super) struct Start<'a> {
    pub(super) arguments: Arguments<'a>,
    /// `~/.qwen`, or where `QWEN_HOME` says.
    pub(super) folder: String,
}

impl<'a> Start<'a> {
    pub(super) fn of(scene: &Scene<'a>) -> Self {
        let argv = scene.launch().argv.as_deref().unwrap_or_default();
        let folder = match scene.variable("QWEN_HOME") {
            Some((folder, _)) => match folder.strip_prefix("~/") {
                Some(rest) => scene.home(rest),
                None => scene.resolved(folder),
            },
            None => scene.home(".qwen"),
        };
        Self { arguments: Arguments::read(argv, FLAGS, Dialect::Yargs), folder }
    }

    /// What leaves out the lists of files, servers, extensions and agents.
    pub(super) fn plain(&self) -> Option<String> {
        let given = self.arguments.set("--safe-mode").or_else(|| self.arguments.set("--bare"))?;
        Some(format!("{} ({}) leaves it out", given.flag, given.origin))
    }
}

/// Strongest first: system, project, user, system defaults.
pub(super) fn layers(scene: &mut Scene<'_>, start: &Start<'_>) -> Vec<Layer> {
    let named = |name: &str| scene.variable(name).map(|(path, _)| scene.resolved(path));
    let system =
        named("QWEN_CODE_SYSTEM_SETTINGS_PATH").unwrap_or_else(|| "/etc/qwen-code/settings.json".into());
    let defaults = named("QWEN_CODE_SYSTEM_DEFAULTS_PATH").unwrap_or_else(|| {
        join(system.rsplit_once('/').map_or("", |(folder, _)| folder), "system-defaults.json")
    });
    let broken = "the CLI does not start with it (exit 1)";
    let mut load =
        |name, path: &str, broken| gemini_family::layer(scene, name, path, broken, ByteOrderMark::Skipped);
    let system = load("system settings", &system, broken);
    let user = load("user settings", &join(&start.folder, "settings.json"), broken);
    let defaults = load("system default settings", &defaults, broken);
    let path = scene.workdir(".qwen/settings.json");
    let is_home = path == join(&start.folder, "settings.json");
    let mut project = if is_home {
        None
    } else {
        gemini_family::layer(
            scene,
            "project settings",
            &path,
            "the CLI passes over it",
            ByteOrderMark::Skipped,
        )
    };
    let trust = [&system, &user, &defaults].into_iter().flatten().find_map(|layer| {
        let (value, origin) = layer.at(&["security", "folderTrust", "enabled"])?;
        (value.boolean()? && layer.counts()).then_some(origin)
    });
    if let (Some(project), Some(origin)) = (&mut project, trust)
        && project.counts()
    {
        let list = join(&start.folder, "trustedFolders.json");
        project.counts = if scene.exists(&list) {
            Counts::Unclear(format!("folder trust is on ({origin}), and {list} is not followed here"))
        } else {
            Counts::LeftOut(format!("folder trust is on ({origin}), and nothing trusts the folder"))
        };
    }
    [system, project, user, defaults].into_iter().flatten().collect()
}
