//! Signals, taken one by one instead of by handlers.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};

use crate::exit::Failure;

/// Signals that end this program or tell of a child, held back until they are asked for.
pub(super) struct Held(SigSet);

impl Held {
    /// From now on.
    pub(super) fn back() -> Result<Self, Failure> {
        let all = [Signal::SIGCHLD, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP];
        let set: SigSet = all.into_iter().collect();
        set.thread_block().map_err(|error| Failure::bug(format!("can't hold back signals: {error}")))?;
        Ok(Self(set))
    }

    /// Waits for the next.
    pub(super) fn next(&self) -> Result<Signal, Failure> {
        loop {
            match self.0.wait() {
                Ok(signal) => return Ok(signal),
                Err(Errno::EINTR) => {}
                Err(error) => return Err(Failure::bug(format!("can't wait for signals: {error}"))),
            }
        }
    }
}
