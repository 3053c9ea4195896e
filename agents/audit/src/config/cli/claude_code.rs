//! Claude Code: WebSearch (the provider searches) and WebFetch (the machine fetches, the provider learns the domain).
//!
//! Both are offered by default, in 2.1.295 and 2.1.332 as tools that are loaded on demand: they do not stand in the
//! request's `tools`. Off wins: one rule in any file that counts, or a flag, and no allow brings the tool back; subagents
//! do not get it either. What undoes an Off is a file that does not count: one that is no JSON, one with a wrong field
//! anywhere, one that `--setting-sources`, `--restricted` or `CLAUDE_CONFIG_DIR` leaves out. Only managed settings and
//! flags hold against all of these, so an Off from another file says so when the arguments are not known.

use crate::config::{Origin, Says, Scene};

mod extras;
mod flags;
mod rules;
mod schema;
mod servers;
mod settings;
mod start;
mod tools;

use settings::{Counts, Layer};
use start::Start;

/// Notes what is to be said.
pub(super) fn audit(scene: &mut Scene<'_>) {
    let start = Start::of(scene);
    super::refused(scene, &start.arguments);
    sources(scene, &start);
    let layers = settings::layers(scene, &start);
    for layer in layers.iter().filter(|layer| layer.document.is_some()) {
        if let Counts::Ignored(why) | Counts::Unclear(why) = &layer.counts {
            scene.remark(layer.origin.clone(), why.clone());
        }
    }
    tools::note(scene, &start, &layers);
    servers::note(scene, &start, &layers);
    extras::note(scene, &start, &layers);
    state_file(scene, &start);
    assumed(scene, &layers);
}

/// A source that the CLI does not know, and it does not start.
fn sources(scene: &mut Scene<'_>, start: &Start<'_>) {
    for word in start.arguments.values("--setting-sources") {
        let unknown = word
            .text
            .split(',')
            .map(str::trim)
            .find(|source| !matches!(*source, "user" | "project" | "local" | ""));
        if let Some(unknown) = unknown {
            let reason = format!("--setting-sources has {unknown:?}; it takes user, project and local");
            scene.malformed(crate::Malformed::whole(word.origin.to_string(), reason));
        }
    }
}

/// Permissions in `.claude.json` look right and count nowhere.
fn state_file(scene: &mut Scene<'_>, start: &Start<'_>) {
    let files = scene.launch().files;
    let crate::config::Content::Bytes(bytes) = files.read(&start.state_file) else { return };
    let Ok(root) = closedbook_document::Format::Json.read_bytes(&bytes) else { return };
    if let Some(node) = root.at_path(&["permissions", "deny"]) {
        let place = Some(closedbook_document::Place::of(&bytes, node.at));
        let origin = Origin::File { path: start.state_file.clone(), place };
        scene.remark(origin, "permissions.deny has no effect in this file; it belongs in settings.json");
    }
}

/// What was taken for granted.
fn assumed(scene: &mut Scene<'_>, layers: &[Layer]) {
    let launch = scene.launch();
    let by_file = scene.decided_by(|setting| {
        setting.says == Says::Off
            && layers.iter().any(|layer| layer.name == setting.layer && !layer.is_managed())
    });
    if !by_file {
        return;
    }
    if launch.argv.is_none() {
        let text = "the arguments are not given: --setting-sources or --restricted could leave out the file that switches the tools off";
        scene.remark(Origin::Default, text);
    }
    if !launch.env_is_whole && scene.variable("CLAUDE_CONFIG_DIR").is_none() {
        let text =
            "the environment is not given as a whole: CLAUDE_CONFIG_DIR could lead to other user settings";
        scene.remark(Origin::Default, text);
    }
}
