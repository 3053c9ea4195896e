//! Whether web_fetch and web_search are offered.

use super::super::gemini_family::{Counts, Layer, resembles, texts};
use super::settings::Start;
use crate::config::provider::host;
use crate::config::weigh::{off_wins, setting};
use crate::config::{Origin, Says, Scene, Setting};

/// A tool's name, and the others that rules know it by.
pub(super) struct Tool {
    pub(super) name: &'static str,
    aliases: [&'static str; 2],
}

pub(super) const TOOLS: [Tool; 2] = [
    Tool { name: "web_fetch", aliases: ["WebFetch", "WebFetchTool"] },
    Tool { name: "web_search", aliases: ["WebSearch", "WebSearchTool"] },
];

/// What a rule does to a tool.
#[derive(PartialEq, Eq)]
enum Effect {
    Removes,
    Narrows,
    Misspelt,
    Nothing,
}

impl Tool {
    fn is_named(&self, text: &str) -> bool {
        text == self.name || self.aliases.contains(&text)
    }

    fn effect(&self, rule: &str) -> Effect {
        let rule = rule.trim();
        let (head, inner) = match rule.split_once('(') {
            Some((head, rest)) => (head.trim(), Some(rest)),
            None => (rule, None),
        };
        if self.is_named(head) {
            return if inner.is_none_or(|inner| inner == ")") { Effect::Removes } else { Effect::Narrows };
        }
        if resembles(rule, &[self.name]) { Effect::Misspelt } else { Effect::Nothing }
    }

    fn says(&self, rule: &str, removes: impl FnOnce() -> Says) -> Option<Says> {
        Some(match self.effect(rule) {
            Effect::Nothing => return None,
            Effect::Removes => removes(),
            Effect::Narrows => {
                Says::Ignored("a rule with something in its parentheses leaves the tool offered".into())
            }
            Effect::Misspelt => Says::Ignored(format!(
                "the tool's names are {}, {} and {}: case and separators count",
                self.name, self.aliases[0], self.aliases[1]
            )),
        })
    }
}

/// The lists that take tools away; the last is what an older version wrote, which is still taken over.
const LISTS: [&[&str]; 3] = [&["permissions", "deny"], &["tools", "exclude"], &["excludeTools"]];
const FLAG: &str = "flag";

/// Notes both tools.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    let plain = start.plain();
    for tool in &TOOLS {
        let mut found = flags(tool, start);
        for layer in layers {
            found.extend(lists(tool, layer, plain.as_deref()));
        }
        found.extend(core(tool, start, layers, plain.as_deref()));
        if tool.name == "web_search" {
            found.extend(search(scene, start, layers));
        }
        scene.tool(off_wins(tool.name, found, "nothing switches it off, and the CLI offers it by itself"));
    }
}

fn flags(tool: &Tool, start: &Start<'_>) -> Vec<Setting> {
    let mut found = Vec::new();
    for word in start.arguments.values("--exclude-tools") {
        for rule in word.text.split(',') {
            if let Some(says) = tool.says(rule, || Says::Off) {
                found.push(setting(format!("--exclude-tools has {rule:?}"), word.origin.clone(), FLAG, says));
            }
        }
    }
    if let Some(given) = start.arguments.set("--bare") {
        found.push(setting("--bare leaves web tools out", given.origin.clone(), FLAG, Says::Off));
    }
    if let Some(given) = start.arguments.set("--safe-mode").filter(|_| tool.name == "web_search") {
        found.push(setting("--safe-mode leaves web_search out", given.origin.clone(), FLAG, Says::Off));
    }
    if let Some(given) = start.arguments.last("--allowed-tools") {
        let why = "--allowed-tools spares questions and takes no tool away; --core-tools would".to_owned();
        found.push(setting("--allowed-tools is given", given.origin.clone(), FLAG, Says::Ignored(why)));
    }
    found
}

fn lists(tool: &Tool, layer: &Layer, plain: Option<&str>) -> Vec<Setting> {
    let Some(document) = &layer.document else {
        let says = match &layer.counts {
            Counts::Unclear(why) => Says::Unclear(why.clone()),
            Counts::Ignored(why) => Says::Ignored(why.clone()),
            Counts::Yes | Counts::LeftOut(_) => return Vec::new(),
        };
        return vec![setting("the file", layer.origin.clone(), layer.name, says)];
    };
    let mut found = Vec::new();
    for path in LISTS {
        let Some((list, origin)) = layer.at(path) else { continue };
        let path = path.join(".");
        if let Some(text) = list.text().filter(|text| tool.effect(text) != Effect::Nothing) {
            let why = format!("{path} must be a list");
            found.push(setting(format!("{path} is {text:?}"), origin, layer.name, Says::Ignored(why)));
        }
        for (rule, at) in texts(list) {
            if let Some(says) = tool.says(rule, || held(layer, plain)) {
                found.push(setting(format!("{path} has {rule:?}"), document.origin(at), layer.name, says));
            }
        }
    }
    for path in [
        &["webSearch"][..],
        &["web_search"],
        &["disallowedTools"],
        &["tools", "disallowed"],
        &["tools", "excluded"],
    ] {
        let Some((node, origin)) = layer.at(path) else { continue };
        let is_about =
            path == ["webSearch"] || texts(node).any(|(text, _)| tool.effect(text) != Effect::Nothing);
        if is_about && (path != ["webSearch"] || tool.name == "web_search") {
            let why = "the CLI does not know this field; it is permissions.deny, or tools.exclude".to_owned();
            found.push(setting(
                format!("{} is given", path.join(".")),
                origin,
                layer.name,
                Says::Ignored(why),
            ));
        }
    }
    found
}

