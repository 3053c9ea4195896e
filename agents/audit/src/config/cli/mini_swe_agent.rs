//! mini-swe-agent, as measured with 2.4.6: its one tool is a shell, so there is nothing to switch off.
//!
//! What can bring the web is what its configuration puts in place of its own parts: a model that searches, options that
//! are passed on with every request, a class from elsewhere. The files of `-c` are merged in their order; without `-c` it
//! is the one of `$MSWEA_MINI_CONFIG_PATH`, or its own.

use closedbook_document::{Format, Node};

use crate::config::argv::{Arguments, Dialect, Flag, Takes};
use crate::config::layers::{Assignment, Layer, find};
use crate::config::stops::Stops;
use crate::config::{Bringer, Kind, Origin, Scene, State, assumed, dotenv, routing};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, FLAGS, Dialect::Clap),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let layers = layers(scene, &arguments, &mut stops);
    parts(scene, &arguments, &layers);
    models(scene, &arguments, &layers);
    globals(scene);
    routing::litellm(scene);
    // It has no tool that could be in doubt, so the doubt is said by itself.
    if let Some(reason) = stops.first() {
        let why = format!(
            "the CLI would end with an error: {reason}; what it does once that is mended is not known"
        );
        scene.brings(unknown(Kind::Plugin, "mini", Origin::Default, &why));
    }
}

/// The files and values of `-c`, weakest first.
fn layers(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Vec<Layer> {
    let mut specs: Vec<(String, Origin)> =
        arguments.values("--config").map(|word| (word.text.to_owned(), word.origin.clone())).collect();
    if specs.is_empty() {
        let variable = scene.variable("MSWEA_MINI_CONFIG_PATH").filter(|(path, _)| !path.is_empty());
        specs.extend(variable.map(|(path, origin)| (path.to_owned(), origin.clone())));
    }
    let mut layers = Vec::new();
    for (spec, origin) in specs {
        if let Some((path, value)) = spec.split_once('=') {
            let value = Format::Json.read(value).unwrap_or_else(|_| text(value));
            let path = path.split('.').map(str::to_owned).collect();
            layers.push(Layer::assignments("-c", vec![Assignment { path, value, origin }]));
            continue;
        }
        let name = if spec.ends_with(".yaml") { spec.clone() } else { format!("{spec}.yaml") };
        let folder = scene.env("MSWEA_CONFIG_DIR").unwrap_or(".").to_owned();
        let candidates = [within(scene, &name), within(scene, &format!("{folder}/{name}"))];
        match candidates.into_iter().find(|path| scene.exists(path)) {
            Some(path) => layers.extend(stops.unless(Layer::file(scene, "-c", &path, Format::Yaml))),
            // Its own files have plain names; what is in them brings nothing.
            None if !spec.contains('/') => {}
            None => {
                let why = "a configuration that is not there: what it says is not known";
                scene.remark(origin.clone(), why);
                scene.brings(unknown(Kind::Plugin, &spec, origin, why));
            }
        }
    }
    layers
}

/// Classes that the program itself has, by what they stand for.
const OWN: [(&str, &str, &[&str]); 3] = [
    (
        "model",
        "model_class",
        &[
            "litellm",
            "litellm_textbased",
            "litellm_response",
            "openrouter",
            "openrouter_textbased",
            "openrouter_response",
            "portkey",
            "portkey_response",
            "requesty",
            "deterministic",
        ],
    ),
    ("agent", "agent_class", &["default", "interactive"]),
    (
        "environment",
        "environment_class",
        &["local", "docker", "singularity", "swerex_docker", "swerex_modal", "bubblewrap", "contree"],
    ),
];

fn parts(scene: &mut Scene<'_>, arguments: &Arguments<'_>, layers: &[Layer]) {
    for (part, key, own) in OWN {
        let flag = format!("--{}", key.replace('_', "-"));
        let given =
            arguments.last(&flag).and_then(|given| Some((given.value()?.to_owned(), given.origin.clone())));
        let set = find(layers, &[part, key]).into_iter().next();
        let set = set.and_then(|found| Some((found.value.text()?.to_owned(), found.origin)));
        let Some((class, origin)) = given.or(set) else { continue };
        match (part, class.as_str()) {
            ("model", "portkey" | "portkey_response" | "requesty") => {
                scene.brings(routing::bringer(
                    &class,
                    origin,
                    State::Unknown,
                    "a gateway may add tools by itself",
                ));
            }
            ("environment", "swerex_modal" | "contree") => {
                let why = "commands run at a service elsewhere, which no allowlist here sees";
                scene.brings(Bringer {
                    kind: Kind::Connector,
                    name: class,
                    origin,
                    state: State::On,
                    why: why.into(),
                });
            }
            (_, class) if own.contains(&class) || class.starts_with("minisweagent.") => {}
            (_, class) => scene.brings(unknown(
                Kind::Plugin,
                class,
                origin,
                "a class from elsewhere may have any tools",
            )),
        }
    }
}

fn models(scene: &mut Scene<'_>, arguments: &Arguments<'_>, layers: &[Layer]) {
    let mut bringers = Vec::new();
    let given =
        arguments.last("--model").and_then(|given| Some((given.value()?.to_owned(), given.origin.clone())));
    let set = find(layers, &["model", "model_name"]).into_iter().next();
    let set = set.and_then(|found| Some((found.value.text()?.to_owned(), found.origin)));
    let variable = scene.variable("MSWEA_MODEL_NAME").map(|(name, origin)| (name.to_owned(), origin.clone()));
    if let Some((name, origin)) = given.or(set).or(variable) {
        bringers.extend(routing::model(&name, origin));
    }
    for (path, found) in layers.iter().flat_map(Layer::every) {
        let is_option = path.iter().zip(["model", "model_kwargs"]).all(|(a, b)| a == b);
        if is_option && path.last().is_some_and(|key| routing::asks(key, found.value)) {
            let why =
                format!("{} goes with every request: the provider may search by itself", path.join("."));
            bringers.push(routing::bringer("model_kwargs", found.origin, State::On, why));
        }
    }
    for key in ["api_base", "base_url"] {
        let address = find(layers, &["model", "model_kwargs", key]).into_iter().next();
        let address = address.and_then(|found| Some((found.value.text()?.to_owned(), found.origin)));
        if let Some((url, origin)) = address {
            bringers.extend(routing::gateway(key, &url, origin, &routing::HOSTS));
        }
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
}

/// The program's own `.env`, which stands below the environment.
fn globals(scene: &mut Scene<'_>) {
    let folder = match scene.env("MSWEA_GLOBAL_CONFIG_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => folder.trim_end_matches('/').to_owned(),
        None => match scene.env("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
            Some(folder) => format!("{}/mini-swe-agent", folder.trim_end_matches('/')),
            None => scene.home(".config/mini-swe-agent"),
        },
    };
    let path = format!("{folder}/.env");
    let crate::config::Content::Bytes(bytes) = scene.bytes(&path) else { return };
    let text = match str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            scene.malformed(crate::Malformed::at(&path, &bytes, error.valid_up_to(), "not UTF-8 text"));
            return;
        }
    };
    for entry in dotenv::read(text) {
        if scene.env(&entry.name).is_some() {
            continue;
        }
        let place = Some(closedbook_document::Place::of(&bytes, entry.at));
        let origin = Origin::File { path: path.clone(), place };
        let found = match entry.name.as_str() {
            "MSWEA_MODEL_NAME" => routing::model(&entry.value, origin),
            name if routing::LITELLM.contains(&name) => {
                routing::gateway(name, &entry.value, origin, &routing::HOSTS)
            }
            _ => None,
        };
        found.into_iter().for_each(|bringer| scene.brings(bringer));
    }
}

