//! Qwen Code: web_fetch (the machine fetches) and web_search (the provider searches, with a DashScope address only).
//!
//! Both are loaded on demand: they do not stand in the request's `tools`. Settings come from system defaults, the user, the
//! project and the system; lists add up. Off wins, so an Off by a list that counts holds; `--safe-mode`, though, leaves out
//! every list in a file, and QWEN_HOME leads to other user settings. A project's settings count unless folder trust is on.

use crate::config::{Origin, Says, Scene};

mod extras;
mod flags;
mod settings;
mod tools;

/// Notes what is to be said.
pub(super) fn audit(scene: &mut Scene<'_>) {
    let start = settings::Start::of(scene);
    super::refused(scene, &start.arguments);
    let layers = settings::layers(scene, &start);
    tools::note(scene, &start, &layers);
    extras::note(scene, &start, &layers);
    let launch = scene.launch();
    let by_file = scene.decided_by(|setting| setting.says == Says::Off && setting.layer.contains("settings"));
    if by_file && launch.argv.is_none() {
        let text =
            "the arguments are not given: --safe-mode would leave out the file that switches the tools off";
        scene.remark(Origin::Default, text);
    }
    if by_file && !launch.env_is_whole && scene.variable("QWEN_HOME").is_none() {
        let text = "the environment is not given as a whole: QWEN_HOME could lead to other user settings";
        scene.remark(Origin::Default, text);
    }
}
