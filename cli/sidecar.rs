//! `closedbook sidecar`: the two halves of the sealed topology, each in a place of its own.

use std::process::ExitCode;

use clap::Subcommand;

use crate::exit::Failure;

pub(crate) mod config;
mod handoff;
mod inner;
mod outer;
mod ready;

/// The two halves of the sidecar, for those who start the namespaces themselves.
#[derive(Debug, Subcommand)]
pub(crate) enum Sidecar {
    Inner(inner::Inner),
    Outer(Box<outer::Outer>),
}

impl Sidecar {
    /// Does it.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Sidecar::Inner(inner) => inner.run(),
            Sidecar::Outer(outer) => outer.run(),
        }
    }
}
