//! What else brings the web: servers, extensions, subagents, hooks, discovery commands, other addresses.

use closedbook_document::Node;

use super::super::gemini_family::{self, Layer};
use super::settings::{Settings, Trust};
use super::start::Start;
use super::tools::TOOLS;
use crate::config::front_matter::front_matter;
use crate::config::scene::join;
use crate::config::{Bringer, Content, Kind, Loaded, Origin, Scene, State, provider};

/// Notes all of it; the tools are noted already.
pub(super) fn note(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings) {
    servers(scene, start, settings);
    extensions(scene, start, settings);
    agents(scene, start, settings);
    for layer in settings.layers.iter().filter(|layer| layer.document.is_some()) {
        let left_out = left_out(layer);
        gemini_family::hooks(scene, layer, left_out.as_deref());
        commands(scene, layer, left_out.as_deref());
        browser(scene, layer, left_out.as_deref());
    }
    addresses(scene);
    env_files(scene, start, settings);
}

fn left_out(layer: &Layer) -> Option<String> {
    match &layer.counts {
        gemini_family::Counts::LeftOut(why) | gemini_family::Counts::Ignored(why) => Some(why.clone()),
        gemini_family::Counts::Yes | gemini_family::Counts::Unclear(_) => None,
    }
}

/// Why a server is not contacted, whatever says it.
fn refused(start: &Start<'_>, settings: &Settings, name: &str) -> Option<String> {
    if let Trust::Not(why) = &settings.trust
        && why.starts_with('$')
    {
        return Some(format!("{why}, and servers of an untrusted folder are not contacted"));
    }
    let given: Vec<_> = start.arguments.values("--allowed-mcp-server-names").collect();
    if let Some(first) = given.first() {
        let names = given.iter().flat_map(|word| word.text.split(','));
        let is_allowed = names.into_iter().any(|allowed| allowed.trim() == name);
        let why = format!("--allowed-mcp-server-names ({}) does not name it", first.origin);
        return (!is_allowed).then_some(why);
    }
    let layers = settings.layers.iter().filter(|layer| layer.counts());
    for layer in layers {
        if let Some((list, origin)) = layer.at(&["mcp", "excluded"])
            && gemini_family::texts(list).any(|(text, _)| text == name)
        {
            return Some(format!("mcp.excluded ({origin}) names it"));
        }
        if let Some((list, origin)) = layer.at(&["mcp", "allowed"])
            && !gemini_family::texts(list).any(|(text, _)| text == name || text == "*")
        {
            return Some(format!("mcp.allowed ({origin}) does not name it"));
        }
    }
    None
}

fn servers(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings) {
    for layer in &settings.layers {
        let Some(document) = layer.document.clone() else { continue };
        let left_out = left_out(layer);
        let doubt = match &layer.counts {
            gemini_family::Counts::Unclear(why) => Some(why.clone()),
            _ => None,
        };
        gemini_family::servers(scene, &document, "", |name, _| {
            match (left_out.clone().or_else(|| refused(start, settings, name)), doubt.clone()) {
                (Some(why), _) => (State::Off, Some(why)),
                (None, Some(why)) => (State::Unknown, Some(why)),
                (None, None) => (State::On, None),
            }
        });
        if let Some((command, origin)) = layer.at(&["mcp", "serverCommand"])
            && let Some(command) = command.text()
        {
            let why = left_out.clone().unwrap_or_else(|| format!("`{command}` is started by the CLI"));
            let state = if left_out.is_some() { State::Off } else { State::On };
            scene.brings(Bringer {
                kind: Kind::McpLocal,
                name: "mcp.serverCommand".into(),
                origin,
                state,
                why,
            });
        }
    }
}

/// Extensions bring servers, commands and hooks, and are on unless a list of them is given.
fn extensions(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings) {
    let folder = join(&start.folder, "extensions");
    let given: Vec<_> = start.arguments.values("--extensions").collect();
    let enablement = scene.exists(&join(&folder, "extension-enablement.json"));
    for name in scene.list(&folder) {
        let path = join(&folder, &format!("{name}/gemini-extension.json"));
        let Loaded::Document(document) = gemini_family::commented(scene, &path) else { continue };
        let title = document.root.get("name").and_then(Node::text).unwrap_or(&name).to_owned();
        let names = given.iter().flat_map(|word| word.text.split(',')).map(str::trim);
        let is_named = names.into_iter().any(|given| given.eq_ignore_ascii_case(&title));
        let (state, why) = match given.first() {
            Some(word) if !is_named => {
                (State::Off, format!("--extensions ({}) does not name it", word.origin))
            }
            None if enablement => (
                State::Unknown,
                "extension-enablement.json, which is not followed here, may switch it off".to_owned(),
            ),
            _ => (State::On, "an extension is loaded unless something says otherwise".to_owned()),
        };
        let origin = Origin::File { path: path.clone(), place: None };
        scene.brings(Bringer { kind: Kind::Plugin, name: title.clone(), origin, state, why: why.clone() });
        gemini_family::servers(scene, &document, &format!("{title}:"), |name, _| {
            match (state, refused(start, settings, name)) {
                (State::Off, _) => (State::Off, Some(why.clone())),
                (_, Some(why)) => (State::Off, Some(why)),
                (state, None) => (state, None),
            }
        });
    }
}

