//! Codex, as measured with 0.162.0 and 0.171.0 (`codex exec`).
//!
//! Layers, weakest first: `/etc/codex/config.toml`, `$CODEX_HOME/config.toml`, a profile's file, `.codex/config.toml` of
//! every folder from the project's root down to the working directory, `-c`/`--enable`/`--disable`,
//! `/etc/codex/managed_config.toml`. Above them all stands `/etc/codex/requirements.toml`, which no flag undoes.
//!
//! The web tool has many faces (`web__run` inside the code tool, the provider's `web_search`) and one switch, the
//! top-level `web_search`. Everything that looks like it and is not is passed over in silence.

mod brings;
mod features;
mod layers;
mod web_search;

use crate::config::argv::Arguments;
use crate::config::stops::Stops;
use crate::config::{Origin, Scene, assumed};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => layers::read_arguments(argv),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let setup = layers::Setup::read(scene, &arguments, &mut stops);
    web_search::audit(scene, &setup, stops);
    features::audit(scene, &setup);
    brings::audit(scene, &setup, &arguments);
    if let Some((_, origin)) = scene.variable("OPENAI_BASE_URL") {
        let text = "codex does not read this variable: the address is openai_base_url in config.toml or -c";
        let origin: Origin = origin.clone();
        scene.remark(origin, text);
    }
}
