//! Whether web_fetch and web_search are offered.

use super::super::gemini_family::{commented, resembles, texts};
use crate::config::argv::{Arguments, Word};
use crate::config::scene::join;
use crate::config::weigh::{off_wins, setting};
use crate::config::{Loaded, Origin, Says, Scene, Setting};

pub(super) const TOOLS: [&str; 2] = ["web_fetch", "web_search"];
pub(super) const VARIABLE: &str = "environment";
const FLAG: &str = "flag";
/// The server that has web_search.
pub(super) const GITHUB: &str = "github-mcp-server";

/// Notes both tools.
pub(super) fn note(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str) {
    let files = [join(folder, "settings.json"), join(folder, "config.json")];
    let documents: Vec<_> = files
        .iter()
        .filter_map(|path| match commented(scene, path) {
            Loaded::Document(document) => Some(document),
            _ => None,
        })
        .collect();
    for tool in TOOLS {
        let mut found = flags(tool, arguments);
        if tool == "web_search" {
            found.extend(server_off(scene, arguments));
        } else if let Some(origin) = offline(scene) {
            found.push(setting("COPILOT_OFFLINE leaves web_fetch out", origin, VARIABLE, Says::Off));
        }
        for document in &documents {
            for key in ["excludedTools", "deniedTools", "disabledTools", "deniedUrls"] {
                let Some(list) = document.root.get(key) else { continue };
                let names = key == "deniedUrls" || texts(list).any(|(text, _)| resembles(text, &[tool]));
                if names {
                    let why = "no file takes a tool away; --excluded-tools does".to_owned();
                    let origin = document.origin(list.at);
                    found.push(setting(
                        format!("{key} is given"),
                        origin,
                        "user settings",
                        Says::Ignored(why),
                    ));
                }
            }
        }
        scene.tool(off_wins(tool, found, "nothing switches it off, and the CLI offers it by itself"));
    }
}

fn flags(tool: &str, arguments: &Arguments<'_>) -> Vec<Setting> {
    let mut found = Vec::new();
    for (word, name) in names(arguments, "--excluded-tools") {
        let says = if name == tool {
            Says::Off
        } else if resembles(name, &[tool]) {
            Says::Ignored(format!(
                "the tool's name is {tool:?}; the CLI says that it does not know this one, and goes on"
            ))
        } else {
            continue;
        };
        found.push(setting(format!("--excluded-tools has {name:?}"), word.origin.clone(), FLAG, says));
    }
    let available = names(arguments, "--available-tools");
    if let Some((first, _)) = available.first() {
        let named = available.iter().find(|(_, name)| *name == tool || name.contains('*'));
        found.push(match named {
            Some((word, _)) => setting("--available-tools names it", word.origin.clone(), FLAG, Says::On),
            None => setting("--available-tools does not name it", first.origin.clone(), FLAG, Says::Off),
        });
    }
    for (flag, why) in [
        ("--deny-tool", "--deny-tool never takes a tool away, and some names even let the call through"),
        ("--deny-url", "--deny-url denies calls and leaves the tool offered; '*' lets calls through"),
    ] {
        if let Some(given) = arguments.last(flag) {
            let what = format!("{flag} is given");
            found.push(setting(what, given.origin.clone(), FLAG, Says::Ignored(why.to_owned())));
        }
    }
    found
}

/// The names in a flag's values, which are cut at commas.
fn names<'a>(arguments: &Arguments<'a>, flag: &str) -> Vec<(Word<'a>, &'a str)> {
    let words = arguments.values(flag);
    words.flat_map(|word| word.text.split(',').map(move |name| (word, name.trim()))).collect()
}

/// What leaves out the GitHub server and its web_search.
pub(super) fn server_off(scene: &Scene<'_>, arguments: &Arguments<'_>) -> Vec<Setting> {
    let mut found = Vec::new();
    if let Some(given) = arguments.set("--disable-builtin-mcps") {
        let what = "--disable-builtin-mcps leaves its server out";
        found.push(setting(what, given.origin.clone(), FLAG, Says::Off));
    }
    if let Some(word) = arguments.values("--disable-mcp-server").find(|word| word.text == GITHUB) {
        let what = format!("--disable-mcp-server has {GITHUB:?}");
        found.push(setting(what, word.origin.clone(), FLAG, Says::Off));
    }
    if let Some((_, origin)) = scene.variable("COPILOT_PROVIDER_BASE_URL") {
        let what = "with a model provider of its own, the CLI has no GitHub server";
        found.push(setting(what, origin.clone(), VARIABLE, Says::Off));
    }
    if let Some(origin) = offline(scene) {
        found.push(setting("COPILOT_OFFLINE leaves its server out", origin, VARIABLE, Says::Off));
    }
    if let Some(word) = arguments.values("--enable-mcp-server").find(|word| word.text == GITHUB) {
        let why = "--enable-mcp-server names the server, and which one wins was not measured";
        for setting in found.iter_mut().filter(|setting| setting.layer == FLAG) {
            setting.says = Says::Unclear(format!("{why} ({})", word.origin));
        }
    }
    found
}

/// Offline mode needs a model provider of its own; without one the CLI does not get that far.
fn offline(scene: &Scene<'_>) -> Option<Origin> {
    let (_, origin) = scene.variable("COPILOT_OFFLINE").filter(|(value, _)| *value == "true")?;
    Some(origin.clone())
}
