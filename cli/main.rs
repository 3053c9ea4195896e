//! The `closedbook` program: parse, dispatch, exit code. One noun per file.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod exit;
mod flags;
mod lab;
mod policy;
mod run;
mod sidecar;

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
    Run(run::Run),
    #[command(subcommand)]
    Sidecar(sidecar::Sidecar),
    #[command(subcommand)]
    Lab(lab::Lab),
    Policy(policy::PolicyArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(error),
    };
    let outcome: Result<ExitCode, Failure> = match cli.noun {
        Noun::Run(run) => run.run(),
        Noun::Sidecar(sidecar) => sidecar.run(),
        Noun::Lab(lab) => lab.run(),
        Noun::Policy(args) => policy::run(args),
    };
    outcome.unwrap_or_else(exit::report)
}
