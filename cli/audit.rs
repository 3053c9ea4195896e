//! `closedbook audit`: what an agent was started with, what it did, and what its container lets it do.

use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::exit::Failure;

pub(crate) mod config;
mod container;
mod log;
mod trajectory;

/// Look at what an agent was started with and what it did
#[derive(Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Say whether an agent's web tools are off in what it is started with
    ///
    /// Reads the agent's settings files, arguments and variables, or a Harbor job, and follows its CLI's own rules of which
    /// setting counts. Exits 0 if every web tool is off and nothing else brings the web, 1 if something is on, 2 if something
    /// can't be read, 3 if something can't be told.
    #[command(disable_version_flag = true)]
    Config(Box<config::Config>),
    /// Say what a container lets a task do to the enforcement around it
    ///
    /// Reads docker inspect, podman inspect, compose files (best as `docker compose config` prints them), OCI config.json
    /// and Kubernetes manifests. Exits 0 if there is nothing but notes, 1 if something breaks or weakens the enforcement,
    /// 2 if something can't be read, 3 if something can't be told.
    Container(container::Container),
    /// Say what the decision log tells about the policy: refused, used, never used, drifted, missing
    ///
    /// Exits 0 if there is nothing but notes, 1 if records are missing or what was permitted is not what should be, 2 if
    /// something can't be read, 3 if there is no record at all.
    Log(log::AuditLog),
    /// Find network use in an agent's transcript
    ///
    /// Exits 1 if there is any, and 2 if a transcript could not be read whole: what can't be audited is not clean.
    Trajectory(trajectory::Trajectory),
}

/// Runs the verb.
pub(crate) fn run(args: AuditArgs) -> Result<ExitCode, Failure> {
    match args.verb {
        Verb::Config(config) => config.run(),
        Verb::Container(container) => container.run(),
        Verb::Log(log) => log.run(),
        Verb::Trajectory(trajectory) => trajectory.run(),
    }
}
