//! The flags of `opencode` and `opencode run`.

use crate::config::argv::{Flag, Takes};

const fn flag(spellings: &'static [&'static str], name: &'static str, takes: Takes) -> Flag {
    Flag { name, spellings, takes }
}

pub(super) const FLAGS: &[Flag] = &[
    flag(&["-m", "--model"], "--model", Takes::One),
    flag(&["--agent"], "--agent", Takes::One),
    flag(&["--dir"], "--dir", Takes::One),
    flag(&["--attach"], "--attach", Takes::One),
    flag(&["--format"], "--format", Takes::One),
    flag(&["--variant"], "--variant", Takes::One),
    flag(&["--command"], "--command", Takes::One),
    flag(&["-s", "--session"], "--session", Takes::One),
    flag(&["--title"], "--title", Takes::One),
    flag(&["--port"], "--port", Takes::One),
    flag(&["--hostname"], "--hostname", Takes::One),
    flag(&["--log-level"], "--log-level", Takes::One),
    flag(&["--prompt"], "--prompt", Takes::One),
    flag(&["-p", "--password"], "--password", Takes::One),
    flag(&["-u", "--username"], "--username", Takes::One),
    flag(&["-f", "--file"], "--file", Takes::Many),
    flag(&["--pure"], "--pure", Takes::Nothing),
    flag(&["-c", "--continue"], "--continue", Takes::Nothing),
    flag(&["--fork"], "--fork", Takes::Nothing),
    flag(&["--share"], "--share", Takes::Nothing),
    flag(&["--thinking"], "--thinking", Takes::Nothing),
    flag(&["-i", "--interactive"], "--interactive", Takes::Nothing),
    flag(&["--auto"], "--auto", Takes::Nothing),
    flag(&["--dangerously-skip-permissions"], "--dangerously-skip-permissions", Takes::Nothing),
    flag(&["--print-logs"], "--print-logs", Takes::Nothing),
    flag(&["-h", "--help"], "--help", Takes::Nothing),
    flag(&["-v", "--version"], "--version", Takes::Nothing),
];
