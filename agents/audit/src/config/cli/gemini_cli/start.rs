//! How Gemini CLI is started.

use super::flags::FLAGS;
use crate::config::Scene;
use crate::config::argv::{Arguments, Dialect};
use crate::config::scene::join;

/// A start of Gemini CLI.
pub(super) struct Start<'a> {
    pub(super) arguments: Arguments<'a>,
    /// `~/.gemini`, or below where `GEMINI_CLI_HOME` says.
    pub(super) folder: String,
    /// The system's settings file, and whether a variable names it.
    pub(super) system: (String, bool),
    pub(super) system_defaults: (String, bool),
    /// Whether the project's home is the user's: then it has no settings of its own.
    pub(super) is_home: bool,
}

impl<'a> Start<'a> {
    pub(super) fn of(scene: &Scene<'a>) -> Self {
        let launch = scene.launch();
        let argv = launch.argv.as_deref().unwrap_or_default();
        let home =
            scene.variable("GEMINI_CLI_HOME").map_or(launch.home.clone(), |(home, _)| scene.resolved(home));
        let named = |name: &str| scene.variable(name).map(|(path, _)| (scene.resolved(path), true));
        let system = named("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
            .unwrap_or_else(|| ("/etc/gemini-cli/settings.json".to_owned(), false));
        let system_defaults = named("GEMINI_CLI_SYSTEM_DEFAULTS_PATH").unwrap_or_else(|| {
            let folder = system.0.rsplit_once('/').map_or("", |(folder, _)| folder);
            (join(folder, "system-defaults.json"), system.1)
        });
        Self {
            arguments: Arguments::read(argv, FLAGS, Dialect::Yargs),
            folder: join(&home, ".gemini"),
            system,
            system_defaults,
            is_home: launch.workdir.trim_end_matches('/') == home.trim_end_matches('/'),
        }
    }
}
