//! Kimi CLI, as read in 1.47.0 and measured with it as far as its default offer goes.
//!
//! Which tools there are is said by an agent file and by nothing else: `exclude_tools` there takes them away, for the agent
//! of that file. The subagents that it starts have files of their own, and those that come with the program list
//! `FetchURL` and `SearchWeb`. `SearchWeb` is there only if a search service is configured.

mod brings;
mod spec;

use crate::config::argv::{Arguments, Dialect, Flag, Takes};
use crate::config::layers::{Layer, find};
use crate::config::stops::Stops;
use crate::config::{Bringer, Kind, Origin, Says, Scene, Setting, State, ToolReport, assumed};
use closedbook_document::{Format, Value};

const SEARCH: &str = "kimi_cli.tools.web:SearchWeb";
const FETCH: &str = "kimi_cli.tools.web:FetchURL";
const AGENT: &str = "kimi_cli.tools.agent:Agent";

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, FLAGS, Dialect::Clap),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let share = match scene.env("KIMI_SHARE_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.trim_end_matches('/').to_owned(),
        None => scene.home(".kimi"),
    };
    let config = config(scene, &arguments, &share, &mut stops);
    let spec = match arguments.last("--agent-file").and_then(|given| given.value()) {
        Some(path) => spec::Spec::read(scene, &within(scene, path), &mut stops),
        None => spec::Spec::builtin(),
    };
    let service = find(&config, &["services", "moonshot_search"]).into_iter().next();
    let service = service.filter(|found| found.value.value != Value::Null).map(|found| found.origin);
    let reports = [search(&spec, service.as_ref()), offered(&spec, "FetchURL", FETCH)];
    let fetches = reports.iter().any(|report| report.tool == "FetchURL" && report.state == State::On);
    for report in reports {
        scene.tool(stops.doubt(report));
    }
    if !fetches {
        subagents(scene, &spec, &mut stops);
    }
    brings::audit(scene, &arguments, &share, &config, &spec);
}

/// The settings: `--config`, `--config-file`, or the file of the share folder.
fn config(scene: &mut Scene<'_>, arguments: &Arguments<'_>, share: &str, stops: &mut Stops) -> Vec<Layer> {
    if let Some(given) = arguments.last("--config") {
        let text = given.value().unwrap_or_default();
        let read = Format::Json.read(text).or_else(|_| Format::Toml.read(text));
        return match read {
            Ok(root) => {
                let origin = given.origin.clone();
                let set = root.fields().map(|(key, value)| crate::config::layers::Assignment {
                    path: vec![key.text.clone()],
                    value: value.clone(),
                    origin: origin.clone(),
                });
                vec![Layer::assignments("--config", set.collect())]
            }
            Err(fault) => {
                scene.malformed(crate::Malformed::unreadable("--config", text.as_bytes(), &fault));
                stops.because(format!("--config is neither JSON nor TOML: {fault}"));
                Vec::new()
            }
        };
    }
    let named = arguments.last("--config-file").and_then(|given| given.value());
    let path = named.map_or_else(|| format!("{share}/config.toml"), |path| within(scene, path));
    // The older file of the same folder is taken over when there is no newer one.
    let older = format!("{share}/config.json");
    let path = if named.is_none() && !scene.exists(&path) && scene.exists(&older) { older } else { path };
    let format = if path.to_lowercase().ends_with(".json") { Format::Json } else { Format::Toml };
    stops.unless(Layer::file(scene, "config", &path, format)).into_iter().collect()
}

/// `SearchWeb` needs a service besides.
fn search(spec: &spec::Spec, service: Option<&Origin>) -> ToolReport {
    let mut report = offered(spec, "SearchWeb", SEARCH);
    match service {
        None if report.state == State::On => {
            report.state = State::Off;
            report.why = "there is no [services.moonshot_search], without which the tool is left out".into();
        }
        Some(origin) => report.settings.push(Setting {
            what: "services.moonshot_search".into(),
            origin: origin.clone(),
            layer: "config",
            says: if report.state == State::On {
                Says::On
            } else {
                Says::Overridden("the agent file excludes the tool".into())
            },
        }),
        None => {}
    }
    report
}

