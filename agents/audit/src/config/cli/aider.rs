//! aider, as measured with 0.86.2; how its files are read was tried with the libraries that it names.
//!
//! It has no tool of the web: it fetches by itself every address that stands in the prompt (and asks first, unless
//! `--yes-always`). What it has is a switch that is on, `--detect-urls`.
//!
//! Strongest first: the flags, the variable `AIDER_DETECT_URLS`, the file of `--config`, `.aider.conf.yml` in the working
//! directory, at the root of the repository, in the home folder. `.env` files go over the variables that were there
//! before, and the task's own working directory may hold one.

mod detect;
mod flags;
mod settings;

use crate::config::argv::{Arguments, Dialect};
use crate::config::stops::Stops;
use crate::config::{Bringer, Kind, Scene, State, assumed, routing};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, flags::FLAGS, Dialect::Clap),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let settings = settings::Settings::read(scene, &arguments, &mut stops);
    detect::audit(scene, &arguments, &settings, &mut stops);
    let report = detect::report(&settings, &arguments);
    scene.tool(stops.doubt(report));
    brings(scene, &arguments, &settings);
}

/// Commands in the prompt, models that search, other addresses.
fn brings(scene: &mut Scene<'_>, arguments: &Arguments<'_>, settings: &settings::Settings) {
    for given in arguments.all("--message") {
        if given.value().is_some_and(|message| message.trim_start().starts_with("/web")) {
            let why = "the prompt is aider's own command /web, which fetches a page".to_owned();
            let (kind, name, origin) = (Kind::Skill, "/web".to_owned(), given.origin.clone());
            scene.brings(Bringer { kind, name, origin, state: State::On, why });
        }
    }
    let mut bringers = Vec::new();
    if let Some(spoken) = settings.strongest(arguments, "model") {
        bringers.extend(routing::model(&spoken.value, spoken.origin));
    }
    if let Some(spoken) = settings.strongest(arguments, "openai-api-base") {
        bringers.extend(routing::gateway("openai-api-base", &spoken.value, spoken.origin, &routing::HOSTS));
    }
    for variable in
        settings.variables.iter().filter(|variable| routing::LITELLM.contains(&variable.name.as_str()))
    {
        bringers.extend(routing::gateway(
            &variable.name,
            &variable.value,
            variable.origin.clone(),
            &routing::HOSTS,
        ));
    }
    for layer in &settings.models {
        let Some(document) = layer.document() else { continue };
        for key in routing::searches(&document.root) {
            let why = format!("{} is passed on to the provider, which may search by itself", key.text);
            bringers.push(routing::bringer("model settings", document.origin(key.at), State::On, why));
        }
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
    routing::litellm(scene);
}
