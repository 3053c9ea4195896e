//! `closedbook sidecar outer`: takes the listeners over, gives up all privilege, decides and dials.

use std::fs::File;
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use closedbook_kernel::descriptors::inherited;
use closedbook_kernel::privileges;
use closedbook_policy::Policy;
use closedbook_sidecar::listeners::Listeners;
use closedbook_sidecar::outer::{self, Config, Upstreams};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{SignalKind, signal};

use super::config::{FromOuter, OuterConfig, ToOuter};
use super::handoff;
use crate::exit::{Failure, chain};
use crate::policy_file;
use crate::run_flags;

/// Serve a closed namespace: decide, resolve, dial. Holds no capability.
#[derive(Debug, Args)]
pub(crate) struct Outer {
    /// The unix socket at which the inner half hands its listeners over.
    #[arg(long, value_name = "PATH", required_unless_present = "supervisor_fd")]
    handoff: Option<PathBuf>,

    /// The policy document (TOML or JSON).
    #[arg(long, value_name = "FILE", required_unless_present = "supervisor_fd")]
    policy: Option<PathBuf>,

    /// The phase to begin in.
    #[arg(long, value_name = "NAME", required_unless_present = "supervisor_fd")]
    phase: Option<String>,

    /// Write the decision log (JSON Lines) to this file; it is added to if it exists.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Ask this resolver, instead of those in /etc/resolv.conf.
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    resolver: Vec<String>,

    /// Inherited: the supervisor, which says what to enforce.
    #[arg(long, hide = true, conflicts_with_all = ["handoff", "policy", "phase", "log", "resolver"], requires = "handoff_fd")]
    supervisor_fd: Option<RawFd>,

    /// Inherited: the socket that the listeners come from.
    #[arg(long, hide = true)]
    handoff_fd: Option<RawFd>,

    /// Inherited: the decision log, open.
    #[arg(long, hide = true)]
    log_fd: Option<RawFd>,
}
