//! The supervisor: starts the parts in the order that keeps everything closed, passes signals on, cleans up.
//!
//! Start order: lab (if any) → proxy → namespaces closed, rules read back, listeners handed over, sockets of the host
//! hidden → proxy serves → command. A part that fails ends the run before the command exists.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use closedbook_kernel::fork::{Child, ForkError, fork_into};
use closedbook_kernel::idmap::IdMaps;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::closing;
use super::control::{self, Control};
use super::init::{self, Task};
use super::lab::Lab;
use super::limit::{Due, Limit, OVER};
use super::plan::Plan;
use super::proxy::Start;
use super::service::Service;
use super::signals::{Foreground, Signals};
use super::sockets;
use super::wire::{FromInit, Line, ToInit};
use crate::exit::{self, Failure, chain};
use crate::flags::log::{OpenLog, Recorder};

/// Runs the command; its exit code.
pub(super) fn supervise(plan: Plan) -> Result<u8, Failure> {
    let _terminal = Foreground::note();
    let signals = Signals::queue().map_err(|error| Failure::bug(format!("can't queue signals: {error}")))?;
    let lab = plan.lab.as_ref().map(Lab::start).transpose()?;
    let config = plan.outer_config(lab.as_ref());
    // Before the control socket is there, which the keeper of the log would hold open.
    let log = plan.log.map(OpenLog::start).transpose()?;
    // After the lab's fork, which would hold the listener open.
    let mut control = Control::bind(plan.control, plan.quiet)?;
    let (handoffs, proxies) =
        UnixStream::pair().map_err(|error| Failure::bug(format!("can't make a socket pair: {error}")))?;
    let listener = control.as_mut().and_then(Control::hand_over);
    let uplink = lab.as_ref().map(Lab::room);
    let evidence: Vec<PathBuf> = log.iter().flat_map(Recorder::out_of_reach).cloned().collect();
    let start = Start { config, log, metrics: plan.metrics, control: listener, uplink };
    let mut service = Service::start(start, handoffs)?;
    let environment = lab.as_ref().map_or_else(Vec::new, Lab::environment);
    let command = plan.command.with_environment(environment);
    let mut init = Init::start(Task { command, proxies })?;
    // While both get ready: it means looking at every process of the machine.
    let mut hidden = sockets::answered_outside(&plan.kept_sockets)?;
    hidden.extend(evidence);
    hidden.extend(lab.iter().flat_map(Lab::out_of_reach));
    hidden.extend(control.as_ref().map(|control| control.path().to_owned()));
    hidden.extend(control::folders());
    init.close(hidden)?;
    service.wait_until_ready()?;
    init.say(&ToInit::Start)?;
    let code = follow(&mut init, &mut service, &signals, Limit::of(plan.within));
    init.end();
    let (summary, log) = service.stop();
    drop(init);
    match summary {
        Some(summary) if !plan.quiet => closing::print(&summary),
        _ => {}
    }
    lab.as_ref().map_or(Ok(()), Lab::finish)?;
    let lost = [log.as_ref().map(Recorder::verify), lab.as_ref().map(Lab::verify)];
    let lost = lost.into_iter().flatten().filter_map(Result::err).map(exit::report).count();
    // What tells of the run is not where it was asked for.
    code.map(|code| if code == 0 && lost > 0 { 1 } else { code })
}

/// The task's init process, ended with everything below it when this value goes.
struct Init {
    child: Child,
    line: Line,
}

impl Init {
    /// Begins to close the namespace.
    fn start(task: Task) -> Result<Self, Failure> {
        let maps = IdMaps::identity()
            .map_err(|error| Failure::bug(format!("can't read this process's id map: {error}")))?;
        let (line, theirs) = Line::pair().map_err(|error| Failure::bug(error.to_string()))?;
        let child = fork_into(init::namespaces(), || init::run(task, theirs)).map_err(no_namespaces)?;
        let mut init = Self { child, line };
        maps.write(init.child.pid()).map_err(|error| {
            Failure::host(format!("can't map user ids into the new user namespace: {}", chain(&error)))
                .remedy("allow unprivileged user namespaces, or run as root")
        })?;
        init.say(&ToInit::Mapped)?;
        Ok(init)
    }

    /// Returns when the namespace is closed, and these sockets are hidden in it.
    fn close(&mut self, hidden: Vec<PathBuf>) -> Result<(), Failure> {
        let hidden = hidden.into_iter().map(PathBuf::into_os_string).collect();
        let said = self.say(&ToInit::Hide(hidden));
        // An init that has not come so far has said why.
        match self.hear()? {
            Some(FromInit::Closed) => Ok(()),
            Some(FromInit::Unable(why)) => Err(Failure::host(why.what).remedy(why.remedy)),
            other => {
                said.and(Err(Failure::bug(format!("the task's init did not close its namespace: {other:?}"))))
            }
        }
    }

