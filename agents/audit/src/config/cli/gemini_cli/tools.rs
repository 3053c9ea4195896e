//! Whether google_web_search and web_fetch are offered.

use super::super::gemini_family::{Counts, Layer, resembles, texts};
use super::policies::Rule;
use super::settings::Settings;
use super::start::Start;
use crate::config::weigh::{off_wins, setting};
use crate::config::{Origin, Says, Scene, Setting};

/// A tool: its name, its class, and what people call it besides.
pub(super) struct Tool {
    pub(super) name: &'static str,
    class: &'static str,
    others: &'static [&'static str],
}

pub(super) const TOOLS: [Tool; 2] = [
    Tool {
        name: "google_web_search",
        class: "WebSearchTool",
        others: &["GoogleSearch", "WebSearch", "web_search"],
    },
    Tool { name: "web_fetch", class: "WebFetchTool", others: &["WebFetch"] },
];

impl Tool {
    fn is_named(&self, text: &str) -> bool {
        text == self.name || text == self.class
    }

    /// `tools.core` takes names with arguments too.
    fn is_kept_by(&self, text: &str) -> bool {
        let head = text.split_once('(').map_or(text, |(head, _)| head);
        self.is_named(head)
    }

    fn resembles(&self, text: &str) -> bool {
        let names: Vec<&str> = [self.name, self.class].iter().chain(self.others).copied().collect();
        resembles(text, &names)
    }
}

/// Notes both tools.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings, rules: &[Rule]) {
    for tool in &TOOLS {
        let mut found: Vec<Setting> =
            settings.layers.iter().flat_map(|layer| excluded(tool, layer)).collect();
        found.extend(core(tool, &settings.layers));
        found.extend(policy(tool, settings, start, rules));
        found.extend(settings.layers.iter().flat_map(|layer| elsewhere(tool, layer)));
        if let Some(given) = start.arguments.last("--allowed-tools") {
            let why = "--allowed-tools spares questions and takes no tool away".to_owned();
            found.push(setting("--allowed-tools is given", given.origin.clone(), "flag", Says::Ignored(why)));
        }
        scene.tool(off_wins(tool.name, found, "nothing switches it off, and the CLI offers it by itself"));
    }
}

/// `tools.exclude`, which adds up over the layers.
fn excluded(tool: &Tool, layer: &Layer) -> Vec<Setting> {
    let Some(document) = &layer.document else {
        let says = match &layer.counts {
            Counts::Unclear(why) => Says::Unclear(why.clone()),
            Counts::Ignored(why) => Says::Ignored(why.clone()),
            Counts::Yes | Counts::LeftOut(_) => return Vec::new(),
        };
        return vec![setting("the file", layer.origin.clone(), layer.name, says)];
    };
    let Some((list, origin)) = layer.at(&["tools", "exclude"]) else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(text) = list.text().filter(|text| tool.resembles(text)) {
        let why = "tools.exclude must be a list; the CLI says so and goes on".to_owned();
        found.push(setting(format!("tools.exclude is {text:?}"), origin, layer.name, Says::Ignored(why)));
    }
    for (text, at) in texts(list) {
        let says = if tool.is_named(text) || text == "*" {
            held(layer)
        } else if tool.resembles(text) {
            Says::Ignored(format!("the tool's name is {:?}: case and separators count", tool.name))
        } else {
            continue;
        };
        let what = format!("tools.exclude has {text:?}");
        found.push(setting(what, document.origin(at), layer.name, says));
    }
    found
}

fn held(layer: &Layer) -> Says {
    match &layer.counts {
        Counts::Yes => Says::Off,
        Counts::LeftOut(why) => Says::Overridden(why.clone()),
        Counts::Ignored(why) => Says::Ignored(why.clone()),
        Counts::Unclear(why) => Says::Unclear(why.clone()),
    }
}

/// `tools.core`: what stays. The strongest list counts, so a project's may bring a tool back.
fn core(tool: &Tool, layers: &[Layer]) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut stronger: Option<(Counts, Origin)> = None;
    for layer in layers {
        let Some((list, origin)) = layer.at(&["tools", "core"]) else { continue };
        let is_list = matches!(list.value, closedbook_document::Value::List(_));
        let names = texts(list).any(|(text, _)| tool.is_kept_by(text));
        let what = match (is_list, names) {
            (false, _) => "tools.core is no list",
            (true, true) => "tools.core names it",
            (true, false) => "tools.core does not name it",
        };
        let says = match (held(layer), &stronger) {
            (Says::Off, Some((Counts::Yes, origin))) => {
                Says::Overridden(format!("tools.core at {origin} takes its place"))
            }
            (Says::Off, Some((_, origin))) => {
                Says::Unclear(format!("tools.core at {origin} may take its place"))
            }
            (Says::Off, None) if !is_list => Says::Unclear("the CLI does not start with it".into()),
            (Says::Off, None) if names => Says::On,
            (says, _) => says,
        };
        if stronger.is_none() && matches!(layer.counts, Counts::Yes | Counts::Unclear(_)) {
            stronger = Some((layer.counts.clone(), origin.clone()));
        }
        found.push(setting(what, origin, layer.name, says));
    }
    found
}

