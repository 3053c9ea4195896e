//! What else brings the web: subagents, skills, plugins, hooks, connectors, other providers.

use closedbook_document::{Format, Node};

use super::settings::{Counts, Layer};
use super::start::{Start, is_yes};
use super::tools::TOOLS;
use super::{rules, servers};
use crate::config::front_matter::front_matter;
use crate::config::provider;
use crate::config::scene::join;
use crate::config::{Bringer, Content, Kind, Loaded, Origin, Scene, State};

/// Folders are walked no deeper.
const DEEPEST: usize = 8;

/// Notes all of it; the tools are noted already.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    agents(scene, start);
    skills(scene, start);
    plugins(scene, start, layers);
    for layer in layers {
        hooks(scene, start, layer);
        base_url(scene, layer);
    }
    providers(scene);
    connectors(scene, start, layers);
}

/// Folders that hold what a person or a project adds, with the source that they belong to.
fn homes(scene: &Scene<'_>, start: &Start<'_>) -> Vec<(String, &'static str)> {
    let mut homes = vec![(start.folder.clone(), "user")];
    for folder in scene.workdir_and_above() {
        let folder = join(&folder, ".claude");
        if folder != start.folder {
            homes.push((folder, "project"));
        }
    }
    homes
}

fn agents(scene: &mut Scene<'_>, start: &Start<'_>) {
    for (home, source) in homes(scene, start) {
        for path in markdown(scene, &join(&home, "agents"), 0) {
            let left_out = start.not_a_source(source).or_else(|| start.plain());
            file(scene, Kind::Subagent, &path, "tools", left_out);
        }
    }
    for word in start.arguments.values("--agents") {
        let loaded = if word.text.trim_start().starts_with('{') {
            scene.parse("--agents", word.text.as_bytes().to_vec(), Format::Json)
        } else {
            let path = scene.resolved(word.text);
            scene.javascript_document(&path, Format::Json)
        };
        let Loaded::Document(document) = loaded else { continue };
        for (name, agent) in document.root.fields() {
            let origin = document.origin(name.at);
            tools_of(scene, Kind::Subagent, &name.text, agent, "tools", origin, None);
        }
    }
}

fn skills(scene: &mut Scene<'_>, start: &Start<'_>) {
    for (home, source) in homes(scene, start) {
        let left_out = start.not_a_source(source);
        let folder = join(&home, "skills");
        for name in scene.list(&folder) {
            let path = join(&folder, &format!("{name}/SKILL.md"));
            file(scene, Kind::Skill, &path, "allowed-tools", left_out.clone());
        }
        for path in markdown(scene, &join(&home, "commands"), 0) {
            file(scene, Kind::Skill, &path, "allowed-tools", left_out.clone());
        }
    }
}

/// An agent's or a skill's file, whose front matter may name web tools and servers.
fn file(scene: &mut Scene<'_>, kind: Kind, path: &str, key: &str, left_out: Option<String>) {
    let Content::Bytes(bytes) = scene.bytes(path) else { return };
    let Some(head) = front_matter(&bytes) else { return };
    let (head, document) = match head.read() {
        Ok(node) => (node.clone(), head.document(path, node)),
        Err(malformed) => {
            scene.malformed(malformed.named(path));
            return;
        }
    };
    let name = head.get("name").and_then(Node::text).unwrap_or_else(|| stem(path)).to_owned();
    let origin = document.origin(head.get(key).map_or(0, |node| node.at));
    tools_of(scene, kind, &name, &head, key, origin, left_out);
}