    /// Ends it and everything below it; the drop waits for that.
    fn end(&self) {
        // It may have ended by itself.
        let _ = self.child.signal(Signal::SIGKILL);
    }

    fn say(&mut self, message: &ToInit) -> Result<(), Failure> {
        self.line.say(message).map_err(|error| Failure::bug(format!("the task's init is gone: {error}")))
    }

    fn hear(&mut self) -> Result<Option<FromInit>, Failure> {
        self.line
            .hear()
            .map_err(|error| Failure::bug(format!("the task's init can't be understood: {error}")))
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        self.end();
        // The kernel ends the rest of the pid namespace before this returns.
        let _ = self.child.wait();
    }
}

/// Waits for the command's end, or the end of its time; passes signals on and has a dead proxy replaced until then.
fn follow(
    init: &mut Init,
    service: &mut Service,
    signals: &Signals,
    mut limit: Limit,
) -> Result<u8, Failure> {
    loop {
        let watched = [init.line.as_fd(), signals.as_fd()].into_iter().chain(service.watched());
        let mut watched: Vec<PollFd<'_>> =
            watched.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)).collect();
        let patience = service.patience().into_iter().chain(limit.patience()).min().map(|patience| {
            // Rounded up, so that it is over when the time is.
            PollTimeout::try_from(patience + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut watched, patience.unwrap_or(PollTimeout::NONE)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(Failure::bug(format!("poll: {error}"))),
        }
        let ready = |index: usize| watched.get(index).and_then(PollFd::any).unwrap_or(false);
        let spoken = ready(0);
        let due = ready(2) || service.patience().is_some_and(|patience| patience.is_zero());
        // A command that has ended needs no proxy any more.
        if due && !spoken {
            service.attend()?;
        }
        while let Some(number) =
            signals.next_for_command().map_err(|error| Failure::bug(error.to_string()))?
        {
            // That init is gone is seen below.
            let _ = init.say(&ToInit::Signal(number));
        }
        if spoken {
            let code = ended(init.hear()?)?;
            return Ok(if limit.is_over() { OVER } else { code });
        }
        match limit.due() {
            Due::Nothing => {}
            Due::Tell(seconds) => {
                eprintln!("closedbook: the command's time is over ({seconds} s); it is told to end");
                let _ = init.say(&ToInit::Signal(Signal::SIGTERM as i32));
            }
            // Who calls ends it.
            Due::End => return Ok(OVER),
        }
    }
}

fn ended(message: Option<FromInit>) -> Result<u8, Failure> {
    match message {
        Some(FromInit::Ended(code)) => Ok(code),
        Some(FromInit::NotStarted { code, what }) => {
            eprintln!("closedbook: {what}");
            Ok(code)
        }
        Some(FromInit::Unable(why)) => Err(Failure::bug(why.what).remedy(why.remedy)),
        Some(FromInit::Closed) => Err(Failure::bug("the task's init spoke out of turn")),
        None => {
            eprintln!("closedbook: the task's init process was killed, and the command with it");
            Ok(128 + 9)
        }
    }
}

/// clone(2) says little about why it denies namespaces; the usual causes are known.
pub(super) fn no_namespaces(error: ForkError) -> Failure {
    let what = format!("this host allows no new user, network, mount and pid namespaces: {}", chain(&error));
    let remedy = match error {
        ForkError::Clone(Errno::EPERM | Errno::EACCES) => {
            "allow them: sysctl kernel.unprivileged_userns_clone=1 (Debian), \
             sysctl kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or in a container \
             --security-opt seccomp=unconfined --security-opt apparmor=unconfined"
        }
        ForkError::Clone(Errno::ENOSPC) => return Failure::host(what).remedy(exhausted()),
        ForkError::Clone(Errno::EINVAL) => {
            "use a kernel with CONFIG_USER_NS, CONFIG_NET_NS and CONFIG_PID_NS"
        }
        _ => return Failure::bug(what),
    };
    Failure::host(what).remedy(remedy)
}

/// clone(2) does not say which limit was reached; one that is 0 forbids.
fn exhausted() -> String {
    const KINDS: [&str; 5] = ["user", "net", "mnt", "pid", "ipc"];
    let forbids = |kind: &&str| {
        let limit = std::fs::read_to_string(format!("/proc/sys/user/max_{kind}_namespaces"));
        limit.is_ok_and(|limit| limit.trim() == "0")
    };
    let limits: Vec<&str> = KINDS.into_iter().filter(forbids).collect();
    let (limits, now) = if limits.is_empty() { (KINDS.to_vec(), "") } else { (limits, ", which is 0") };
    let names: Vec<String> = limits.iter().map(|kind| format!("user.max_{kind}_namespaces")).collect();
    format!("raise with sysctl: {}{now}", names.join(", "))
}
