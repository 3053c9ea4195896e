//! What else brings the web to Kimi CLI: servers, plugins, hooks, tools of one's own, addresses.

use closedbook_document::{Format, Node};

use super::spec::Spec;
use super::within;
use crate::Malformed;
use crate::config::argv::Arguments;
use crate::config::layers::{Layer, find, names};
use crate::config::{Bringer, Kind, Origin, Scene, State, routing};

const HOSTS: [&str; 5] =
    ["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com", "api.openai.com", "api.anthropic.com"];

pub(super) fn audit(
    scene: &mut Scene<'_>,
    arguments: &Arguments<'_>,
    share: &str,
    config: &[Layer],
    spec: &Spec,
) {
    servers(scene, arguments, share);
    for folder in scene.list(&format!("{share}/plugins")) {
        let path = format!("{share}/plugins/{folder}/plugin.json");
        if scene.exists(&path) {
            let why = "a plugin adds tools of its own, to every agent".to_owned();
            let origin = Origin::File { path, place: None };
            scene.brings(Bringer { kind: Kind::Plugin, name: folder, origin, state: State::On, why });
        }
    }
    for (name, origin) in spec.foreign() {
        let why = "a tool that is not the program's own: what it reaches is not known".to_owned();
        scene.brings(Bringer { kind: Kind::Plugin, name, origin, state: State::Unknown, why });
    }
    for hooks in find(config, &["hooks"]) {
        for hook in hooks.value.items() {
            let name = hook.get("event").and_then(Node::text).unwrap_or("hook").to_owned();
            let why = "a command that kimi runs at this event".to_owned();
            let origin = hooks.origin.clone();
            scene.brings(Bringer { kind: Kind::Hook, name, origin, state: State::On, why });
        }
    }
    addresses(scene, arguments, config);
}

/// `--mcp-config-file`, or else `mcp.json` of the share folder; and `--mcp-config` besides.
fn servers(scene: &mut Scene<'_>, arguments: &Arguments<'_>, share: &str) {
    let named: Vec<String> =
        arguments.values("--mcp-config-file").map(|word| within(scene, word.text)).collect();
    let paths = if named.is_empty() { vec![format!("{share}/mcp.json")] } else { named };
    let mut found: Vec<(String, Node, Origin)> = Vec::new();
    for path in paths {
        let Ok(Some(layer)) = Layer::file(scene, "servers", &path, Format::Json) else { continue };
        for name in layer.names(&["mcpServers"]) {
            let server = layer.get(&["mcpServers", &name]);
            found.extend(server.map(|server| (name.clone(), server.value.clone(), server.origin)));
        }
    }
    for word in arguments.values("--mcp-config") {
        match Format::Json.read(word.text) {
            Ok(root) => {
                for (key, node) in root.get("mcpServers").iter().flat_map(|servers| servers.fields()) {
                    found.push((key.text.clone(), node.clone(), word.origin.clone()));
                }
            }
            Err(fault) => {
                scene.malformed(Malformed::unreadable("--mcp-config", word.text.as_bytes(), &fault));
            }
        }
    }
    for (name, node, origin) in found {
        let url = node.get("url").and_then(Node::text);
        let command = node.get("command").and_then(Node::text);
        let (kind, reach) = match (url, command) {
            (Some(url), _) => (Kind::McpRemote, url),
            (None, command) => (Kind::McpLocal, command.unwrap_or("no command")),
        };
        let why = format!("{reach}: kimi contacts it at start and offers its tools");
        scene.brings(Bringer { kind, name, origin, state: State::On, why });
    }
}

fn addresses(scene: &mut Scene<'_>, arguments: &Arguments<'_>, config: &[Layer]) {
    let mut bringers = Vec::new();
    for name in ["KIMI_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL"] {
        if let Some((url, origin)) = scene.variable(name).filter(|(url, _)| !url.is_empty()) {
            bringers.extend(routing::gateway(name, url, origin.clone(), &HOSTS));
        }
    }
    for name in names(config, &["providers"]) {
        let url = find(config, &["providers", &name, "base_url"]).into_iter().next();
        if let Some((url, origin)) =
            url.and_then(|found| Some((found.value.text()?.to_owned(), found.origin)))
        {
            bringers.extend(routing::gateway(&name, &url, origin, &HOSTS));
        }
    }
    let given =
        arguments.last("--model").and_then(|given| Some((given.value()?.to_owned(), given.origin.clone())));
    if let Some((model, origin)) = given {
        bringers.extend(routing::model(&model, origin));
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
}
