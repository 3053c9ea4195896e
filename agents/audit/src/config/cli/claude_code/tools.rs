//! Whether WebSearch and WebFetch are offered.

use super::rules::{self, Effect};
use super::settings::{Counts, Layer};
use super::start::{Start, is_yes};
use crate::config::weigh::{off_wins, setting};
use crate::config::{Origin, Says, Scene, Setting};

pub(super) const TOOLS: [&str; 2] = ["WebSearch", "WebFetch"];

const FLAG: &str = "flag";
const VARIABLE: &str = "environment";

/// Notes both tools.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    let managed_only = layers.iter().filter(|layer| layer.is_managed()).find_map(|layer| {
        let (value, origin) = layer.at(&["allowManagedPermissionRulesOnly"])?;
        (value.boolean() == Some(true)).then_some(origin)
    });
    for tool in TOOLS {
        let mut settings = Vec::new();
        for layer in layers.iter().filter(|layer| layer.is_managed()) {
            settings.extend(denied(tool, layer, None));
        }
        settings.extend(flags(tool, start));
        settings.extend(variables(tool, scene, start));
        for layer in layers.iter().filter(|layer| !layer.is_managed()) {
            settings.extend(denied(tool, layer, managed_only.as_ref()));
            settings.extend(elsewhere(tool, layer));
            settings.extend(simple(layer));
        }
        settings.extend(agent(start, layers));
        scene.tool(off_wins(tool, settings, "nothing switches it off, and the CLI offers it by itself"));
    }
}

/// The rules of `permissions.deny`; deny wins over every allow.
fn denied(tool: &str, layer: &Layer, managed_only: Option<&Origin>) -> Vec<Setting> {
    let note = |what: String, origin, says| setting(what, origin, layer.name, says);
    let Some(document) = &layer.document else {
        return match &layer.counts {
            Counts::Unclear(why) => {
                vec![note("the file".into(), layer.origin.clone(), Says::Unclear(why.clone()))]
            }
            Counts::Ignored(why) => {
                vec![note("the file".into(), layer.origin.clone(), Says::Ignored(why.clone()))]
            }
            Counts::Yes | Counts::LeftOut(_) => Vec::new(),
        };
    };
    let mut settings = Vec::new();
    if let Some((deny, origin)) = layer.at(&["permissions", "deny"]) {
        if let Some(text) = deny.text().filter(|text| rules::resembles(text, tool)) {
            let why = "permissions.deny must be a list".to_owned();
            settings.push(note(format!("permissions.deny is {text:?}"), origin, Says::Ignored(why)));
        }
        for item in deny.items() {
            let Some(rule) = item.text() else { continue };
            let says = match rules::effect(rule, tool) {
                Effect::Nothing => continue,
                Effect::Removes => held(layer, managed_only),
                Effect::Narrows => Says::Ignored(NARROWS.into()),
                Effect::Misspelt => Says::Ignored(misspelt(tool)),
            };
            let what = format!("permissions.deny has {rule:?}");
            settings.push(note(what, document.origin(item.at), says));
        }
    }
    for list in ["allow", "ask"] {
        let Some((rules, _)) = layer.at(&["permissions", list]) else { continue };
        for item in rules.items() {
            let names = item.text().is_some_and(|rule| rules::effect(rule, tool) == Effect::Removes);
            if names {
                let what = format!("permissions.{list} has {:?}", item.text().unwrap_or_default());
                settings.push(note(what, document.origin(item.at), Says::On));
            }
        }
    }
    settings
}

const NARROWS: &str = "a rule with something in its parentheses denies calls and leaves the tool offered";

fn misspelt(tool: &str) -> String {
    format!("it is no rule for {tool}: case, spaces and separators count")
}

/// What a rule that takes the tool away comes to in this layer.
fn held(layer: &Layer, managed_only: Option<&Origin>) -> Says {
    match (&layer.counts, managed_only) {
        (Counts::Ignored(why), _) => Says::Ignored(why.clone()),
        (Counts::LeftOut(why), _) => Says::Overridden(why.clone()),
        (_, Some(origin)) => {
            Says::Overridden(format!("allowManagedPermissionRulesOnly ({origin}) keeps all other rules out"))
        }
        (Counts::Unclear(why), None) => Says::Unclear(why.clone()),
        (Counts::Yes, None) => Says::Off,
    }
}

/// Lists of tools at places where the CLI does not look.
fn elsewhere(tool: &str, layer: &Layer) -> Vec<Setting> {
    let Some(document) = &layer.document else { return Vec::new() };
    let places: [&[&str]; 8] = [
        &["deny"],
        &["permission", "deny"],
        &["permissions", "disallow"],
        &["permissions", "denied"],
        &["disallowedTools"],
        &["disallowed_tools"],
        &["disabledTools"],
        &["permissions", "disallowedTools"],
    ];
    let mut settings = Vec::new();
    for place in places {
        let Some(node) = document.root.at_path(place) else { continue };
        let texts = node.items().iter().filter_map(|item| item.text()).chain(node.text());
        if texts.into_iter().any(|text| rules::resembles(text, tool)) {
            let what = format!("{} names it", place.join("."));
            let why = "the CLI does not know this field; it is permissions.deny".to_owned();
            settings.push(setting(what, document.origin(node.at), layer.name, Says::Ignored(why)));
        }
    }
    settings
}

