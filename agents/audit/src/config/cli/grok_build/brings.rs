//! What else brings the web to Grok: servers, plugins, hooks, addresses.

use closedbook_document::{Format, Node};

use super::layers::Setup;
use super::switches::truth;
use crate::config::argv::Arguments;
use crate::config::layers::{Layer, find, mention, names};
use crate::config::{Bringer, Kind, Origin, Scene, State};

pub(super) fn audit(scene: &mut Scene<'_>, arguments: &Arguments<'_>, setup: &Setup) {
    let own: Vec<Layer> = setup.config.iter().chain(&setup.requirements).cloned().collect();
    let listed = find(&own, &["disabled_mcp_servers"]);
    let off: Vec<String> = listed
        .iter()
        .flat_map(|found| found.value.items())
        .filter_map(Node::text)
        .map(str::to_owned)
        .collect();
    for layers in [&own, &setup.project] {
        for name in names(layers, &["mcp_servers"]) {
            server(scene, setup, layers, &name, &off);
        }
    }
    foreign(scene, setup, &off);
    plugins(scene, &own);
    hooks(scene, setup, &own);
    addresses(scene, arguments, &own);
}

fn server(scene: &mut Scene<'_>, setup: &Setup, layers: &[Layer], name: &str, off: &[String]) {
    let at = |key: &str| find(layers, &["mcp_servers", name, key]).into_iter().next();
    let Some((layer, origin)) = mention(layers, &["mcp_servers", name]) else { return };
    let text = |key: &str| at(key).and_then(|found| found.value.text().map(str::to_owned));
    let (kind, reach) = match (text("url"), text("command")) {
        (Some(url), _) => (Kind::McpRemote, url),
        (None, command) => (Kind::McpLocal, command.unwrap_or_else(|| "no command".into())),
    };
    let is_off = at("enabled").is_some_and(|found| found.value.boolean() == Some(false));
    let (state, why) = if is_off || off.iter().any(|listed| listed == name) {
        (State::Off, format!("{reach}: switched off"))
    } else if layer == "project config" && !setup.is_trusted {
        (State::Off, format!("{reach}: not contacted, since the folder is not trusted"))
    } else {
        (State::On, format!("{reach}: grok contacts it at start and offers its tools"))
    };
    scene.brings(Bringer { kind, name: name.to_owned(), origin, state, why });
}

/// Servers that were set up for other programs.
fn foreign(scene: &mut Scene<'_>, setup: &Setup, off: &[String]) {
    let mut files = vec![
        (scene.home(".claude.json"), Some(("claude", "GROK_CLAUDE_MCPS_ENABLED")), false),
        (scene.home(".cursor/mcp.json"), Some(("cursor", "GROK_CURSOR_MCPS_ENABLED")), false),
    ];
    for folder in &setup.folders {
        files.push((format!("{folder}/.mcp.json"), None, true));
        files.push((
            format!("{folder}/.cursor/mcp.json"),
            Some(("cursor", "GROK_CURSOR_MCPS_ENABLED")),
            true,
        ));
    }
    for (path, vendor, is_project) in files {
        let Ok(Some(layer)) = Layer::file(scene, "another program's file", &path, Format::Json) else {
            continue;
        };
        let left_out = vendor.and_then(|(vendor, variable)| {
            let set = scene.env(variable).and_then(truth);
            let file = find(&setup.config, &["compat", vendor, "mcps"]).into_iter().next();
            set.or_else(|| file.and_then(|found| found.value.boolean())).filter(|on| !on)
        });
        for name in layer.names(&["mcpServers"]) {
            let Some(found) = layer.get(&["mcpServers", &name]) else { continue };
            let url = found.value.get("url").and_then(Node::text);
            let kind = if url.is_some() { Kind::McpRemote } else { Kind::McpLocal };
            let (state, why) = match left_out {
                Some(_) => (State::Off, "grok is told to leave this program's servers out"),
                None if off.contains(&name) => (State::Off, "switched off by disabled_mcp_servers"),
                None if is_project && !setup.is_trusted => {
                    (State::Off, "not contacted, since the folder is not trusted")
                }
                None => (State::On, "grok takes the servers of other programs over, unasked"),
            };
            scene.brings(Bringer { kind, name, origin: found.origin, state, why: why.into() });
        }
    }
}

/// Plugins are off until they are listed.
fn plugins(scene: &mut Scene<'_>, layers: &[Layer]) {
    for item in find(layers, &["plugins", "enabled"]).iter().flat_map(|found| {
        found.value.items().iter().filter_map(|item| Some((item.text()?.to_owned(), found.origin.clone())))
    }) {
        let (name, origin) = item;
        let why = "a plugin brings servers, agents and hooks of its own".to_owned();
        scene.brings(Bringer { kind: Kind::Plugin, name, origin, state: State::On, why });
    }
}

fn hooks(scene: &mut Scene<'_>, setup: &Setup, layers: &[Layer]) {
    let mut found: Vec<(String, Origin, bool)> = Vec::new();
    for event in names(layers, &["hooks"]) {
        found.extend(mention(layers, &["hooks", &event]).map(|(_, origin)| (event, origin, false)));
    }
    let project = setup.folders.iter().map(|folder| (format!("{folder}/.grok/hooks"), true));
    let folders: Vec<(String, bool)> =
        std::iter::once((format!("{}/hooks", setup.home), false)).chain(project).collect();
    for (folder, is_project) in folders {
        for file in scene.list(&folder).into_iter().filter(|file| file.ends_with(".json")) {
            let path = format!("{folder}/{file}");
            let origin = Origin::File { path, place: None };
            found.push((file, origin, is_project));
        }
    }
    for (name, origin, is_project) in found {
        let (state, why) = if is_project && !setup.is_trusted {
            (State::Off, "left out, since the folder is not trusted")
        } else {
            (State::On, "a command that grok runs at an event")
        };
        scene.brings(Bringer { kind: Kind::Hook, name, origin, state, why: why.into() });
    }
}

/// Variables that lead elsewhere.
const ADDRESSES: [&str; 5] = [
    "GROK_XAI_API_BASE_URL",
    "XAI_API_BASE_URL",
    "GROK_CLI_CHAT_PROXY_BASE_URL",
    "GROK_MODELS_BASE_URL",
    "GROK_MANAGED_CONFIG_URL",
];

const HOSTS: [&str; 2] = ["api.x.ai", "cli-chat-proxy.grok.com"];

fn addresses(scene: &mut Scene<'_>, arguments: &Arguments<'_>, layers: &[Layer]) {
    let mut found: Vec<(String, String, Origin)> = Vec::new();
    for name in ADDRESSES {
        found.extend(
            scene.variable(name).map(|(url, origin)| (name.to_owned(), url.to_owned(), origin.clone())),
        );
    }
    for table in ["model", "model_providers"] {
        for name in names(layers, &[table]) {
            let url = find(layers, &[table, &name, "base_url"]).into_iter().next();
            let url = url.and_then(|url| Some((url.value.text()?.to_owned(), url.origin)));
            found.extend(url.map(|(url, origin)| (name, url, origin)));
        }
    }
    let model = arguments.last("--model").and_then(|given| given.value());
    for (name, url, origin) in found.into_iter().filter(|(_, url, _)| !own_host(url)) {
        let used = if model == Some(name.as_str()) { ", and it is the model that is chosen" } else { "" };
        let why = format!("{url}{used}: a gateway may add tools by itself");
        scene.brings(Bringer { kind: Kind::Provider, name, origin, state: State::Unknown, why });
    }
}

fn own_host(url: &str) -> bool {
    let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    host.is_some_and(|host| HOSTS.contains(&host))
}
