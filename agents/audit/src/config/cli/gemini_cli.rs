//! Gemini CLI: google_web_search (the provider searches) and web_fetch (the provider fetches; the machine looks the name
//! up first).
//!
//! Settings come from system defaults, the user, the project and the system, each over the one before. `tools.exclude` adds
//! up over all of them and wins over everything, so an Off by it holds whatever the project says. `tools.core` is a list of
//! what stays; the strongest list counts, so a project's brings back what the user's leaves out.
//! Policy rules are weighed by their tier and priority. A project's settings count only in a folder that is trusted before
//! the CLI starts: `--skip-trust` comes too late for them (measured).

use crate::config::{Origin, Says, Scene};

mod extras;
mod flags;
mod policies;
mod settings;
mod start;
mod tools;

use start::Start;

/// Notes what is to be said.
pub(super) fn audit(scene: &mut Scene<'_>) {
    let start = Start::of(scene);
    super::refused(scene, &start.arguments);
    let settings = settings::Settings::load(scene, &start);
    let rules = policies::load(scene, &start, &settings);
    tools::note(scene, &start, &settings, &rules);
    extras::note(scene, &start, &settings);
    assumed(scene);
}

/// What was taken for granted.
fn assumed(scene: &mut Scene<'_>) {
    let launch = scene.launch();
    if launch.argv.is_none()
        && scene.decided_by(|setting| setting.says == Says::Off && setting.layer.contains("polic"))
    {
        let text = "the arguments are not given: --policy would take the place of the user's policies";
        scene.remark(Origin::Default, text);
    }
    let by_user = scene.decided_by(|setting| setting.says == Says::Off && setting.layer.starts_with("user"));
    if by_user && !launch.env_is_whole && scene.variable("GEMINI_CLI_HOME").is_none() {
        let text =
            "the environment is not given as a whole: GEMINI_CLI_HOME could lead to other user settings";
        scene.remark(Origin::Default, text);
    }
}
