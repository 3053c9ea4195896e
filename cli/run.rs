//! `closedbook run`: a command in a namespace without uplink, and a proxy that lets exactly the allowed names through.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use closedbook_sidecar::outer::Widen;

use crate::exit::Failure;
use crate::flags;
use crate::flags::agent::AgentFlags;
use crate::flags::log::LogFlags;
use crate::flags::metrics::MetricsFlag;
use crate::instance::InstanceName;

mod closing;
mod command;
mod control;
mod init;
mod lab;
mod limit;
mod plan;
mod proxy;
mod service;
mod signals;
mod sockets;
mod supervisor;
mod sweeper;
mod wire;

/// Run a command that reaches the allowed hosts and nothing else.
///
/// The command keeps its user, environment, terminal, working directory and exit code. It runs in a network
/// namespace that has no uplink; TLS and plain HTTP to allowed names go through closedbook's proxy, everything else
/// is refused at once. Sockets of the host that would act for it (container engines, session bus, resolver) are
/// hidden.
///
/// Exit codes: the command's own; 124 if its time was over (`--within`); 126 and 127 if it can't be started; 2 usage; 4 the host lacks something; 70 a fault
/// of closedbook.
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Allow this host: NAME, *.NAME, ADDRESS or CIDR, each followed by :PORTS if they are not 80,443; or
    /// tcp://NAME:PORT.
    #[arg(long, value_name = "HOST", value_delimiter = None)]
    allow: Vec<String>,

    /// The policy document (TOML or JSON).
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,

    /// Take the policy of this agent from the agent table.
    #[arg(long = "agent", id = "agent_name", value_name = "NAME", conflicts_with = "policy")]
    agent: Option<String>,

    #[command(flatten)]
    agent_flags: AgentFlags,

    /// The phase of the policy to run in [default: the only one, or `agent`].
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,

    /// Run in the lab: a fake internet on this machine, from which nothing leaves.
    #[arg(long)]
    lab: bool,

    /// Run in this lab, which `closedbook lab up` started: several runs then share one.
    #[arg(long, value_name = "NAME", conflicts_with = "lab")]
    lab_name: Option<String>,

    /// Write what arrives at the lab's servers (JSON Lines) to this file.
    #[arg(long, value_name = "FILE", requires = "lab")]
    witness: Option<PathBuf>,

    /// Write what the lab's models were asked (JSON Lines) to this file, whole but for credentials.
    #[arg(long, value_name = "FILE", requires = "lab")]
    tape: Option<PathBuf>,

    #[command(flatten)]
    log: LogFlags,

    #[command(flatten)]
    metrics: MetricsFlag,

    /// Leave this unix socket of the host visible to the command, although somebody outside answers it.
    #[arg(long, value_name = "PATH")]
    keep_socket: Vec<PathBuf>,

    /// Ask this resolver for the addresses of allowed names, instead of those in /etc/resolv.conf.
    #[arg(long, value_name = "ADDRESS[:PORT]", conflicts_with_all = ["lab", "lab_name"])]
    resolver: Vec<String>,

    /// Listen for `closedbook phase|status|log|denials` at this path [default: a socket in your own runtime folder].
    #[arg(long, value_name = "PATH", conflicts_with = "name")]
    control: Option<PathBuf>,

    /// What the run is called, to be found by `--name`.
    #[arg(long, value_name = "NAME")]
    name: Option<InstanceName>,

    /// Whether a later phase may permit more: `free`, `flag` (it has to be asked for), `never-after-agent`.
    #[arg(long, value_name = "HOW", default_value = Widen::default().word(), value_parser = flags::widen)]
    widen: Widen,

    /// End the command when it takes longer: it is told to, has 5 seconds, and then is killed with all that it has started.
    /// The exit code is then 124.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    within: Option<u64>,

    /// Don't print what was refused.
    #[arg(long, short)]
    quiet: bool,

    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Run {
    /// Does it.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        supervisor::supervise(plan::Plan::try_from(self)?).map(ExitCode::from)
    }
}
