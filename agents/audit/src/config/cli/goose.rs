//! goose, as read in the code of 1.9.0; it was not run.
//!
//! Tools come in extensions. Those of a recipe replace those that `config.yaml` enables; `--with-builtin` and its kin come
//! on top. `web_scrape` is in the extension `computercontroller`. A model can itself switch on what `config.yaml` lists as
//! disabled, by the tool `manage_extensions`: only an extension that is not listed is out of its reach.

mod brings;
mod extension;
mod flags;

use closedbook_document::{Format, Node, Value};

use crate::config::argv::{Arguments, Dialect};
use crate::config::layers::Layer;
use crate::config::stops::Stops;
use crate::config::{Origin, Says, Scene, Setting, State, ToolReport, assumed};
use extension::{Enabled, Extension, SCRAPER};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, flags::FLAGS, Dialect::Clap),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let folder = match scene.env("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => format!("{}/goose", folder.trim_end_matches('/')),
        None => scene.home(".config/goose"),
    };
    if let Some((_, origin)) = scene.variable("GOOSE_PATH_ROOT") {
        let text = "GOOSE_PATH_ROOT moves the files in some versions";
        scene.remark(origin.clone(), text);
        stops.because(text);
    }
    let config = stops.unless(Layer::file(scene, "config", &format!("{folder}/config.yaml"), Format::Yaml));
    let listed = config.as_ref().map(Extension::listed).unwrap_or_default();
    let recipe = Recipe::read(scene, &arguments, &mut stops);
    let started = started(&arguments, &listed, recipe.as_ref());
    let report = scraper(scene, &arguments, &listed, &started, recipe.as_ref());
    scene.tool(stops.doubt(report));
    brings::audit(scene, &arguments, config.as_ref(), &listed, &started, recipe.as_ref());
    permission(scene, &format!("{folder}/permission.yaml"));
}

/// A recipe, as far as it brings tools.
struct Recipe {
    /// If it lists any, those of the configuration don't count.
    extensions: Option<Vec<Extension>>,
    subrecipes: Vec<(String, Origin)>,
}

impl Recipe {
    fn read(scene: &mut Scene<'_>, arguments: &Arguments<'_>, stops: &mut Stops) -> Option<Self> {
        let given = arguments.last("--recipe")?;
        let name = given.value()?;
        let path = match name.strip_prefix("~/") {
            Some(rest) => scene.home(rest),
            None if name.starts_with('/') => name.to_owned(),
            None => scene.workdir(name.trim_start_matches("./")),
        };
        let format = if path.ends_with(".json") { Format::Json } else { Format::Yaml };
        let layer = match Layer::file(scene, "recipe", &path, format) {
            Ok(Some(layer)) => layer,
            Ok(None) => {
                stops.because(format!("the recipe {name} is not at {path}"));
                return None;
            }
            Err(reason) => {
                stops.because(reason);
                return None;
            }
        };
        let extensions = layer.get(&["extensions"]).filter(|found| found.value.value != Value::Null);
        let subrecipes = layer.get(&["sub_recipes"]).map(|found| {
            let names = found.value.items().iter().filter_map(|item| {
                let name = item.get("name").or_else(|| item.get("path")).and_then(Node::text)?;
                Some((name.to_owned(), layer.document()?.origin(item.at)))
            });
            names.collect()
        });
        Some(Self {
            extensions: extensions.is_some().then(|| Extension::of_recipe(&layer)),
            subrecipes: subrecipes.unwrap_or_default(),
        })
    }
}

/// The extensions that a session begins with.
fn started(arguments: &Arguments<'_>, listed: &[Extension], recipe: Option<&Recipe>) -> Vec<Extension> {
    let mut started: Vec<Extension> = match recipe.and_then(|recipe| recipe.extensions.as_ref()) {
        Some(extensions) => extensions.clone(),
        None => listed.iter().filter(|extension| extension.enabled != Enabled::No).cloned().collect(),
    };
    started.extend(Extension::of_flags(arguments));
    started
}

fn scraper(
    scene: &Scene<'_>,
    arguments: &Arguments<'_>,
    listed: &[Extension],
    started: &[Extension],
    recipe: Option<&Recipe>,
) -> ToolReport {
    let mut settings = Vec::new();
    for extension in started.iter().filter(|extension| extension.is_scraper()) {
        let says = match extension.enabled {
            Enabled::Odd => Says::Unclear("goose passes over an entry that it can't read".into()),
            _ if extension.is_narrowed => Says::Unclear("it lists the tools that are available".into()),
            _ => Says::On,
        };
        settings.push(setting(extension, says));
    }
    let replaced = recipe.is_some_and(|recipe| recipe.extensions.is_some());
    for extension in listed.iter().filter(|extension| extension.is_scraper()) {
        let says = match extension.enabled {
            Enabled::No => Says::Off,
            _ if replaced => Says::Overridden("the recipe lists the extensions".into()),
            _ => continue,
        };
        settings.push(setting(extension, says));
    }
    let is_on = settings.iter().any(|setting| setting.says == Says::On);
    let unclear = settings.iter().find(|setting| matches!(setting.says, Says::Unclear(_)));
    let (state, why) = match settings.first() {
        Some(first) if is_on => (State::On, format!("{} brings the extension {SCRAPER}", first.origin)),
        _ if unclear.is_some() => {
            let origin = unclear.map(|setting| setting.origin.to_string()).unwrap_or_default();
            (State::Unknown, format!("{origin} lists {SCRAPER} in a way that was not read in the code"))
        }
        _ if arguments.set("--resume").is_some() => (
            State::Unknown,
            "--resume takes the extensions of the session that goes on, which is not seen here".into(),
        ),
        _ if scene.env("EXTENSIONS").is_some() => {
            (State::Unknown, "$EXTENSIONS goes over the list of config.yaml".into())
        }
        Some(first) => (State::Off, format!("{} leaves {SCRAPER} out", first.origin)),
        None => (State::Off, format!("nothing brings the extension {SCRAPER}, and goose begins without it")),
    };
    ToolReport { tool: "web_scrape".into(), state, why, settings }
}

fn setting(extension: &Extension, says: Says) -> Setting {
    let (what, origin) = (extension.what.clone(), extension.origin.clone());
    Setting { what, origin, layer: extension.layer, says }
}

/// A rule about calls.
fn permission(scene: &mut Scene<'_>, path: &str) {
    if let Ok(Some(layer)) = Layer::file(scene, "permission", path, Format::Yaml) {
        for (key, found) in layer.every() {
            let names =
                found.value.items().iter().any(|item| item.text().is_some_and(|text| text.contains(SCRAPER)));
            if names {
                let text = format!("{}: a rule about calls; the tool stays in the offer", key.join("."));
                scene.remark(found.origin.clone(), text);
            }
        }
    }
}
