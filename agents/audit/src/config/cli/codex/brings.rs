//! What else brings the web to Codex: servers, plugins, hooks, roles, addresses.

use closedbook_document::Format;

use super::layers::{PROJECT, Setup, Trust};
use crate::config::argv::Arguments;
use crate::config::layers::{Found, Layer, find, mention, names};
use crate::config::{Bringer, Kind, Origin, Scene, State};

pub(super) fn audit(scene: &mut Scene<'_>, setup: &Setup, arguments: &Arguments<'_>) {
    for (name, bringer) in servers(setup) {
        scene.brings(limited(setup, &name, bringer));
    }
    for (layer, why) in &setup.idle {
        for name in layer.names(&["mcp_servers"]) {
            let path = ["mcp_servers", name.as_str()];
            if let (Some(kind), Some(found)) = (kind(layer, &name), layer.get(&path)) {
                let why = why.clone();
                scene.brings(Bringer { kind, name, origin: found.origin, state: State::Off, why });
            }
        }
    }
    plugins(scene, setup);
    hooks(scene, setup, arguments);
    roles(scene, setup);
    providers(scene, setup, arguments);
}

fn servers(setup: &Setup) -> Vec<(String, Bringer)> {
    let mut servers = Vec::new();
    for name in names(&setup.layers, &["mcp_servers"]) {
        let at = |key: &str| find(&setup.layers, &["mcp_servers", &name, key]).into_iter().next();
        let Some((layer, origin)) = mention(&setup.layers, &["mcp_servers", &name]) else { continue };
        let (kind, reach) = match (at("url"), at("command")) {
            (Some(url), _) => (Kind::McpRemote, text(&url)),
            (None, Some(command)) => (Kind::McpLocal, text(&command)),
            (None, None) => (Kind::McpLocal, "neither url nor command".into()),
        };
        let (state, why, origin) = match at("enabled") {
            Some(off) if off.value.boolean() == Some(false) => {
                (State::Off, "`enabled = false`".to_owned(), off.origin)
            }
            _ if layer == PROJECT && setup.trust == Trust::ReadThough => {
                let why = format!("{reach}: codex 0.162.0 contacts it though the folder is not trusted");
                (State::On, why, origin)
            }
            _ => (State::On, format!("{reach}: codex contacts it at start and offers its tools"), origin),
        };
        servers.push((name.clone(), Bringer { kind, name, origin, state, why }));
    }
    servers
}

/// requirements.toml may list the servers that are allowed, by name and identity.
fn limited(setup: &Setup, name: &str, mut bringer: Bringer) -> Bringer {
    let Some(requirements) = &setup.requirements else { return bringer };
    let Some(list) = requirements.get(&["mcp_servers"]) else { return bringer };
    if bringer.state == State::On && requirements.get(&["mcp_servers", name]).is_none() {
        bringer.state = State::Unknown;
        bringer.why = format!(
            "{} lists the allowed servers, and this is none; otherwise: {}",
            list.origin, bringer.why
        );
    }
    bringer
}

fn kind(layer: &Layer, name: &str) -> Option<Kind> {
    if layer.get(&["mcp_servers", name, "url"]).is_some() {
        return Some(Kind::McpRemote);
    }
    layer.get(&["mcp_servers", name, "command"]).map(|_| Kind::McpLocal)
}

fn plugins(scene: &mut Scene<'_>, setup: &Setup) {
    let off = find(&setup.layers, &["features", "plugins"]).into_iter().next();
    let off = off.filter(|found| found.value.boolean() == Some(false));
    for name in names(&setup.layers, &["plugins"]) {
        let Some((_, origin)) = mention(&setup.layers, &["plugins", &name]) else { continue };
        let enabled = find(&setup.layers, &["plugins", &name, "enabled"]).into_iter().next();
        let is_disabled = enabled.is_some_and(|found| found.value.boolean() == Some(false));
        let (state, why) = match &off {
            _ if is_disabled => (State::Off, "`enabled = false`".to_owned()),
            Some(off) => (State::Off, format!("{} switches plugins off", off.origin)),
            None => (State::On, "a plugin brings servers, connectors and hooks of its own".to_owned()),
        };
        scene.brings(Bringer { kind: Kind::Plugin, name, origin, state, why });
    }
}

