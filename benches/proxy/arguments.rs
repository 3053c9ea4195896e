//! The command line, and which part of the play this process has.

use std::path::PathBuf;

use crate::Result;

/// Rounds unless told otherwise: an odd number, so that the median is one that was measured.
const ROUNDS: usize = 5;

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) role: Role,
    /// How often everything is measured.
    pub(crate) rounds: usize,
    /// Where the figures go besides the table.
    pub(crate) json: Option<PathBuf>,
}

/// The program starts itself anew in other places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// On the machine: starts everybody, has them play in turns, prints.
    Host,
    /// In the lab: answers.
    Server,
    /// In the lab, or sealed off in it: does the work.
    Client,
    /// Not asked to measure: `cargo test --benches` runs benchmarks too.
    Nothing,
}

impl Arguments {
    /// `--bench` comes from cargo.
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let mut arguments = Self { role: Role::Nothing, rounds: ROUNDS, json: None };
        let mut words = words;
        while let Some(word) = words.next() {
            match word.as_str() {
                "--bench" => arguments.role = Role::Host,
                "server" => arguments.role = Role::Server,
                "client" => arguments.role = Role::Client,
                "--rounds" => arguments.rounds = words.next().ok_or("--rounds N")?.parse::<usize>()?.max(1),
                "--json" => arguments.json = Some(words.next().ok_or("--json FILE")?.into()),
                other => {
                    return Err(format!("unknown argument {other:?}; try --rounds N, --json FILE").into());
                }
            }
        }
        Ok(arguments)
    }
}
