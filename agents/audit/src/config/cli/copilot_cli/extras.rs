//! What else brings the web: the GitHub server, other servers, plugins, agents, hooks, another provider.

use closedbook_document::{Format, Node};

use super::super::gemini_family::{self, commented, texts};
use super::tools::{GITHUB, TOOLS, server_off};
use crate::config::argv::Arguments;
use crate::config::front_matter::front_matter;
use crate::config::scene::join;
use crate::config::{Bringer, Content, Document, Kind, Loaded, Origin, Says, Scene, State, provider};

/// Notes all of it; the tools are noted already.
pub(super) fn note(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str) {
    builtin(scene, arguments);
    let trust = trust(scene, arguments, folder);
    servers(scene, arguments, folder, &trust);
    plugins(scene, arguments, folder);
    for (folder, trust) in [(join(folder, "agents"), None), (scene.workdir(".github/agents"), Some(&trust))] {
        agents(scene, &folder, trust);
    }
    hooks(scene, folder, &trust);
    if let Some((url, origin)) = scene.variable("COPILOT_PROVIDER_BASE_URL") {
        provider::note(scene, url, &["api.githubcopilot.com"], origin.clone());
    }
}

/// The built-in servers: the one reads GitHub over the model host, of the other nothing was seen.
fn builtin(scene: &mut Scene<'_>, arguments: &Arguments<'_>) {
    let off = server_off(scene, arguments);
    let best = off.iter().find(|setting| setting.says == Says::Off).or(off.first());
    let (state, why, origin) = match best {
        Some(setting) if setting.says == Says::Off => {
            (State::Off, setting.what.clone(), setting.origin.clone())
        }
        Some(setting) => (State::Unknown, setting.what.clone(), setting.origin.clone()),
        None => (
            State::On,
            "it reads GitHub over the model host; --disable-builtin-mcps leaves it out".into(),
            Origin::Default,
        ),
    };
    scene.brings(Bringer { kind: Kind::Connector, name: GITHUB.into(), origin, state, why });
    let all_off = off.iter().find(|setting| setting.says == Says::Off && !setting.what.contains(GITHUB));
    let named = arguments.values("--disable-mcp-server").find(|word| word.text == "githubiq");
    let (state, why, origin) = match (all_off, named) {
        (Some(setting), _) => (State::Off, setting.what.clone(), setting.origin.clone()),
        (None, Some(word)) => (State::Off, "--disable-mcp-server names it".into(), word.origin.clone()),
        (None, None) => (
            State::Unknown,
            "a built-in server that was not seen at work; --disable-builtin-mcps leaves it out".into(),
            Origin::Default,
        ),
    };
    scene.brings(Bringer { kind: Kind::Connector, name: "githubiq".into(), origin, state, why });
}

/// Whether the working directory's own configuration is loaded.
fn trust(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str) -> (State, String) {
    if let Some(given) = arguments.set("--trust-folder") {
        return (State::On, format!("--trust-folder ({}) trusts the folder", given.origin));
    }
    if scene.env("COPILOT_ALLOW_ALL") == Some("true") {
        return (State::On, "$COPILOT_ALLOW_ALL is true, which trusts the folder".into());
    }
    let path = join(folder, "config.json");
    for path in [path, join(folder, "settings.json")] {
        let Loaded::Document(document) = commented(scene, &path) else { continue };
        for key in ["trustedFolders", "trusted_folders"] {
            let Some(list) = document.root.get(key) else { continue };
            let workdir = format!("{}/", scene.launch().workdir.trim_end_matches('/'));
            let trusted = texts(list)
                .find(|(folder, _)| workdir.starts_with(&format!("{}/", folder.trim_end_matches('/'))));
            if let Some((_, at)) = trusted {
                return (State::On, format!("{} trusts the folder", document.origin(at)));
            }
        }
    }
    if scene.launch().argv.is_none() || !scene.launch().env_is_whole {
        return (State::Unknown, "a flag or variable that is not known may trust the folder".into());
    }
    (State::Off, "nothing trusts the folder".into())
}

