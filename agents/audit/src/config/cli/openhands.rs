//! OpenHands CLI, as measured with 1.16.0 (`openhands --headless`) and read in it and in the library that it names.
//!
//! The browser is no tool of this CLI: its tools are set in the program, whatever `agent_settings.json` lists. The
//! variables and the `config.toml` that switch a browser off belong to the older program, `python -m openhands.core.main`.
//! What brings the web are subagents, which the task's own folder may hold, servers, hooks, and other addresses.

mod agents;

use closedbook_document::{Format, Node};

use crate::config::argv::{Arguments, Dialect, Flag, Takes};
use crate::config::layers::{Layer, letters};
use crate::config::stops::Stops;
use crate::config::{Bringer, Kind, Origin, Says, Scene, Setting, State, ToolReport, assumed, routing};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, FLAGS, Dialect::Clap),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let folder = match scene.env("OPENHANDS_PERSISTENCE_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.trim_end_matches('/').to_owned(),
        None => scene.home(".openhands"),
    };
    let work = match scene.env("OPENHANDS_WORK_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.trim_end_matches('/').to_owned(),
        None => scene.launch().workdir.trim_end_matches('/').to_owned(),
    };
    let report = browser(scene, &arguments, &folder, &work);
    scene.tool(stops.doubt(report));
    agents::audit(scene, &work);
    servers(scene, &format!("{folder}/mcp.json"));
    for path in [format!("{work}/.openhands/hooks.json"), scene.home(".openhands/hooks.json")] {
        if let Ok(Some(layer)) = Layer::file(scene, "hooks", &path, Format::Json) {
            let root = layer.document().map(|document| document.origin(0));
            let why = "commands that run at events".to_owned();
            let origin = root.unwrap_or(Origin::Default);
            scene.brings(Bringer {
                kind: Kind::Hook,
                name: "hooks.json".into(),
                origin,
                state: State::On,
                why,
            });
        }
    }
    model(scene, &arguments, &folder);
}

/// Variables of the older program that speak of a browser or a search.
const OLDER: [&str; 4] = ["AGENT_ENABLE_BROWSING", "ENABLE_BROWSER", "SEARCH_API_KEY", "TAVILY_API_KEY"];

fn browser(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str, work: &str) -> ToolReport {
    let mut settings = Vec::new();
    let passed_over = |what: String, origin: Origin, layer| Setting {
        what,
        origin,
        layer,
        says: Says::Ignored(
            "it is of the older program, openhands.core.main; this CLI has no browser".into(),
        ),
    };
    for name in OLDER {
        if let Some((value, origin)) = scene.variable(name) {
            let value = if name.ends_with("KEY") { "..." } else { value };
            settings.push(passed_over(format!("{name}={value}"), origin.clone(), "environment"));
        }
    }
    for path in [format!("{folder}/config.toml"), format!("{work}/config.toml")] {
        let Some(layer) = Layer::stray(scene, "no layer", &path, Format::Toml) else { continue };
        for (key, found) in layer.every() {
            let last = key.last().map(|key| letters(key)).unwrap_or_default();
            if ["enablebrowsing", "enablebrowser", "searchapikey"].contains(&last.as_str()) {
                settings.push(passed_over(key.join("."), found.origin, "no layer"));
            }
        }
    }
    let resumed = arguments.set("--last").or_else(|| arguments.set("--resume"));
    let (state, why) = match resumed {
        Some(flag) => (
            State::Unknown,
            format!("{} goes on with a conversation and its tools, which is not seen here", flag.origin),
        ),
        None => (State::Off, "this CLI has no browser: its tools are set in the program".to_owned()),
    };
    ToolReport { tool: "browser".into(), state, why, settings }
}

fn servers(scene: &mut Scene<'_>, path: &str) {
    let Ok(Some(layer)) = Layer::file(scene, "servers", path, Format::Json) else { return };
    for name in layer.names(&["mcpServers"]) {
        let Some(found) = layer.get(&["mcpServers", &name]) else { continue };
        let (kind, reach) = server(found.value);
        let is_off = found.value.get("enabled").and_then(Node::boolean) == Some(false);
        let (state, why) = match is_off {
            true => (State::Off, format!("{reach}: switched off")),
            false => (State::On, format!("{reach}: openhands contacts it at start and offers its tools")),
        };
        scene.brings(Bringer { kind, name, origin: found.origin, state, why });
    }
}

/// What a server is, and how it is reached.
fn server(node: &Node) -> (Kind, String) {
    match (node.get("url").and_then(Node::text), node.get("command").and_then(Node::text)) {
        (Some(url), _) => (Kind::McpRemote, url.to_owned()),
        (None, command) => (Kind::McpLocal, command.unwrap_or("no command").to_owned()),
    }
}

/// The model: of the variables with `--override-with-envs`, else of agent_settings.json.
fn model(scene: &mut Scene<'_>, arguments: &Arguments<'_>, folder: &str) {
    let settings = Layer::file(scene, "settings", &format!("{folder}/agent_settings.json"), Format::Json);
    // A file that is no JSON is said to be corrupted, and left out; the report has it.
    let settings = settings.ok().flatten();
    let overriding = arguments.set("--override-with-envs").is_some();
    let text = |scene: &Scene<'_>, variable: &str, key: &str| {
        let set = scene.variable(variable).filter(|(value, _)| overriding && !value.is_empty());
        let set = set.map(|(value, origin)| (value.to_owned(), origin.clone()));
        set.or_else(|| {
            let found = settings.as_ref()?.get(&["llm", key])?;
            Some((found.value.text()?.to_owned(), found.origin))
        })
    };
    let mut bringers = Vec::new();
    if let Some((model, origin)) = text(scene, "LLM_MODEL", "model") {
        bringers.extend(routing::model(&model, origin));
    }
    if let Some((url, origin)) = text(scene, "LLM_BASE_URL", "base_url") {
        bringers.extend(routing::gateway("base_url", &url, origin, &routing::HOSTS));
    }
    if let Some(document) = settings.as_ref().and_then(Layer::document) {
        for key in document.root.get("llm").map(routing::searches).unwrap_or_default() {
            let why = format!("{} goes with every request: the provider may search by itself", key.text);
            bringers.push(routing::bringer("llm", document.origin(key.at), State::On, why));
        }
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
    routing::litellm(scene);
}

const fn flag(name: &'static str, spellings: &'static [&'static str], takes: Takes) -> Flag {
    Flag { name, spellings, takes }
}

const FLAGS: &[Flag] = &[
    flag("--task", &["-t", "--task"], Takes::One),
    flag("--file", &["-f", "--file"], Takes::One),
    flag("--headless", &["--headless"], Takes::Nothing),
    flag("--json", &["--json"], Takes::Nothing),
    flag("--override-with-envs", &["--override-with-envs"], Takes::Nothing),
    flag("--always-approve", &["--always-approve", "--yolo"], Takes::Nothing),
    flag("--llm-approve", &["--llm-approve"], Takes::Nothing),
    flag("--exit-without-confirmation", &["--exit-without-confirmation"], Takes::Nothing),
    flag("--resume", &["--resume"], Takes::Optional),
    flag("--last", &["--last"], Takes::Nothing),
    flag("--version", &["-v", "--version"], Takes::Nothing),
    flag("--help", &["-h", "--help"], Takes::Nothing),
];
