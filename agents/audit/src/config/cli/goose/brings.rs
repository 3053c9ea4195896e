//! What else brings the web to goose: other extensions, those that a model can switch on, sub-recipes, other programs
//! as the model.

use super::Recipe;
use super::extension::{Enabled, Extension};
use crate::config::argv::Arguments;
use crate::config::layers::Layer;
use crate::config::{Bringer, Kind, Origin, Scene, State, routing};

pub(super) fn audit(
    scene: &mut Scene<'_>,
    arguments: &Arguments<'_>,
    config: Option<&Layer>,
    listed: &[Extension],
    started: &[Extension],
    recipe: Option<&Recipe>,
) {
    for extension in started {
        let Some((kind, reach)) = extension.kind() else { continue };
        let state = match kind {
            Kind::Plugin => State::Unknown,
            _ if extension.enabled == Enabled::Odd => State::Unknown,
            _ => State::On,
        };
        let why = format!("{reach}: goose starts it and offers its tools");
        let (name, origin) = (extension.name.clone(), extension.origin.clone());
        scene.brings(Bringer { kind, name, origin, state, why });
    }
    let begins = |extension: &Extension| started.iter().any(|started| started.name == extension.name);
    for extension in listed.iter().filter(|extension| !begins(extension)) {
        let kind = match extension.kind() {
            Some((kind, _)) => kind,
            None if extension.is_scraper() => Kind::Plugin,
            None => continue,
        };
        let why = "listed, so a model can switch it on by manage_extensions; an entry that is taken out of the file can't be";
        let (name, origin) = (extension.name.clone(), extension.origin.clone());
        scene.brings(Bringer { kind, name, origin, state: State::Unknown, why: why.into() });
    }
    let mut subrecipes: Vec<(String, Origin)> =
        recipe.map(|recipe| recipe.subrecipes.clone()).unwrap_or_default();
    subrecipes
        .extend(arguments.values("--sub-recipe").map(|word| (word.text.to_owned(), word.origin.clone())));
    for (name, origin) in subrecipes {
        let why = "a recipe of its own, with extensions that are not read here".to_owned();
        scene.brings(Bringer { kind: Kind::Skill, name, origin, state: State::Unknown, why });
    }
    model(scene, arguments, config);
}

/// Providers that are agents themselves, with web tools of their own.
const AGENTS: [&str; 5] = ["claude-code", "codex", "gemini-cli", "cursor-agent", "claude-acp"];

/// Settings that lead to another address.
const HOSTS: [&str; 7] = [
    "OPENAI_HOST",
    "ANTHROPIC_HOST",
    "OPENROUTER_HOST",
    "XAI_HOST",
    "GOOGLE_HOST",
    "LITELLM_HOST",
    "OPENAI_BASE_URL",
];

fn model(scene: &mut Scene<'_>, arguments: &Arguments<'_>, config: Option<&Layer>) {
    let setting = |scene: &Scene<'_>, name: &str| {
        let variable = scene.variable(name).filter(|(value, _)| !value.is_empty());
        let variable = variable.map(|(value, origin)| (value.to_owned(), origin.clone()));
        variable.or_else(|| {
            let found = config?.get(&[name])?;
            Some((found.value.text()?.to_owned(), found.origin))
        })
    };
    let flag = |name: &str| {
        let given = arguments.last(name)?;
        Some((given.value()?.to_owned(), given.origin.clone()))
    };
    let mut bringers = Vec::new();
    let chosen = flag("--provider").or_else(|| setting(scene, "GOOSE_PROVIDER"));
    if let Some((name, origin)) = chosen.clone().filter(|(name, _)| AGENTS.contains(&name.as_str())) {
        let why = "this provider is another agent's program, with web tools of its own";
        bringers.push(routing::bringer(&name, origin, State::Unknown, why));
    }
    if let Some((model, origin)) = flag("--model").or_else(|| setting(scene, "GOOSE_MODEL")) {
        let routed =
            chosen.is_some_and(|(name, _)| name == "openrouter") && !model.starts_with("openrouter/");
        let name = if routed { format!("openrouter/{model}") } else { model };
        bringers.extend(routing::model(&name, origin));
    }
    for name in HOSTS {
        if let Some((url, origin)) = setting(scene, name) {
            bringers.extend(routing::gateway(name, &url, origin, &routing::HOSTS));
        }
    }
    bringers.into_iter().for_each(|bringer| scene.brings(bringer));
}
