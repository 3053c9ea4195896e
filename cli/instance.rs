//! A running closedbook: where its control socket is, and a conversation with it.

use std::path::PathBuf;

use clap::Args;

use crate::exit::Failure;

mod client;
mod folder;
mod socket;

pub(crate) use client::{Client, Notice};
pub(crate) use folder::Folder;
pub(crate) use socket::{ControlSocket, InstanceName, bind};

/// Which running closedbook is meant; without any of these, the only one there is.
#[derive(Debug, Default, Args)]
pub(crate) struct Target {
    /// The run of this name (`closedbook run --name`).
    #[arg(long = "name", value_name = "NAME", conflicts_with_all = ["pid", "control"])]
    instance: Option<InstanceName>,

    /// The run of this process.
    #[arg(long, value_name = "PID", conflicts_with = "control")]
    pid: Option<u32>,

    /// The control socket at this path.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,
}

impl Target {
    /// The run of this name.
    pub(crate) fn named(name: InstanceName) -> Self {
        Self { instance: Some(name), ..Self::default() }
    }

    /// Connects to it.
    pub(crate) fn connect(&self) -> Result<Client, Failure> {
        if let Some(path) = &self.control {
            return Client::connect(path).map_err(|error| {
                Failure::refused(format!("nobody can be asked at {}: {error}", path.display()))
                    .remedy("name the socket of a run that is still going: closedbook run --control PATH")
            });
        }
        let wanted = |found: &ControlSocket| {
            self.pid.is_none_or(|pid| found.pid == pid)
                && self.instance.as_ref().is_none_or(|name| found.name.as_ref() == Some(name))
        };
        let mut answering: Vec<(ControlSocket, Client)> = folder::all()
            .iter()
            .flat_map(Folder::sockets)
            .filter(wanted)
            .filter_map(|found| Client::connect(&found.path).ok().map(|client| (found, client)))
            .collect();
        match (answering.pop(), answering.as_slice()) {
            (Some((_, client)), []) => Ok(client),
            (None, _) => Err(self.none()),
            (Some((last, _)), others) => {
                let others = others.iter().map(|(found, _)| found);
                let all: Vec<String> = others.chain([&last]).map(ControlSocket::to_string).collect();
                Err(Failure::usage(format!("{} runs of yours are going\n  {}", all.len(), all.join("\n  ")))
                    .remedy("choose one with --pid PID or --name NAME"))
            }
        }
    }

    fn none(&self) -> Failure {
        let which = match (&self.instance, self.pid) {
            (Some(name), _) => format!(" named {name}"),
            (None, Some(pid)) => format!(" of process {pid}"),
            (None, None) => String::new(),
        };
        Failure::refused(format!("no run of yours{which} is going")).remedy(
            "start one with `closedbook run`; one of another user is reached by --control PATH, as root",
        )
    }
}
