//! The `closedbook` program: parse, dispatch, exit code. One noun per file.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

mod agents;
mod audit;
mod canary;
mod child;
mod denials;
mod env;
mod exit;
mod flags;
mod input;
mod instance;
mod lab;
mod log;
mod messages;
mod output;
mod phase;
mod policy;
mod run;
mod scratch;
mod sidecar;
mod status;

use exit::Failure;

/// Keeps an AI-agent trial closed book, and proves it.
#[derive(Parser)]
#[command(name = "closedbook", version, propagate_version = true, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    noun: Noun,
}

#[derive(Subcommand)]
enum Noun {
    Run(Box<run::Run>),
    Phase(phase::Phase),
    Status(status::Status),
    Log(log::Log),
    Denials(denials::Denials),
    #[command(subcommand)]
    Sidecar(sidecar::Sidecar),
    #[command(subcommand)]
    Lab(lab::Lab),
    Policy(policy::PolicyArgs),
    Agents(agents::AgentsArgs),
    Audit(audit::AuditArgs),
    Canary(closedbook_canary::program::CanaryArgs),
    Env(env::EnvArgs),
}

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(error),
    };
    match messages::asked() {
        Ok(Some(filter)) => messages::start(Some(&filter)),
        Ok(None) => {}
        Err(failure) => return exit::report(failure),
    }
    let outcome: Result<ExitCode, Failure> = match cli.noun {
        Noun::Run(run) => run.run(),
        Noun::Phase(phase) => phase.run(),
        Noun::Status(status) => status.run(),
        Noun::Log(log) => log.run(),
        Noun::Denials(denials) => denials.run(),
        Noun::Sidecar(sidecar) => sidecar.run(),
        Noun::Lab(lab) => lab.run(),
        Noun::Policy(args) => policy::run(args),
        Noun::Agents(args) => agents::run(args),
        Noun::Audit(args) => audit::run(args),
        Noun::Canary(args) => canary::run(args),
        Noun::Env(args) => env::run(args, is_tdb()),
    };
    outcome.unwrap_or_else(exit::report)
}

/// The program answers to the name it is called by; as `tdb` it has the same commands.
fn parse() -> Result<Cli, clap::Error> {
    let name = if is_tdb() { "tdb" } else { "closedbook" };
    let matches = Cli::command().name(name).bin_name(name).try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

fn is_tdb() -> bool {
    let called = std::env::args_os().next().unwrap_or_default();
    Path::new(&called).file_name().is_some_and(|file| file == "tdb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_in_order() {
        Cli::command().debug_assert();
    }
}