fn servers(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str, trust: &(State, String)) {
    let disabled: Vec<(String, String)> = arguments
        .values("--disable-mcp-server")
        .map(|word| (word.text.to_owned(), format!("--disable-mcp-server ({}) names it", word.origin)))
        .collect();
    let judge = |trust: Option<(State, String)>| {
        let disabled = disabled.clone();
        move |name: &str, server: &Node| {
            if let Some((_, why)) = disabled.iter().find(|(disabled, _)| disabled == name) {
                return (State::Off, Some(why.clone()));
            }
            // Seen in files, not measured.
            if server.get("disabled").and_then(Node::boolean) == Some(true) {
                return (State::Unknown, Some("it says `disabled`; what that does was not measured".into()));
            }
            match &trust {
                Some((State::On, _)) | None => (State::On, None),
                Some((state, why)) => (*state, Some(why.clone())),
            }
        }
    };
    if let Loaded::Document(document) = commented(scene, &join(folder, "mcp-config.json")) {
        gemini_family::servers(scene, &document, "", judge(None));
    }
    for path in [".mcp.json", ".github/mcp.json", ".copilot/mcp-config.json", ".vscode/mcp.json"] {
        let path = scene.workdir(path);
        if let Loaded::Document(document) = commented(scene, &path) {
            gemini_family::servers(scene, &document, "", judge(Some(trust.clone())));
        }
    }
    let words: Vec<_> = arguments.values("--additional-mcp-config").collect();
    for word in words {
        let loaded = match word.text.strip_prefix('@') {
            Some(path) => {
                let path =
                    path.strip_prefix("~/").map_or_else(|| scene.resolved(path), |rest| scene.home(rest));
                commented(scene, &path)
            }
            None => scene.parse("--additional-mcp-config", word.text.as_bytes().to_vec(), Format::Json),
        };
        match loaded {
            Loaded::Document(document) => gemini_family::servers(scene, &document, "", judge(None)),
            Loaded::Absent => {
                let reason =
                    format!("--additional-mcp-config ({}) names it and it is not there", word.origin);
                scene.malformed(crate::Malformed::whole(word.text.trim_start_matches('@'), reason));
            }
            Loaded::Malformed(_) | Loaded::Unreadable(_) => {}
        }
    }
}

fn plugins(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str) {
    for word in arguments.values("--plugin-dir") {
        scene.brings(Bringer {
            kind: Kind::Plugin,
            name: word.text.to_owned(),
            origin: word.origin.clone(),
            state: State::On,
            why: "--plugin-dir loads it: its agents, hooks and servers".into(),
        });
    }
    let installed = join(folder, "installed-plugins");
    for name in scene.list(&installed) {
        scene.brings(Bringer {
            kind: Kind::Plugin,
            origin: Origin::File { path: join(&installed, &name), place: None },
            name,
            state: State::Unknown,
            why: "an installed plugin, whose contents are not followed here".into(),
        });
    }
}

fn agents(scene: &mut Scene<'_>, folder: &str, trust: Option<&(State, String)>) {
    for name in scene.list(folder) {
        let path = join(folder, &name);
        if !name.ends_with(".md") {
            continue;
        }
        let Content::Bytes(bytes) = scene.bytes(&path) else { continue };
        let Some(head) = front_matter(&bytes) else { continue };
        match head.read() {
            Ok(root) => agent(scene, &head.document(&path, root.clone()), &root, &name, trust),
            Err(fault) => scene.malformed(fault.named(&path)),
        }
    }
}

fn agent(
    scene: &mut Scene<'_>,
    document: &Document,
    root: &Node,
    file: &str,
    trust: Option<&(State, String)>,
) {
    let name = root.get("name").and_then(Node::text).unwrap_or(file);
    let mut note = |what: &str, at: usize| {
        let (state, why) = match trust {
            Some((State::Off, why)) => (State::Off, why.clone()),
            _ => (State::Unknown, format!("a custom agent with {what}; what it gets was not measured")),
        };
        let name = format!("{name} ({what})");
        scene.brings(Bringer { kind: Kind::Subagent, name, origin: document.origin(at), state, why });
    };
    if let Some(list) = root.get("tools") {
        let all = texts(list).map(|(text, _)| text).chain(list.text());
        let named: Vec<&str> = all.collect();
        for tool in TOOLS.iter().chain(&["web"]) {
            if named.iter().any(|text| text == tool) {
                note(tool, list.at);
            }
        }
    }
    if let Some(servers) = root.get("mcp-servers") {
        note("mcp-servers", servers.at);
    }
}

/// Hooks of the user and of a trusted folder.
fn hooks(scene: &mut Scene<'_>, folder: &str, trust: &(State, String)) {
    let own = join(folder, "hooks");
    let project = scene.workdir(".github/hooks");
    let mut paths: Vec<(String, bool)> = Vec::new();
    for (folder, is_project) in [(own, false), (project, true)] {
        let names = scene.list(&folder);
        let json = names.iter().filter(|name| name.ends_with(".json"));
        paths.extend(json.map(|name| (join(&folder, name), is_project)));
    }
    paths.push((join(folder, "settings.json"), false));
    for (path, is_project) in paths {
        let Loaded::Document(document) = commented(scene, &path) else { continue };
        let Some(hooks) = document.root.get("hooks") else { continue };
        for (event, list) in hooks.fields() {
            if list.items().is_empty() {
                continue;
            }
            let (state, why) = match trust {
                (State::Off, why) if is_project => (State::Off, why.clone()),
                _ => (State::Unknown, "a command that runs then; what it does is not known".to_owned()),
            };
            let origin = document.origin(event.at);
            scene.brings(Bringer { kind: Kind::Hook, name: event.text.clone(), origin, state, why });
        }
    }
}
