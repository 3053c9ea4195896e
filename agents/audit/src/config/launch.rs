//! What is known of a start.

use std::collections::BTreeMap;

use super::{Files, Origin};

/// What an agent's program is started with, as far as whoever asks knows it.
pub struct Launch<'a> {
    /// The arguments after the program's name, each with where it is said (a command line, a harness's file). `None`
    /// if they are not known: then a flag may still switch a tool on.
    pub argv: Option<Vec<(String, Origin)>>,
    /// Environment variables, each with where it is said.
    pub env: BTreeMap<String, (String, Origin)>,
    /// Whether that is the whole environment. If not, a variable that is not named is unknown, not unset.
    pub env_is_whole: bool,
    /// The home folder, as the program sees it.
    pub home: String,
    /// The working directory, as the program sees it.
    pub workdir: String,
    /// The user id that the program runs as, where known: some files count only if it can't write them.
    pub uid: Option<u32>,
    /// The CLI's version, where known.
    pub version: Option<String>,
    /// The files.
    pub files: &'a dyn Files,
}
