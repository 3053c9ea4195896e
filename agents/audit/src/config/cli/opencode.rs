//! OpenCode, as measured with 1.18.33 (`opencode run`), places and merging read in the same program.
//!
//! Weakest first: `~/.config/opencode/{config.json,opencode.json,opencode.jsonc}`, `$OPENCODE_CONFIG`, the files of the
//! project from the top down, `.opencode` folders (the working directory's before its parents', then the home folder's),
//! `$OPENCODE_CONFIG_DIR`, `$OPENCODE_CONFIG_CONTENT`, `/etc/opencode`, `$OPENCODE_PERMISSION`. All of them are merged;
//! see [`permission`] for what that means where order counts.
//!
//! An agent's own permissions come after all of these, from whichever file: nothing but
//! `OPENCODE_DISABLE_PROJECT_CONFIG=1` keeps a project's `agent.build.permission` from undoing a `deny`.

mod agents;
mod brings;
mod flags;
mod permission;
mod places;
mod search;
mod tools;

use crate::config::argv::{Arguments, Dialect};
use crate::config::stops::Stops;
use crate::config::{Scene, assumed};

pub(crate) fn audit(scene: &mut Scene<'_>) {
    assumed::note(scene);
    let arguments = match &scene.launch().argv {
        Some(argv) => Arguments::read(argv, flags::FLAGS, Dialect::Yargs),
        None => Arguments::default(),
    };
    let mut stops = Stops::default();
    stops.arguments(scene, &arguments);
    let places = places::Places::read(scene, &arguments, &mut stops);
    let merged = agents::Merged::of(scene, &places, &mut stops);
    tools::audit(scene, &arguments, &places, &merged, &stops);
    brings::audit(scene, &arguments, &places);
}