/// `CLAUDE_CODE_SIMPLE` in a settings file's `env`: measured for user settings, where it counts, and for project
/// settings, where it does not.
fn simple(layer: &Layer) -> Option<Setting> {
    let (value, origin) = layer.at(&["env", "CLAUDE_CODE_SIMPLE"])?;
    value.text().filter(|value| is_yes(value))?;
    let says = match (layer.name, &layer.counts) {
        ("user settings", Counts::Yes) => Says::Off,
        ("project settings" | "local project settings", _) => {
            Says::Ignored("a project's `env` does not set this variable in time".into())
        }
        (_, Counts::Ignored(why)) => Says::Ignored(why.clone()),
        (_, Counts::LeftOut(why)) => Says::Overridden(why.clone()),
        _ => Says::Unclear("whether it counts here was not measured".into()),
    };
    Some(setting("env.CLAUDE_CODE_SIMPLE is set", origin, layer.name, says))
}

fn flags(tool: &str, start: &Start<'_>) -> Vec<Setting> {
    let mut settings = Vec::new();
    for word in start.arguments.values("--disallowedTools") {
        for rule in rules::names(word.text) {
            let says = match rules::effect(rule, tool) {
                Effect::Nothing => continue,
                Effect::Removes => Says::Off,
                Effect::Narrows => Says::Ignored(NARROWS.into()),
                Effect::Misspelt => Says::Ignored(misspelt(tool)),
            };
            settings.push(setting(
                format!("--disallowedTools has {rule:?}"),
                word.origin.clone(),
                FLAG,
                says,
            ));
        }
    }
    let list: Vec<_> = start.arguments.values("--tools").collect();
    let named = list
        .iter()
        .find(|word| rules::names(word.text).into_iter().any(|name| name == tool || name == "default"));
    let is_restricted = start.restricted.as_ref().filter(|_| tool == "WebFetch");
    match (list.first(), named) {
        (_, Some(word)) => {
            settings.push(setting("--tools names it", word.origin.clone(), FLAG, Says::On));
        }
        (Some(word), None) => {
            let what = "--tools does not name it";
            settings.push(setting(what, word.origin.clone(), FLAG, Says::Off));
        }
        (None, None) => settings.extend(
            is_restricted
                .map(|origin| setting("--restricted leaves WebFetch out", origin.clone(), FLAG, Says::Off)),
        ),
    }
    if let Some(allowed) = start.arguments.last("--allowedTools") {
        let why = "--allowedTools spares questions and takes no tool away; --tools would".to_owned();
        settings.push(setting("--allowedTools is given", allowed.origin.clone(), FLAG, Says::Ignored(why)));
    }
    if let Some((what, origin)) = start.bare.as_ref().filter(|(what, _)| *what == "--bare") {
        let what = format!("{what} leaves Bash, Edit and Read only");
        settings.push(setting(what, origin.clone(), FLAG, Says::Off));
    }
    settings
}

fn variables(tool: &str, scene: &Scene<'_>, start: &Start<'_>) -> Vec<Setting> {
    let mut settings = Vec::new();
    if let Some((what, origin)) = start.bare.as_ref().filter(|(what, _)| *what != "--bare") {
        let what = format!("{what} leaves Bash, Edit and Read only");
        settings.push(setting(what, origin.clone(), VARIABLE, Says::Off));
    }
    if let Some((value, origin)) = scene.variable("CLAUDE_CODE_USE_BEDROCK")
        && tool == "WebSearch"
        && is_yes(value)
    {
        let what = "Bedrock has no web search";
        settings.push(setting(what, origin.clone(), VARIABLE, Says::Off));
    }
    settings
}

/// A session that runs as an agent has that agent's tools, which are not followed here.
fn agent(start: &Start<'_>, layers: &[Layer]) -> Option<Setting> {
    let why =
        || Says::Unclear("its own list of tools may leave the tool out, and is not followed here".into());
    if let Some(given) = start.arguments.last("--agent") {
        let what = format!("the session runs as the agent {:?}", given.value().unwrap_or_default());
        return Some(setting(what, given.origin.clone(), FLAG, why()));
    }
    let layer = layers.iter().find(|layer| layer.counts == Counts::Yes && layer.at(&["agent"]).is_some())?;
    let (node, origin) = layer.at(&["agent"])?;
    let what = format!("the session runs as the agent {:?}", node.text().unwrap_or_default());
    Some(setting(what, origin, layer.name, why()))
}
