//! The command line of the canary: the same for the static program and for `closedbook canary`.

mod helper;
mod judge;
mod worker;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Tries every practical way out from inside a trial.
#[derive(Debug, Parser)]
#[command(name = "closedbook-canary", version, propagate_version = true, subcommand_required = true)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// What the canary can be asked.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Carries out an order that comes on standard input.
    #[command(hide = true)]
    Worker,
    /// Takes steps that come on standard input, for a worker that must not take them itself.
    #[command(hide = true)]
    Helper,
    /// Judges evidence that comes on standard input.
    #[command(hide = true)]
    Judge,
}

/// The static program.
pub fn main() -> ExitCode {
    match Program::try_parse() {
        Ok(program) => run(program.command),
        Err(error) => {
            // A closed terminal is no reason for another exit code.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
    }
}

/// Does what was asked.
pub fn run(command: Command) -> ExitCode {
    match command {
        Command::Worker => worker::run(),
        Command::Helper => helper::run(),
        Command::Judge => judge::run(),
    }
}
