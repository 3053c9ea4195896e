//! `closedbook audit`: what an agent was started with, what it did, and what its container lets it do.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::exit::Failure;

/// Look at what an agent was started with and what it did
#[derive(Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {}

/// Runs the verb.
pub(crate) fn run(args: AuditArgs) -> Result<ExitCode, Failure> {
    match args.verb {}
}