/// Whether the agent file leaves a tool in.
fn offered(spec: &spec::Spec, name: &str, id: &str) -> ToolReport {
    let mut settings = Vec::new();
    let (state, why) = match spec.standing(id) {
        spec::Standing::Excluded(origin) => {
            settings.push(spec::setting(&format!("exclude_tools has {id}"), &origin, Says::Off));
            (State::Off, format!("{origin} excludes it"))
        }
        spec::Standing::NotListed(origin) => {
            settings.push(spec::setting(&format!("the list of tools lacks {id}"), &origin, Says::Off));
            (State::Off, format!("{origin} lists the tools, and this is none of them"))
        }
        spec::Standing::Listed(Some(origin)) => {
            settings.push(spec::setting(&format!("the list of tools has {id}"), &origin, Says::On));
            (State::On, format!("{origin} lists it"))
        }
        spec::Standing::Listed(None) => (
            State::On,
            format!("kimi offers {name} by default; an agent file with exclude_tools takes it away"),
        ),
    };
    settings.extend(spec.misspelt(name, id));
    ToolReport { tool: name.to_owned(), state, why, settings }
}

/// Agents that the main one can start, and that can fetch all the same.
fn subagents(scene: &mut Scene<'_>, spec: &spec::Spec, stops: &mut Stops) {
    if !matches!(spec.standing(AGENT), spec::Standing::Listed(_)) {
        return;
    }
    for (name, place) in spec.subagents() {
        let (listed, origin) = match &place {
            spec::Subagent::Builtin => (true, spec.origin()),
            spec::Subagent::File(path, origin) => {
                let own = spec::Spec::read(scene, path, stops);
                let is_listed = |id| matches!(own.standing(id), spec::Standing::Listed(_));
                (is_listed(FETCH) || is_listed(SEARCH), origin.clone())
            }
        };
        if listed {
            let why = "this subagent has FetchURL by its own file; excluding kimi_cli.tools.agent:Agent, or subagents of \
                       your own, keeps it away";
            scene.brings(Bringer { kind: Kind::Subagent, name, origin, state: State::On, why: why.into() });
        }
    }
}

fn within(scene: &Scene<'_>, path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => scene.home(rest),
        None if path.starts_with('/') => path.to_owned(),
        None => scene.workdir(path.trim_start_matches("./")),
    }
}

const fn flag(name: &'static str, spellings: &'static [&'static str], takes: Takes) -> Flag {
    Flag { name, spellings, takes }
}

const FLAGS: &[Flag] = &[
    flag("--agent-file", &["--agent-file"], Takes::One),
    flag("--agent", &["--agent"], Takes::One),
    flag("--config", &["--config"], Takes::One),
    flag("--config-file", &["--config-file"], Takes::One),
    flag("--mcp-config-file", &["--mcp-config-file"], Takes::One),
    flag("--mcp-config", &["--mcp-config"], Takes::One),
    flag("--skills-dir", &["--skills-dir"], Takes::One),
    flag("--work-dir", &["--work-dir", "-w"], Takes::One),
    flag("--add-dir", &["--add-dir"], Takes::One),
    flag("--session", &["--session", "--resume", "-S", "-r"], Takes::Optional),
    flag("--model", &["--model", "-m"], Takes::One),
    flag("--prompt", &["--prompt", "-p", "--command", "-c"], Takes::One),
    flag("--input-format", &["--input-format"], Takes::One),
    flag("--output-format", &["--output-format"], Takes::One),
    flag("--max-steps-per-turn", &["--max-steps-per-turn"], Takes::One),
    flag("--max-retries-per-step", &["--max-retries-per-step"], Takes::One),
    flag("--max-ralph-iterations", &["--max-ralph-iterations"], Takes::One),
    flag("--continue", &["--continue", "-C"], Takes::Nothing),
    flag("--thinking", &["--thinking", "--no-thinking"], Takes::Nothing),
    flag("--yolo", &["--yolo", "--yes", "-y", "--auto-approve"], Takes::Nothing),
    flag("--plan", &["--plan"], Takes::Nothing),
    flag("--afk", &["--afk"], Takes::Nothing),
    flag("--print", &["--print"], Takes::Nothing),
    flag("--acp", &["--acp"], Takes::Nothing),
    flag("--wire", &["--wire"], Takes::Nothing),
    flag("--final-message-only", &["--final-message-only"], Takes::Nothing),
    flag("--quiet", &["--quiet"], Takes::Nothing),
    flag("--verbose", &["--verbose"], Takes::Nothing),
    flag("--debug", &["--debug"], Takes::Nothing),
    flag("--version", &["--version", "-V"], Takes::Nothing),
    flag("--help", &["--help", "-h"], Takes::Nothing),
];
