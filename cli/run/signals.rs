//! The supervisor's signals: those that people send to it are meant for the command.

use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{Pid, getpgrp, isatty, tcgetpgrp, tcsetpgrp};

/// Signals that arrive as values instead of ending the supervisor.
pub(super) struct Signals {
    queue: SignalFd,
}

/// SIGTSTP, SIGTTIN and SIGTTOU are left alone: they stop the supervisor together with the command, as a shell expects.
const PASSED_ON: [Signal; 9] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
    Signal::SIGCONT,
    Signal::SIGALRM,
];

impl Signals {
    /// From now on signals queue.
    pub(super) fn queue() -> Result<Self, Errno> {
        let set: SigSet = PASSED_ON.into_iter().collect();
        set.thread_block()?;
        Ok(Self { queue: SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)? })
    }

    /// The next signal that the command has not had itself.
    ///
    /// What the terminal sends (Ctrl-C, a closed window) goes to the whole foreground process group, in which the
    /// command is; `si_code` tells: it is positive for what the kernel sends, and not for kill(2).
    pub(super) fn next_for_command(&self) -> Result<Option<i32>, Errno> {
        while let Some(info) = self.queue.read_signal()? {
            if info.ssi_code <= 0 {
                return Ok(i32::try_from(info.ssi_signo).ok());
            }
        }
        Ok(None)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }
}

/// The terminal as it was: an interactive shell inside takes the foreground and leaves it to a process group that is
/// gone by the end.
pub(super) struct Foreground {
    group: Option<Pid>,
}

impl Foreground {
    /// Notes whether this process has the terminal.
    pub(super) fn note() -> Self {
        let stdin = std::io::stdin();
        let ours = isatty(&stdin).unwrap_or(false) && tcgetpgrp(&stdin) == Ok(getpgrp());
        Self { group: ours.then(getpgrp) }
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // A background process that sets the foreground is stopped by SIGTTOU unless it blocks it.
            let _ = SigSet::from(Signal::SIGTTOU).thread_block();
            let _ = tcsetpgrp(std::io::stdin(), group);
        }
    }
}