fn tools_of(
    scene: &mut Scene<'_>,
    kind: Kind,
    name: &str,
    holder: &Node,
    key: &str,
    origin: Origin,
    left_out: Option<String>,
) {
    let what = if kind == Kind::Subagent { "a subagent" } else { "a skill or command" };
    if let Some(list) = holder.get(key) {
        let texts = list.items().iter().filter_map(Node::text).chain(list.text());
        let names: Vec<&str> = texts.flat_map(rules::names).collect();
        for tool in TOOLS {
            let names_it = names.iter().any(|name| *name == tool || name.starts_with(&format!("{tool}(")));
            if !names_it {
                continue;
            }
            let (state, why) = match (&left_out, scene.state(tool)) {
                (Some(why), _) => (State::Off, why.clone()),
                (None, Some(State::Off)) => (
                    State::Off,
                    format!("{what} that names {tool}, which is off for subagents and skills too"),
                ),
                (None, state) => (state.unwrap_or(State::Unknown), format!("{what} that names {tool}")),
            };
            let name = format!("{name} ({tool})");
            scene.brings(Bringer { kind, name, origin: origin.clone(), state, why });
        }
    }
    for key in ["mcpServers", "hooks"] {
        if holder.get(key).is_some() {
            let why = left_out
                .clone()
                .unwrap_or_else(|| format!("{what} with `{key}` of its own, which are not followed here"));
            let state = if left_out.is_some() { State::Off } else { State::Unknown };
            let name = format!("{name} ({key})");
            scene.brings(Bringer { kind, name, origin: origin.clone(), state, why });
        }
    }
}

fn plugins(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    for flag in ["--plugin-dir", "--plugin-dir-no-mcp", "--plugin-url"] {
        let words: Vec<_> = start.arguments.values(flag).collect();
        for word in words {
            let (state, why) = match start.plain() {
                Some(why) => (State::Off, why),
                None => (State::On, format!("{flag} loads it: its commands, agents, hooks and servers")),
            };
            plugin(scene, word.text, word.origin.clone(), state, why);
            if flag == "--plugin-dir" {
                let folder = scene.resolved(word.text);
                servers::plugin(scene, start, layers, &folder, stem(word.text));
            }
        }
    }
    // A plugin in the user's skills is loaded unasked, one in a project's is not (measured).
    let folder = join(&start.folder, "skills");
    for name in scene.list(&folder) {
        let path = join(&folder, &name);
        let manifest = join(&path, ".claude-plugin/plugin.json");
        if scene.exists(&manifest) {
            let origin = Origin::File { path: manifest, place: None };
            plugin(
                scene,
                &name,
                origin,
                State::On,
                "a plugin among the user's skills is loaded unasked".into(),
            );
            servers::plugin(scene, start, layers, &path, &name);
        }
    }
    for layer in layers {
        let Some((enabled, _)) = layer.at(&["enabledPlugins"]) else { continue };
        let noted: Vec<_> = enabled
            .fields()
            .filter_map(|(name, value)| {
                let origin = layer.document.as_ref()?.origin(name.at);
                Some((name.text.clone(), origin, value.boolean() != Some(false)))
            })
            .collect();
        for (name, origin, is_enabled) in noted {
            let (state, why) = match (&layer.counts, is_enabled) {
                (_, false) => (State::Off, "enabledPlugins says false".to_owned()),
                (Counts::Ignored(why) | Counts::LeftOut(why), _) => (State::Off, why.clone()),
                _ => (
                    State::Unknown,
                    "enabledPlugins names it; what it brings is not followed here".to_owned(),
                ),
            };
            plugin(scene, &name, origin, state, why);
        }
    }
}

fn plugin(scene: &mut Scene<'_>, name: &str, origin: Origin, state: State, why: String) {
    scene.brings(Bringer { kind: Kind::Plugin, name: name.to_owned(), origin, state, why });
}