/// A hook runs once it is trusted, or at once with `--dangerously-bypass-hook-trust`.
fn hooks(scene: &mut Scene<'_>, setup: &Setup, arguments: &Arguments<'_>) {
    let off = find(&setup.layers, &["features", "hooks"]).into_iter().next();
    let off = off.filter(|found| found.value.boolean() == Some(false));
    let bypass = arguments.set("--dangerously-bypass-hook-trust").is_some();
    let mut found: Vec<(String, Origin)> = Vec::new();
    for layer in &setup.layers {
        found.extend(layer.names(&["hooks"]).into_iter().filter(|event| event != "state").filter_map(
            |event| {
                let origin = layer.get(&["hooks", &event])?.origin;
                Some((event, origin))
            },
        ));
    }
    let folders = setup.folders.iter().map(|folder| format!("{folder}/.codex"));
    let folders: Vec<String> = std::iter::once(setup.home.clone()).chain(folders).collect();
    for path in folders.iter().map(|folder| format!("{folder}/hooks.json")) {
        if let Ok(Some(layer)) = Layer::file(scene, "hooks", &path, Format::Json) {
            let events = layer.names(&["hooks"]).into_iter();
            found.extend(
                events.filter_map(|event| Some((event.clone(), layer.get(&["hooks", &event])?.origin))),
            );
        }
    }
    for (name, origin) in found {
        let (state, why) = match (&off, bypass) {
            (Some(off), _) => (State::Off, format!("{} switches hooks off", off.origin)),
            (None, true) => {
                (State::On, "a command, run without asking: --dangerously-bypass-hook-trust".to_owned())
            }
            (None, false) => {
                (State::Unknown, "a command, run if the hook has been trusted before".to_owned())
            }
        };
        scene.brings(Bringer { kind: Kind::Hook, name, origin, state, why });
    }
    let counts = setup.layers.iter().filter(|layer| layer.name != PROJECT);
    if let Some(notify) = counts.filter_map(|layer| layer.get(&["notify"])).next_back() {
        let why = "a command that codex runs after every turn".to_owned();
        scene.brings(Bringer {
            kind: Kind::Hook,
            name: "notify".into(),
            origin: notify.origin,
            state: State::On,
            why,
        });
    }
}

/// A role's file is settings of its own for the agents that are started in it.
fn roles(scene: &mut Scene<'_>, setup: &Setup) {
    let mut files = Vec::new();
    for name in names(&setup.layers, &["agents"]) {
        let Some(found) = find(&setup.layers, &["agents", &name, "config_file"]).into_iter().next() else {
            continue;
        };
        if let Some(path) = found.value.text() {
            let folder = match &found.origin {
                Origin::File { path, .. } => path.rsplit_once('/').map(|(folder, _)| folder.to_owned()),
                _ => setup.folders.last().cloned(),
            };
            let path = if path.starts_with('/') {
                path.to_owned()
            } else {
                format!("{}/{path}", folder.unwrap_or_default())
            };
            files.push((name, path));
        }
    }
    let folders = setup.folders.iter().map(|folder| format!("{folder}/.codex/agents"));
    for folder in std::iter::once(format!("{}/agents", setup.home)).chain(folders) {
        for file in scene.list(&folder) {
            if let Some(name) = file.strip_suffix(".toml") {
                files.push((name.to_owned(), format!("{folder}/{file}")));
            }
        }
    }
    for (name, path) in files {
        let Ok(Some(layer)) = Layer::file(scene, "role", &path, Format::Toml) else { continue };
        let search = layer.get(&["web_search"]).filter(|found| found.value.text() != Some("disabled"));
        let servers = layer.get(&["mcp_servers"]);
        let Some(found) = search.or(servers) else { continue };
        let why =
            "a role with settings of its own; whether they go over a `web_search` set above was not measured";
        let (state, kind) = (State::Unknown, Kind::Subagent);
        scene.brings(Bringer { kind, name, origin: found.origin, state, why: why.into() });
    }
}

/// Addresses of the model. A project's file can't set these.
fn providers(scene: &mut Scene<'_>, setup: &Setup, arguments: &Arguments<'_>) {
    let layers: Vec<Layer> = setup.layers.iter().filter(|layer| layer.name != PROJECT).cloned().collect();
    let mut found: Vec<(String, Found<'_>)> = Vec::new();
    for key in ["openai_base_url", "chatgpt_base_url"] {
        found.extend(find(&layers, &[key]).into_iter().next().map(|found| (key.to_owned(), found)));
    }
    let chosen = find(&layers, &["model_provider"]).into_iter().next();
    let chosen =
        chosen.as_ref().and_then(|found| found.value.text().map(|name| (name, found.origin.clone())));
    match chosen {
        Some((name, origin)) if name != "openai" => {
            let address = find(&layers, &["model_providers", name, "base_url"]).into_iter().next();
            match address {
                Some(address) => found.push((name.to_owned(), address)),
                None => scene.brings(provider(name, origin, "its address is not set here")),
            }
        }
        _ => {}
    }
    for (name, address) in found {
        let host = text(&address);
        if !own_host(&host) {
            scene.brings(provider(&name, address.origin, &host));
        }
    }
    if let Some(oss) = arguments.set("--oss") {
        scene.brings(provider("oss", oss.origin.clone(), "a model on this machine or its network"));
    }
}

fn provider(name: &str, origin: Origin, reach: &str) -> Bringer {
    let why = format!("{reach}: a gateway may add tools by itself");
    Bringer { kind: Kind::Provider, name: name.into(), origin, state: State::Unknown, why }
}

fn own_host(url: &str) -> bool {
    let rest = url.strip_prefix("https://").unwrap_or_default();
    matches!(rest.split('/').next(), Some("api.openai.com" | "chatgpt.com"))
}

fn text(found: &Found<'_>) -> String {
    found.value.text().map_or_else(|| found.value.value.kind().to_owned(), str::to_owned)
}
