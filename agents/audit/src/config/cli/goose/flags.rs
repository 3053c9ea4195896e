//! The flags of `goose run` and `goose session`.

use crate::config::argv::{Flag, Takes};

const fn flag(name: &'static str, spellings: &'static [&'static str], takes: Takes) -> Flag {
    Flag { name, spellings, takes }
}

pub(super) const FLAGS: &[Flag] = &[
    flag("--recipe", &["--recipe"], Takes::One),
    flag("--with-builtin", &["--with-builtin"], Takes::One),
    flag("--with-extension", &["--with-extension"], Takes::One),
    flag(
        "--with-remote-extension",
        &["--with-remote-extension", "--with-streamable-http-extension"],
        Takes::One,
    ),
    flag("--sub-recipe", &["--sub-recipe"], Takes::One),
    flag("--provider", &["--provider"], Takes::One),
    flag("--model", &["--model"], Takes::One),
    flag("--text", &["-t", "--text"], Takes::One),
    flag("--instructions", &["-i", "--instructions"], Takes::One),
    flag("--system", &["--system"], Takes::One),
    flag("--params", &["--params"], Takes::One),
    flag("--name", &["-n", "--name"], Takes::One),
    flag("--path", &["-p", "--path"], Takes::One),
    flag("--session-id", &["--session-id", "--id"], Takes::One),
    flag("--max-turns", &["--max-turns"], Takes::One),
    flag("--max-tool-repetitions", &["--max-tool-repetitions"], Takes::One),
    flag("--scheduled-job-id", &["--scheduled-job-id"], Takes::One),
    flag("--output-format", &["--output-format"], Takes::One),
    flag("--resume", &["-r", "--resume"], Takes::Nothing),
    flag("--interactive", &["-s", "--interactive"], Takes::Nothing),
    flag("--no-session", &["--no-session"], Takes::Nothing),
    flag("--explain", &["--explain"], Takes::Nothing),
    flag("--render-recipe", &["--render-recipe"], Takes::Nothing),
    flag("--debug", &["--debug"], Takes::Nothing),
    flag("--quiet", &["-q", "--quiet"], Takes::Nothing),
    flag("--history", &["--history"], Takes::Nothing),
    flag("--help", &["-h", "--help"], Takes::Nothing),
    flag("--version", &["-V", "--version"], Takes::Nothing),
];
