//! How Claude Code is started: its arguments and the variables that decide which settings count.

use super::flags::FLAGS;
use crate::config::argv::{Arguments, Dialect};
use crate::config::scene::join;
use crate::config::{Origin, Scene};

/// A start of Claude Code.
pub(super) struct Start<'a> {
    pub(super) arguments: Arguments<'a>,
    /// `~/.claude`, or where `CLAUDE_CONFIG_DIR` says.
    pub(super) folder: String,
    /// `.claude.json`, which lies elsewhere by default.
    pub(super) state_file: String,
    /// Where project settings are looked for.
    pub(super) project_root: String,
    /// What of `--setting-sources` was said, with where.
    sources: Option<(Vec<&'a str>, &'a Origin)>,
    /// What starts it with a few tools only: `--bare`.
    pub(super) bare: Option<(&'static str, Origin)>,
    pub(super) restricted: Option<Origin>,
}

/// What 2.1.295 takes for yes in a variable.
pub(super) fn is_yes(value: &str) -> bool {
    matches!(value.trim().to_lowercase().as_str(), "1" | "true" | "yes" | "on")
}

impl<'a> Start<'a> {
    pub(super) fn of(scene: &Scene<'a>) -> Self {
        let launch = scene.launch();
        let argv = launch.argv.as_deref().unwrap_or_default();
        let arguments = Arguments::read(argv, FLAGS, Dialect::Commander);
        let (folder, state_file) = match scene.variable("CLAUDE_CONFIG_DIR") {
            Some((folder, _)) => {
                let folder = scene.resolved(folder);
                (folder.clone(), join(&folder, ".claude.json"))
            }
            None => (scene.home(".claude"), scene.home(".claude.json")),
        };
        let project_root = match arguments.last("--project-config-root").and_then(|given| given.values.last())
        {
            Some(root) => scene.resolved(root.text),
            None => launch.workdir.clone(),
        };
        let sources = arguments.last("--setting-sources").and_then(|given| {
            let value = given.values.last()?;
            Some((value.text.split(',').map(str::trim).collect(), value.origin))
        });
        let simple = scene.variable("CLAUDE_CODE_SIMPLE").filter(|(value, _)| is_yes(value));
        let bare = arguments
            .set("--bare")
            .map(|given| ("--bare", given.origin.clone()))
            .or_else(|| simple.map(|(_, origin)| ("CLAUDE_CODE_SIMPLE", origin.clone())));
        let restricted = arguments.set("--restricted").map(|given| given.origin.clone());
        Self { arguments, folder, state_file, project_root, sources, bare, restricted }
    }

    /// Why settings of this source are left out: `user`, `project` or `local`.
    pub(super) fn leaves_out(&self, source: &str) -> Option<String> {
        if let Some(origin) = &self.restricted {
            return Some(format!("--restricted ({origin}) leaves it out"));
        }
        self.not_a_source(source)
    }

    /// Why what is not a setting is left out, agents and servers say: `--restricted` does not speak of them.
    pub(super) fn not_a_source(&self, source: &str) -> Option<String> {
        let (sources, origin) = self.sources.as_ref()?;
        let is_left_out = !sources.contains(&source);
        is_left_out.then(|| format!("--setting-sources ({origin}) does not name `{source}`"))
    }

    /// What leaves out hooks, plugins, agents and servers that files bring.
    pub(super) fn plain(&self) -> Option<String> {
        let safe = self.arguments.set("--safe-mode").map(|given| ("--safe-mode", given.origin.clone()));
        let (what, origin) = self.bare.clone().or(safe)?;
        Some(format!("{what} ({origin}) leaves it out"))
    }
}
