//! `closedbook audit`: what an agent was started with, what it did, and what its container lets it do.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::exit::Failure;

mod trajectory;

/// Look at what an agent was started with and what it did
#[derive(Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Find network use in an agent's transcript
    ///
    /// Exits 1 if there is any, and 2 if a transcript could not be read whole: what can't be audited is not clean.
    Trajectory(trajectory::Trajectory),
}

/// Runs the verb.
pub(crate) fn run(args: AuditArgs) -> Result<ExitCode, Failure> {
    match args.verb {
        Verb::Trajectory(trajectory) => trajectory.run(),
    }
}