/// The first policy rule that speaks of the tool, and those that it makes void.
fn policy(tool: &Tool, settings: &Settings, start: &Start<'_>, rules: &[Rule]) -> Vec<Setting> {
    let mut found = Vec::new();
    let mut decided: Option<String> = None;
    let mut depends = false;
    let allowed = allowed(tool, settings, start);
    for rule in rules {
        if rule.tool != tool.name && rule.tool != "*" {
            if rule.denies && tool.resembles(&rule.tool) {
                let why = format!("the tool's name is {:?}", tool.name);
                found.push(setting(rule.what.clone(), rule.origin.clone(), rule.layer, Says::Ignored(why)));
            }
            continue;
        }
        if let Some((priority, origin)) = &allowed
            && decided.is_none()
            && rule.priority < *priority
        {
            decided = Some(format!("the allowance at {origin} comes before it"));
        }
        let says = match (&decided, rule.denies, &rule.depends) {
            (Some(why), true, _) => Says::Overridden(why.clone()),
            (_, false, _) => Says::On,
            (None, true, Some(why)) => Says::Unclear(why.clone()),
            (None, true, None) if depends => {
                Says::Unclear("a stronger rule allows the tool under conditions".into())
            }
            (None, true, None) => Says::Off,
        };
        match (&rule.depends, rule.denies) {
            (None, _) if decided.is_none() => {
                decided = Some(format!("the rule at {} comes before it", rule.origin));
            }
            (Some(_), false) => depends = true,
            _ => {}
        }
        found.push(setting(rule.what.clone(), rule.origin.clone(), rule.layer, says));
    }
    found
}

/// An allowance of the settings or a flag, which is a policy rule of a fixed priority.
fn allowed(tool: &Tool, settings: &Settings, start: &Start<'_>) -> Option<(i64, Origin)> {
    let flag = start
        .arguments
        .values("--allowed-tools")
        .find(|word| word.text.split(',').any(|name| tool.name == name.trim()));
    let flag = flag.map(|word| (4300, word.origin.clone()));
    flag.or_else(|| {
        [("allowed", 4300), ("core", 4250)].into_iter().find_map(|(key, priority)| {
            settings.layers.iter().filter(|layer| !matches!(layer.counts, Counts::LeftOut(_))).find_map(
                |layer| {
                    let (list, origin) = layer.at(&["tools", key])?;
                    texts(list).any(|(text, _)| text == tool.name).then_some((priority, origin))
                },
            )
        })
    })
}

/// Lists of tools at places where the CLI does not look.
fn elsewhere(tool: &Tool, layer: &Layer) -> Vec<Setting> {
    let Some(document) = &layer.document else { return Vec::new() };
    let places: [&[&str]; 9] = [
        &["excludeTools"],
        &["exclude"],
        &["tools", "excluded"],
        &["tools", "deny"],
        &["tools", "excludeTools"],
        &["tools", "disabled"],
        &["disallowedTools"],
        &["permissions", "deny"],
        &["tools", "disallowed"],
    ];
    let mut found = Vec::new();
    for place in places {
        let Some(node) = document.root.at_path(place) else { continue };
        if texts(node).map(|(text, _)| text).chain(node.text()).any(|text| tool.resembles(text)) {
            let what = format!("{} names it", place.join("."));
            let why = "the CLI does not know this field; it is tools.exclude".to_owned();
            found.push(setting(what, document.origin(node.at), layer.name, Says::Ignored(why)));
        }
    }
    let kept: [&[&str]; 2] = [&["coreTools"], &["core"]];
    for place in kept {
        if let Some(node) = document.root.at_path(place) {
            let what = format!("{} is given", place.join("."));
            let why = "the CLI does not know this field; it is tools.core".to_owned();
            found.push(setting(what, document.origin(node.at), layer.name, Says::Ignored(why)));
        }
    }
    found
}