fn within(scene: &Scene<'_>, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { scene.workdir(path.trim_start_matches("./")) }
}

fn text(value: &str) -> Node {
    Node { at: 0, value: closedbook_document::Value::Text(value.to_owned()) }
}

fn unknown(kind: Kind, name: &str, origin: Origin, why: &str) -> Bringer {
    Bringer { kind, name: name.to_owned(), origin, state: State::Unknown, why: why.to_owned() }
}

const fn flag(name: &'static str, spellings: &'static [&'static str], takes: Takes) -> Flag {
    Flag { name, spellings, takes }
}

const FLAGS: &[Flag] = &[
    flag("--config", &["-c", "--config"], Takes::One),
    flag("--model", &["-m", "--model"], Takes::One),
    flag("--model-class", &["--model-class"], Takes::One),
    flag("--agent-class", &["--agent-class"], Takes::One),
    flag("--environment-class", &["--environment-class"], Takes::One),
    flag("--task", &["-t", "--task"], Takes::One),
    flag("--cost-limit", &["-l", "--cost-limit"], Takes::One),
    flag("--output", &["-o", "--output"], Takes::One),
    flag("--yolo", &["-y", "--yolo"], Takes::Nothing),
    flag("--exit-immediately", &["--exit-immediately"], Takes::Nothing),
    flag("--install-completion", &["--install-completion"], Takes::Nothing),
    flag("--show-completion", &["--show-completion"], Takes::Nothing),
    flag("--help", &["--help"], Takes::Nothing),
];