fn hooks(scene: &mut Scene<'_>, start: &Start<'_>, layer: &Layer) {
    let Some((hooks, _)) = layer.at(&["hooks"]) else { return };
    let Some(document) = &layer.document else { return };
    let mut noted = Vec::new();
    for (event, matchers) in hooks.fields() {
        let all = matchers.items().iter().filter_map(|matcher| matcher.get("hooks"));
        for hook in all.flat_map(|hooks| hooks.items()) {
            let text = |key: &str| hook.get(key).and_then(Node::text).unwrap_or_default().to_owned();
            let (state, why) = match text("type").as_str() {
                "http" => (State::On, format!("it calls {} at {}", text("url"), event.text)),
                "command" => (
                    State::Unknown,
                    format!("`{}` runs at {}: what it does is not known", text("command"), event.text),
                ),
                kind => (State::Unknown, format!("a hook of the type {kind:?} at {}", event.text)),
            };
            noted.push((event.text.clone(), document.origin(hook.at), state, why));
        }
    }
    for (name, origin, state, why) in noted {
        let (state, why) = match (&layer.counts, start.plain()) {
            (Counts::Ignored(why) | Counts::LeftOut(why), _) => (State::Off, why.clone()),
            (_, Some(why)) => (State::Off, why),
            _ => (state, why),
        };
        scene.brings(Bringer { kind: Kind::Hook, name, origin, state, why });
    }
}

/// Another address of the model's API, said in a settings file's `env`.
fn base_url(scene: &mut Scene<'_>, layer: &Layer) {
    if matches!(layer.counts, Counts::Ignored(_) | Counts::LeftOut(_)) {
        return;
    }
    for name in
        ["ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"]
    {
        let Some((node, origin)) = layer.at(&["env", name]) else { continue };
        let value = node.text().unwrap_or_default().to_owned();
        if !value.is_empty() {
            another(scene, name, &value, origin);
        }
    }
}

fn providers(scene: &mut Scene<'_>) {
    for name in
        ["ANTHROPIC_BASE_URL", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"]
    {
        if let Some((value, origin)) = scene.variable(name) {
            another(scene, name, value, origin.clone());
        }
    }
}

fn another(scene: &mut Scene<'_>, name: &str, value: &str, origin: Origin) {
    if name == "ANTHROPIC_BASE_URL" {
        provider::note(scene, value, &["api.anthropic.com"], origin);
    } else if is_yes(value) {
        let why = "models are asked there, and what tools that provider adds is not known here".to_owned();
        let name = name.trim_start_matches("CLAUDE_CODE_USE_").to_lowercase();
        scene.brings(Bringer { kind: Kind::Provider, name, origin, state: State::Unknown, why });
    }
}

/// Connectors of claude.ai come with its login, and with no setting on this machine.
fn connectors(scene: &mut Scene<'_>, start: &Start<'_>, layers: &[Layer]) {
    let credentials = join(&start.folder, ".credentials.json");
    let login = match scene.variable("CLAUDE_CODE_OAUTH_TOKEN") {
        Some((_, origin)) => origin.clone(),
        None if scene.exists(&credentials) => Origin::File { path: credentials, place: None },
        None => return,
    };
    let disabled = layers.iter().filter(|layer| layer.counts == Counts::Yes).find_map(|layer| {
        let (value, origin) = layer.at(&["disableClaudeAiConnectors"])?;
        (value.boolean() == Some(true)).then(|| format!("disableClaudeAiConnectors ({origin})"))
    });
    let strict = start.arguments.set("--strict-mcp-config");
    let strict = strict.map(|given| format!("--strict-mcp-config ({})", given.origin));
    let (state, why) = match disabled.or(strict) {
        Some(what) => (State::Off, format!("{what} leaves them out")),
        None => (
            State::Unknown,
            "a claude.ai login may bring the account's connectors; --strict-mcp-config leaves them out"
                .to_owned(),
        ),
    };
    scene.brings(Bringer { kind: Kind::Connector, name: "claude.ai".into(), origin: login, state, why });
}

/// The Markdown files below a folder.
fn markdown(scene: &Scene<'_>, folder: &str, depth: usize) -> Vec<String> {
    let mut paths = Vec::new();
    for name in scene.list(folder) {
        let path = join(folder, &name);
        if name.ends_with(".md") {
            paths.push(path);
        } else if depth < DEEPEST {
            paths.extend(markdown(scene, &path, depth + 1));
        }
    }
    paths
}

fn stem(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    if name == "SKILL.md" {
        return path.trim_end_matches("/SKILL.md").rsplit('/').next().unwrap_or(name);
    }
    name.strip_suffix(".md").unwrap_or(name)
}
