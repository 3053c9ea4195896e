//! Copilot CLI: web_fetch (the machine fetches) and web_search (the provider's MCP server searches, over the model host).
//!
//! Flags and variables alone take them away; nothing in a file does, so an Off holds against files. `--deny-tool` never takes
//! a tool away and even lets calls through. Beside the two, the built-in GitHub server reads GitHub over the model host.

use crate::config::argv::{Arguments, Dialect};
use crate::config::{Origin, Says, Scene};

mod extras;
mod flags;
mod tools;

/// Notes what is to be said.
pub(super) fn audit(scene: &mut Scene<'_>) {
    let argv = scene.launch().argv.as_deref().unwrap_or_default();
    let arguments = Arguments::read(argv, flags::FLAGS, Dialect::Clap);
    super::refused(scene, &arguments);
    let folder = match scene.variable("COPILOT_HOME") {
        Some((folder, _)) => scene.resolved(folder),
        None => scene.home(".copilot"),
    };
    tools::note(scene, &arguments, &folder);
    extras::note(scene, &arguments, &folder);
    let by_variable =
        scene.decided_by(|setting| setting.says == Says::Off && setting.layer == tools::VARIABLE);
    if by_variable && scene.launch().argv.is_none() {
        let text =
            "the arguments are not given: --enable-mcp-server or a server of a flag could bring tools back";
        scene.remark(Origin::Default, text);
    }
}