fn held(layer: &Layer, plain: Option<&str>) -> Says {
    match (&layer.counts, plain) {
        (Counts::Ignored(why), _) => Says::Ignored(why.clone()),
        (Counts::LeftOut(why), _) => Says::Overridden(why.clone()),
        (_, Some(why)) => Says::Overridden(why.to_owned()),
        (Counts::Unclear(why), None) => Says::Unclear(why.clone()),
        (Counts::Yes, None) => Says::Off,
    }
}

/// Lists of what stays: those of the files add up; `--core-tools` takes their place. An empty one restricts nothing.
fn core(tool: &Tool, start: &Start<'_>, layers: &[Layer], plain: Option<&str>) -> Vec<Setting> {
    let keeps = |text: &str| {
        let head = text.split_once('(').map_or(text, |(head, _)| head);
        tool.is_named(head.trim())
    };
    let words: Vec<_> = start.arguments.values("--core-tools").collect();
    if let Some(first) = words.first() {
        let names = words.iter().flat_map(|word| word.text.split(',')).any(keeps);
        let (what, says) = match (names, plain) {
            (_, Some(why)) => ("--core-tools is given", Says::Overridden(why.to_owned())),
            (true, None) => ("--core-tools names it", Says::On),
            (false, None) => ("--core-tools does not name it", Says::Off),
        };
        return vec![setting(what, first.origin.clone(), FLAG, says)];
    }
    let lists = || {
        layers.iter().flat_map(|layer| {
            [&["tools", "core"][..], &["coreTools"]].into_iter().filter_map(move |path| {
                let (list, origin) = layer.at(path)?;
                (!list.items().is_empty()).then_some((layer, list, origin))
            })
        })
    };
    let named = lists().find(|(layer, list, _)| {
        matches!(layer.counts, Counts::Yes | Counts::Unclear(_)) && texts(list).any(|(text, _)| keeps(text))
    });
    let named = named.map(|(layer, _, origin)| (layer.counts(), origin));
    lists()
        .map(|(layer, list, origin)| {
            if texts(list).any(|(text, _)| keeps(text)) {
                return setting("tools.core names it", origin, layer.name, Says::On);
            }
            let says = match (held(layer, plain), &named) {
                (Says::Off, Some((true, origin))) => {
                    Says::Overridden(format!("tools.core at {origin} names it, and lists add up"))
                }
                (Says::Off, Some((false, origin))) => {
                    Says::Unclear(format!("tools.core at {origin} names it, and may count"))
                }
                (says, _) => says,
            };
            setting("tools.core does not name it", origin, layer.name, says)
        })
        .collect()
}

/// web_search needs a DashScope address, or settings of its own.
fn search(scene: &Scene<'_>, start: &Start<'_>, layers: &[Layer]) -> Option<Setting> {
    let says_no = |text: &str| !matches!(text.trim().to_lowercase().as_str(), "1" | "true" | "yes" | "on");
    if let Some((value, origin)) = scene.variable("ENABLE_WEB_SEARCH") {
        let says = if says_no(value) { Says::Off } else { Says::On };
        return Some(setting("ENABLE_WEB_SEARCH is set", origin.clone(), "environment", says));
    }
    let enabled = layers.iter().filter(|layer| layer.counts()).find_map(|layer| {
        let (value, origin) = layer.at(&["tools", "webSearch", "enabled"])?;
        Some((value.boolean()?, origin, layer.name))
    });
    if let Some((enabled, origin, layer)) = enabled {
        let says = if enabled { Says::On } else { Says::Off };
        return Some(setting(format!("tools.webSearch.enabled is {enabled}"), origin, layer, says));
    }
    let Some((url, origin, layer)) = address(scene, start) else {
        let why = "web_search is offered with a DashScope address, and none is known".to_owned();
        return Some(setting("no address is given", Origin::Default, "default", Says::Unclear(why)));
    };
    let host = host(url);
    let is_dashscope = host.ends_with("aliyuncs.com");
    let others = ["modelProviders", "webSearch", "tools.webSearch"].into_iter().any(|key| {
        let path: Vec<&str> = key.split('.').collect();
        layers.iter().any(|layer| layer.at(&path).is_some())
    });
    let is_plain =
        !others && !["WEB_SEARCH_MODEL", "WEB_SEARCH_BASE_URL"].iter().any(|name| scene.env(name).is_some());
    let what = format!("models are asked at {host}");
    let says = match (is_dashscope, is_plain && scene.launch().env_is_whole) {
        (true, _) => Says::On,
        (false, true) => Says::Off,
        (false, false) => {
            Says::Unclear("web_search needs a DashScope address, which may be given elsewhere".into())
        }
    };
    Some(setting(what, origin, layer, says))
}

/// Where models are asked, by a flag or a variable.
pub(super) fn address<'a>(scene: &Scene<'a>, start: &Start<'a>) -> Option<(&'a str, Origin, &'static str)> {
    if let Some(word) = start.arguments.values("--openai-base-url").last() {
        return Some((word.text, word.origin.clone(), FLAG));
    }
    let (url, origin) = scene.variable("OPENAI_BASE_URL")?;
    Some((url, origin.clone(), "environment"))
}