fn agents(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings) {
    let project = match &settings.trust {
        Trust::Not(why) => Some(why.clone()),
        Trust::Trusted(_) | Trust::Unknown(_) => None,
    };
    // --skip-trust trusts the folder for all that is read after the settings.
    let project = project.filter(|_| start.arguments.set("--skip-trust").is_none());
    let folders = [(join(&start.folder, "agents"), None), (scene.workdir(".gemini/agents"), project)];
    for (folder, left_out) in folders {
        for name in scene.list(&folder) {
            if !name.ends_with(".md") {
                continue;
            }
            let path = join(&folder, &name);
            let Content::Bytes(bytes) = scene.bytes(&path) else { continue };
            let Some(head) = front_matter(&bytes) else { continue };
            match head.read() {
                Ok(root) => {
                    agent(scene, &head.document(&path, root.clone()), &root, &name, left_out.as_deref())
                }
                Err(fault) => scene.malformed(fault.named(&path)),
            }
        }
    }
}

fn agent(
    scene: &mut Scene<'_>,
    document: &crate::config::Document,
    root: &Node,
    file: &str,
    left_out: Option<&str>,
) {
    let name = root.get("name").and_then(Node::text).unwrap_or(file);
    let Some(list) = root.get("tools") else { return };
    for tool in &TOOLS {
        if !gemini_family::texts(list).any(|(text, _)| text == tool.name || text == "*") {
            continue;
        }
        let (state, why) = match (left_out, scene.state(tool.name)) {
            (Some(why), _) => (State::Off, why.to_owned()),
            // Measured for the main session only.
            (None, Some(State::Off)) => (
                State::Unknown,
                format!(
                    "a subagent that names {}, which is off in the main session; its own was not measured",
                    tool.name
                ),
            ),
            (None, state) => {
                (state.unwrap_or(State::Unknown), format!("a subagent that names {}", tool.name))
            }
        };
        let name = format!("{name} ({})", tool.name);
        scene.brings(Bringer { kind: Kind::Subagent, name, origin: document.origin(list.at), state, why });
    }
}

/// Commands that list and call tools of their own.
fn commands(scene: &mut Scene<'_>, layer: &Layer, left_out: Option<&str>) {
    let Some((command, origin)) = layer.at(&["tools", "discoveryCommand"]) else { return };
    let command = command.text().unwrap_or_default();
    let (state, why) = match left_out {
        Some(why) => (State::Off, why.to_owned()),
        None => (State::Unknown, format!("`{command}` brings tools that are not known here")),
    };
    scene.brings(Bringer { kind: Kind::Plugin, name: "tools.discoveryCommand".into(), origin, state, why });
}

/// The browser agent is built in and off until a setting says otherwise.
fn browser(scene: &mut Scene<'_>, layer: &Layer, left_out: Option<&str>) {
    let Some((value, origin)) = layer.at(&["agents", "overrides", "browser_agent", "enabled"]) else {
        return;
    };
    if value.boolean() == Some(false) {
        return;
    }
    let (state, why) = match left_out {
        Some(why) => (State::Off, why.to_owned()),
        None => (State::On, "an agent that drives a browser".to_owned()),
    };
    scene.brings(Bringer { kind: Kind::Subagent, name: "browser_agent".into(), origin, state, why });
}

const ADDRESSES: [&str; 3] = ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL", "CODE_ASSIST_ENDPOINT"];
const OWN: [&str; 3] =
    ["generativelanguage.googleapis.com", "aiplatform.googleapis.com", "cloudcode-pa.googleapis.com"];

fn addresses(scene: &mut Scene<'_>) {
    for name in ADDRESSES {
        if let Some((url, origin)) = scene.variable(name) {
            provider::note(scene, url, &OWN, origin.clone());
        }
    }
}

/// The nearest `.env` sets variables that are not set already: a trusted project's, or the user's.
fn env_files(scene: &mut Scene<'_>, start: &Start<'_>, settings: &Settings) {
    let mut paths = Vec::new();
    if !matches!(settings.trust, Trust::Not(_)) {
        for folder in scene.workdir_and_above() {
            paths.extend([join(&folder, ".gemini/.env"), join(&folder, ".env")]);
        }
    }
    paths.extend([join(&start.folder, ".env"), scene.home(".env")]);
    for path in paths {
        let Content::Bytes(bytes) = scene.bytes(&path) else { continue };
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            let line = line.trim().trim_start_matches("export ");
            let Some((name, url)) = line.split_once('=') else { continue };
            if ADDRESSES.contains(&name.trim()) && scene.variable(name.trim()).is_none() {
                let place = Some(closedbook_document::Place { line: number + 1, column: 1 });
                let origin = Origin::File { path: path.clone(), place };
                provider::note(scene, url.trim().trim_matches(['"', '\'']), &OWN, origin);
            }
        }
    }
}
