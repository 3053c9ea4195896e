//! `closedbook sidecar inner`: closes the network namespace it is started in, then stays as its anchor.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use closedbook_kernel::privileges;
use closedbook_kernel::{descriptors, seccomp};
use closedbook_sidecar::inner::{self, Anchor};

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
        let anchor = inner::set_up().map_err(|error| {
            Failure::host(format!("can't close this network namespace: {}", chain(&error)))
                .remedy(error.remedy())
        })?;
        give_up_everything()?;
        eprintln!("closedbook: the namespace is closed; listeners at {}", self.handoff.display());
        hand_over_for_ever(&socket, &anchor)
    }
}

/// G17: what holds the namespace needs nothing any more but to bind listeners and hand them over.
fn give_up_everything() -> Result<(), Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::bug(format!("can't give up privilege: {error}"));
    privileges::drop_all().map_err(|error| failed(&chain(&error)))?;
    privileges::limit_anchor().map_err(|error| failed(&error))?;
    descriptors::silence().map_err(|error| failed(&error))?;
    std::env::set_current_dir("/").map_err(|error| failed(&error))?;
    seccomp::confine_anchor().map_err(|error| failed(&error))
}

/// Binding needs no privilege, so an outer half that was started anew is served like the first.
fn hand_over_for_ever(socket: &UnixListener, anchor: &Anchor) -> Result<ExitCode, Failure> {
    loop {
        let (outer, _) =
            socket.accept().map_err(|error| Failure::bug(format!("the handoff socket: {error}")))?;
        // Where it fails, the former outer half still serves, or this one has gone already: the namespace stays as
        // closed as it was.
        if let Err(error) = serve(anchor, outer) {
            eprintln!("closedbook: {error}");
        }
    }
}

fn serve(anchor: &Anchor, outer: UnixStream) -> Result<(), String> {
    let given = anchor.hand_over(outer).map_err(|error| chain(&error))?;
    given.test().map_err(|error| format!("the self-test failed: {}", chain(&error)))
}
