//! What an audit has to assume when it isn't told everything.

use super::{Origin, Scene};

/// Notes what is not known of a start and could change what is said of it.
pub(crate) fn note(scene: &mut Scene<'_>) {
    let launch = scene.launch();
    if launch.argv.is_none() {
        scene
            .remark(Origin::Default, "the arguments are not given: a flag could override what the files say");
    }
    if !launch.env_is_whole {
        scene.remark(
            Origin::Default,
            "the environment is not given as a whole: a variable could move the files or override what they say",
        );
    }
}
