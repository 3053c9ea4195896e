//! The outer process: started with an empty environment, no descriptors but its own, and where the uplink is.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use closedbook_kernel::descriptors;
use closedbook_kernel::fork::{Child, fork_into};
use closedbook_lab::Room;
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::socket::{MsgFlags, recv};
use nix::sys::wait::WaitStatus;

use super::wire::Line;
use crate::exit::{Failure, chain};
use crate::flags::keeper::Keeper;
use crate::flags::log::Recorder;
use crate::flags::metrics::OpenMetrics;
use crate::sidecar::config::{FromOuter, OuterConfig, Report, ToOuter};

/// A proxy that has been started.
pub(super) struct Proxy {
    child: Child,
    line: Line,
}

/// What every proxy of a run is given.
pub(super) struct Start {
    /// What it enforces.
    pub(super) config: OuterConfig,
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
/// How long a proxy may take until it serves. It takes some tens of milliseconds.
pub(super) const START: Duration = Duration::from_secs(30);

/// How long a proxy may take to cut and record everything at the end.
const STOP: Duration = Duration::from_secs(10);

impl Proxy {
    /// Starts one, and has it given listeners by whoever is at the other end of `handoffs`. It serves when
    /// [`Proxy::word`] says so.
    pub(super) fn start(start: &Start, handoffs: &UnixStream) -> Result<Self, Failure> {
        let cannot =
            |error: &dyn std::error::Error| Failure::bug(format!("can't start the proxy: {}", chain(error)));
        let (mut line, theirs) = UnixStream::pair()
            .and_then(|(ours, theirs)| Ok((Line::over(ours)?, theirs)))
            .map_err(|error| cannot(&error))?;
        let (inner, handoff) = UnixStream::pair().map_err(|error| cannot(&error))?;
        descriptors::send(handoffs, &[inner.as_fd()]).map_err(|error| cannot(&error))?;
        drop(inner);
        // Each has a line of its own, so that none hears an answer to another that has died.
        let keeper = start.log.as_ref().and_then(|log| log.keeper.as_ref()).map(Keeper::line);
        let keeper = keeper.transpose().map_err(|error| cannot(&error))?;
        let child = fork_into(CloneFlags::empty(), || {
            let error = become_proxy(start, &theirs, &handoff, keeper.as_ref());
            eprintln!("closedbook: can't start the proxy: {error}");
            70
        })
        .map_err(|error| cannot(&error))?;
        line.say(&ToOuter::Serve(start.config.clone())).map_err(|error| cannot(&error))?;
        Ok(Self { child, line })
    }

    /// Waits until it serves.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), Failure> {
        self.word(START)
    }

    /// Its word that it serves, or why not. To be heard once.
    pub(super) fn word(&mut self, patience: Duration) -> Result<(), Failure> {
        match self.line.hear_within::<FromOuter>(patience) {
            Ok(Some(FromOuter::Ready)) => Ok(()),
            Ok(Some(FromOuter::Unable(what))) => {
                Err(Failure::refused(format!("the proxy can't serve: {what}")))
            }
            Ok(Some(FromOuter::Done(_))) => Err(Failure::bug("the proxy ended before it began")),
            Ok(None) => Err(Failure::bug("the proxy ended before it was ready")),
            Err(error) => Err(Failure::bug(format!("the proxy can't be understood: {error}"))),
        }
    }

    /// Where its word comes from.
    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    /// Whether it has said its last words, or something else that nobody asked for: it has ended in order.
    pub(super) fn has_reported(&self) -> bool {
        let mut byte = [0];
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        self.line.has_more()
            || recv(self.line.as_fd().as_raw_fd(), &mut byte, flags).is_ok_and(|count| count > 0)
    }

    /// Ends it; what it has refused. `None` if it died before, or does not say.
    pub(super) fn stop(mut self) -> Option<Report> {
        let _ = self.line.say(&ToOuter::Stop);
        let until = Instant::now() + STOP;
        let done = loop {
            match self.line.hear_within(until.saturating_duration_since(Instant::now())) {
                Ok(Some(FromOuter::Done(report))) => break Some(report),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break None,
            }
        };
        if done.is_none() {
            self.kill();
        }
        let _ = self.child.wait();
        done
    }

    /// Ends it at once, whatever state it is in.
    pub(super) fn kill(&self) {
        let _ = self.child.signal(Signal::SIGKILL);
    }

    /// How it ended, for people. Waits for it.
    pub(super) fn obituary(&self) -> String {
        match self.child.wait() {
            // SIGSYS is what the system-call filter ends a process with.
            Ok(WaitStatus::Signaled(_, Signal::SIGSYS, _)) => {
                "was ended by its system-call filter: it did what it never does".into()
            }
            Ok(WaitStatus::Signaled(_, signal, _)) => format!("was killed by {signal}"),
            Ok(WaitStatus::Exited(_, code)) => format!("ended with code {code}"),
            _ => "has died".into(),
        }
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
fn become_proxy(
    start: &Start,
    line: &UnixStream,
    handoff: &UnixStream,
    keeper: Option<&UnixStream>,
) -> io::Error {
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
        descriptors::keep_over_exec(handoff)?;
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
    command.arg("--handoff-fd").arg(handoff.as_raw_fd().to_string());
    for (flag, descriptor) in &optional {
        command.arg(flag).arg(descriptor.as_raw_fd().to_string());
    }
    command.current_dir("/").exec()
}
