//! The outer process: started with an empty environment, no descriptors but its own, and where the uplink is.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::Command;

use closedbook_kernel::descriptors;
use closedbook_kernel::fork::{Child, fork_into};
use closedbook_lab::Room;
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::socket::{MsgFlags, recv};

use super::wire::Line;
use crate::exit::{Failure, chain};
use crate::flags::keeper::Keeper;
use crate::flags::log::Recorder;
use crate::flags::metrics::OpenMetrics;
use crate::sidecar::config::{FromOuter, OuterConfig, Report, ToOuter};

/// The running proxy.
pub(super) struct Proxy {
    child: Child,
    line: Line,
    /// What ends with the proxy: who puts its log aside, and the file of its metrics.
    _ends_with_it: (Option<Recorder>, Option<OpenMetrics>),
}

/// What the proxy is given.
pub(super) struct Start {
    /// What it enforces.
    pub(super) config: OuterConfig,
    /// Where the listeners come from.
    pub(super) handoff: UnixStream,
    /// Where its records go.
    pub(super) log: Option<Recorder>,
    /// Where it is asked for metrics.
    pub(super) metrics: Option<OpenMetrics>,
    /// Where the operator is listened to.
    pub(super) control: Option<UnixListener>,
    /// Where the uplink is, if it is not this process's own network: in the lab.
    pub(super) uplink: Option<Room>,
}

impl Start {
    /// The descriptors that not every proxy gets, with the flags that name them.
    fn optional<'a>(&'a self, keeper: Option<&'a UnixStream>) -> Vec<(&'static str, BorrowedFd<'a>)> {
        let log = self.log.as_ref().map(|log| ("--log-fd", log.file.as_fd()));
        let keeper = keeper.map(|keeper| ("--log-keeper-fd", keeper.as_fd()));
        let metrics = self.metrics.as_ref().map(|metrics| ("--metrics-fd", metrics.socket.as_fd()));
        let control = self.control.as_ref().map(|control| ("--control-fd", control.as_fd()));
        log.into_iter().chain(keeper).chain(metrics).chain(control).collect()
    }
}

impl Proxy {
    /// Starts it. It serves when [`Proxy::wait_until_ready`] says so.
    pub(super) fn start(start: Start) -> Result<Self, Failure> {
        let cannot =
            |error: &dyn std::error::Error| Failure::bug(format!("can't start the proxy: {}", chain(error)));
        let (mut line, theirs) = UnixStream::pair()
            .and_then(|(ours, theirs)| Ok((Line::over(ours)?, theirs)))
            .map_err(|error| cannot(&error))?;
        let keeper = start.log.as_ref().and_then(|log| log.keeper.as_ref()).map(Keeper::line);
        let keeper = keeper.transpose().map_err(|error| cannot(&error))?;
        let child = fork_into(CloneFlags::empty(), || {
            let error = become_proxy(&start, &theirs, keeper.as_ref());
            eprintln!("closedbook: can't start the proxy: {error}");
            70
        })
        .map_err(|error| cannot(&error))?;
        line.say(&ToOuter::Serve(start.config)).map_err(|error| cannot(&error))?;
        Ok(Self { child, line, _ends_with_it: (start.log, start.metrics) })
    }

    /// Waits until it has the listeners and accepts.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), Failure> {
        match self.line.hear::<FromOuter>() {
            Ok(Some(FromOuter::Ready)) => Ok(()),
            Ok(Some(FromOuter::Unable(what))) => {
                Err(Failure::refused(format!("the proxy can't serve: {what}")))
            }
            Ok(Some(FromOuter::Done(_))) => Err(Failure::bug("the proxy ended before it began")),
            Ok(None) => Err(Failure::bug("the proxy ended before it was ready")),
            Err(error) => Err(Failure::bug(format!("the proxy can't be understood: {error}"))),
        }
    }

    /// Whether it has said its last words, or something else that nobody asked for: it has ended in order.
    pub(super) fn has_reported(&self) -> bool {
        let mut byte = [0];
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        self.line.has_more()
            || recv(self.line.as_fd().as_raw_fd(), &mut byte, flags).is_ok_and(|count| count > 0)
    }

    /// Ends it; what it has refused. `None` if it died before.
    pub(super) fn stop(mut self) -> Option<Report> {
        let _ = self.line.say(&ToOuter::Stop);
        let done = loop {
            match self.line.hear::<FromOuter>() {
                Ok(Some(FromOuter::Done(report))) => break Some(report),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break None,
            }
        };
        let _ = self.child.wait();
        done
    }
}

impl Drop for Proxy {
    /// A run that failed has said why; the proxy would add that its supervisor is gone.
    fn drop(&mut self) {
        let _ = self.child.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl AsFd for Proxy {
    /// Readable when it has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.child.as_fd()
    }
}

/// Does not come back unless it fails.
fn become_proxy(start: &Start, line: &UnixStream, keeper: Option<&UnixStream>) -> io::Error {
    let optional = start.optional(keeper);
    let prepare = || -> io::Result<()> {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // A process group of its own: Ctrl-C is for the command, whose last connections are still to be recorded.
        nix::unistd::setpgid(nix::unistd::Pid::from_raw(0), nix::unistd::Pid::from_raw(0))?;
        if let Some(lab) = &start.uplink {
            lab.enter_network().map_err(|error| io::Error::other(chain(&error)))?;
        }
        descriptors::close_others_on_exec()?;
        descriptors::keep_over_exec(line)?;
        descriptors::keep_over_exec(&start.handoff)?;
        optional.iter().try_for_each(|(_, descriptor)| descriptors::keep_over_exec(descriptor))?;
        SigSet::all().thread_unblock()?;
        Ok(())
    };
    if let Err(error) = prepare() {
        return error;
    }
    // The user's environment may hold keys; a process that reads hostile bytes gets none of it.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("closedbook").args(["sidecar", "outer"]).env_clear();
    command.arg("--supervisor-fd").arg(line.as_raw_fd().to_string());
    command.arg("--handoff-fd").arg(start.handoff.as_raw_fd().to_string());
    for (flag, descriptor) in &optional {
        command.arg(flag).arg(descriptor.as_raw_fd().to_string());
    }
    command.current_dir("/").exec()
}
