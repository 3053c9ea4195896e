//! `closedbook sidecar inner`: closes the network namespace it is started in, then stays as its anchor.

use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use closedbook_kernel::descriptors;
use closedbook_kernel::privileges;
use closedbook_sidecar::inner;
use closedbook_sidecar::listeners::{Families, Listeners};

use super::handoff;
use crate::exit::{Failure, chain};

/// Close this network namespace, hand its listeners to the outer half, and stay as its anchor.
///
/// The namespace must have no interface but `lo`. Needs CAP_NET_ADMIN, and gives it up before it answers anybody.
#[derive(Debug, Args)]
pub(crate) struct Inner {
    /// The unix socket at which the outer half fetches the listeners; in a folder that the task does not see.
    #[arg(long, value_name = "PATH")]
    handoff: PathBuf,
}

impl Inner {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let socket = handoff::bind(&self.handoff)?;
        let listeners = inner::set_up().map_err(|error| {
            Failure::host(format!("can't close this network namespace: {}", chain(&error)))
                .remedy(error.remedy())
        })?;
        let families = listeners.families();
        // Held until the outer half comes, they would let clients hang in their backlog; without them clients are
        // refused. They are bound again for each outer half.
        drop(listeners);
        privileges::drop_all().map_err(|error| Failure::bug(chain(&error)))?;
        eprintln!("closedbook: the namespace is closed; listeners at {}", self.handoff.display());
        hand_over_for_ever(&socket, families)
    }
}

/// Binding needs no privilege, so an outer half that was started anew is served like the first.
fn hand_over_for_ever(socket: &UnixListener, families: Families) -> Result<ExitCode, Failure> {
    loop {
        let (outer, _) =
            socket.accept().map_err(|error| Failure::bug(format!("the handoff socket: {error}")))?;
        let handed = Listeners::bind(families)
            .map_err(|error| chain(&error))
            .and_then(|new| descriptors::send(&outer, &new.descriptors()).map_err(|error| error.to_string()));
        if let Err(error) = handed {
            // The former outer half still serves, or this one has gone already: the namespace stays as closed as it was.
            eprintln!("closedbook: the listeners were not handed over: {error}");
        }
    }
}
