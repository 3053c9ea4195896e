//! Grok Build, as measured with 1.0.41 (`grok -p`), with its public source for what a run did not show.
//!
//! Layers, weakest first: `/etc/grok/managed_config.toml`, `$GROK_HOME/managed_config.toml`, `$GROK_HOME/config.toml`, the
//! overlay of `$GROK_CONFIG` or `$GROK_CONFIG_PATH` (for features only), `$GROK_HOME/requirements.toml`,
//! `/etc/grok/requirements.toml`. A project's file brings servers, plugins and permissions, and none of the switches.
//! A feature's variable stands between requirements and the rest.
//!
//! Faults are not alike: a config.toml that is no TOML ends the program, a requirements.toml that is none is passed over
//! without a word, with every pin that was in it.

mod brings;
mod flags;
mod layers;
mod switches;
mod tools;

use crate::config::argv::{Arguments, Dialect};
use crate::config::stops::Stops;
use crate::config::{Scene, assumed};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, flags::FLAGS, Dialect::Clap),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let setup = layers::Setup::read(scene, &arguments, &mut stops);
    tools::audit(scene, &arguments, &setup, &mut stops);
    brings::audit(scene, &arguments, &setup);
}
