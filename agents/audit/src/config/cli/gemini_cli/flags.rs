//! The flags of Gemini CLI 0.61.0.

use crate::config::argv::{Flag, Takes};

const fn flag(spellings: &'static [&'static str], takes: Takes) -> Flag {
    let name = if let [first, ..] = spellings { first } else { "" };
    Flag { name, spellings, takes }
}

pub(super) const FLAGS: &[Flag] = &[
    flag(&["--policy"], Takes::Many),
    flag(&["--admin-policy"], Takes::Many),
    flag(&["--allowed-mcp-server-names"], Takes::Many),
    flag(&["--allowed-tools"], Takes::Many),
    flag(&["--extensions", "-e"], Takes::Many),
    flag(&["--include-directories"], Takes::Many),
    flag(&["--model", "-m"], Takes::One),
    flag(&["--prompt", "-p"], Takes::One),
    flag(&["--prompt-interactive", "-i"], Takes::One),
    flag(&["--approval-mode"], Takes::One),
    flag(&["--session-file"], Takes::One),
    flag(&["--session-id"], Takes::One),
    flag(&["--delete-session"], Takes::One),
    flag(&["--output-format", "-o"], Takes::One),
    flag(&["--worktree", "-w"], Takes::Optional),
    flag(&["--resume", "-r"], Takes::Optional),
    flag(&["--skip-trust"], Takes::Nothing),
    flag(&["--debug", "-d"], Takes::Nothing),
    flag(&["--sandbox", "-s"], Takes::Nothing),
    flag(&["--yolo", "-y"], Takes::Nothing),
    flag(&["--acp", "--experimental-acp"], Takes::Nothing),
    flag(&["--ignore-env"], Takes::Nothing),
    flag(&["--list-extensions", "-l"], Takes::Nothing),
    flag(&["--list-sessions"], Takes::Nothing),
    flag(&["--screen-reader"], Takes::Nothing),
    flag(&["--raw-output"], Takes::Nothing),
    flag(&["--accept-raw-output-risk"], Takes::Nothing),
    flag(&["--version", "-v"], Takes::Nothing),
    flag(&["--help", "-h"], Takes::Nothing),
];
