//! `closedbook agents`: the agent table.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::exit::Failure;

mod ask;
mod check;
mod diff;
mod job;
mod list;
mod policy;
mod probe;
mod show;

/// Look into the agent table: hosts, web tools and switches of every agent
#[derive(Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// List the agents: which can be run closed book, which can't and why
    List(list::List),
    /// Show everything that the table says of one agent
    Show(show::Show),
    /// Print the policy of an agent: setup, agent and verifier phase, ready for `run --policy` and `sidecar`
    ///
    /// Exits 1, with the reason and what would be accepted, if the table has no such agent, version, provider or login.
    Policy(policy::PolicyOf),
    /// Say what changed between two tables, and what a newer one newly allows
    Diff(diff::DiffOf),
    /// Check that a CLI, or an image, is the one that the table speaks of
    ///
    /// Exits 1 if it is another, or if nobody can tell.
    Check(check::Check),
    /// Start the real CLI in a lab and see which tools it offers its model, as it comes and with the table's switches
    ///
    /// Nothing leaves the machine. Exits 1 if a web tool is offered although it is switched off, or if the program is
    /// missing or of another version; 3 if nobody can tell.
    Probe(probe::Probe),
}

/// Runs the verb.
pub(crate) fn run(args: AgentsArgs) -> Result<ExitCode, Failure> {
    match args.verb {
        Verb::List(list) => list.run(),
        Verb::Show(show) => show.run(),
        Verb::Policy(policy) => policy.run(),
        Verb::Diff(diff) => diff.run(),
        Verb::Check(check) => check.run(),
        Verb::Probe(probe) => probe.run(),
    }
}
