//! The first process of the task's namespaces: prepares them, starts the command, stays as their anchor.
//!
//! When it ends, for whatever reason, the kernel ends every process of the task with it. It notices the supervisor's
//! death by the closed socket, so that kill -9 of the supervisor leaves nothing behind.

use std::env;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use closedbook_kernel::descriptors;
use closedbook_kernel::fork::{Child, fork_into};
use closedbook_kernel::idmap::IdMaps;
use closedbook_kernel::mounts;
use closedbook_kernel::privileges;
use closedbook_kernel::seccomp;
use closedbook_sidecar::inner::{self, Anchor, HandOverError, Untested};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use super::command::Command;
use super::wire::{FromInit, Inability, Line, ToInit};
use crate::exit::chain;

/// What the init process needs to know.
pub(super) struct Task {
    /// The command to start when all is closed.
    pub(super) command: Command,
    /// Where the proxies' ends of handoffs come from, one for each proxy.
    pub(super) proxies: UnixStream,
}

/// The namespaces of a task. User first: it owns the others.
pub(super) fn namespaces() -> CloneFlags {
    CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
}

/// Runs in the new namespaces, as their process 1. Gives this process's own exit code, which nobody reads.
pub(super) fn run(task: Task, mut line: Line) -> u8 {
    match serve(task, &mut line) {
        Ok(ended) => {
            // Nobody hears it when the supervisor is gone, and then nobody needs it.
            let _ = line.say(&ended);
            0
        }
        Err(error) => {
            let _ = line.say(&FromInit::Unable(error));
            1
        }
    }
}

fn serve(task: Task, line: &mut Line) -> Result<FromInit, Inability> {
    // Both are for a supervisor that is killed: the signal at once, the closed socket if the signal was missed.
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(bug)?;
    let [reader, writer] = line.descriptors();
    descriptors::close_all_but(&[reader, writer, task.proxies.as_fd()]).map_err(bug)?;
    expect(line, |message| matches!(message, ToInit::Mapped))?;

    let Task { command, proxies } = task;
    let anchor = close_namespace(&proxies, line)?;
    line.say(&FromInit::Closed).map_err(bug)?;
    expect(line, |message| matches!(message, ToInit::Start))?;

    // Before the fork, so that no end of a child is missed.
    let ended = SigSet::from(Signal::SIGCHLD);
    ended.thread_block().map_err(bug)?;
    let children =
        SignalFd::with_flags(&ended, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC).map_err(bug)?;
    let (mut from_command, to_init) = Line::pair().map_err(bug)?;
    let child = fork_into(CloneFlags::empty(), || command.start(to_init)).map_err(bug)?;
    if let Some(not_started) = let_go(&child, &mut from_command)? {
        return Ok(not_started);
    }
    watch(&child, &children, line, &proxies, &anchor)
}

/// G6: rules before listeners, listeners before the task; and nothing of the host that could act for it.
fn close_namespace(proxies: &UnixStream, line: &mut Line) -> Result<Anchor, Inability> {
    let anchor = inner::set_up().map_err(|error| Inability {
        what: format!("can't close the network namespace: {}", chain(&error)),
        remedy: error.remedy().to_owned(),
    })?;
    let proxy = next_proxy(proxies).map_err(bug)?.ok_or_else(|| bug("the supervisor is gone"))?;
    let untested = match anchor.hand_over(proxy) {
        Ok(untested) => Some(untested),
        // A proxy that is gone has told the supervisor why.
        Err(HandOverError::Send(_)) => None,
        Err(error) => {
            let what = format!("can't give the proxy its listeners: {}", chain(&error));
            return Err(Inability { what, remedy: error.remedy().to_owned() });
        }
    };
    let hidden: Vec<PathBuf> = match line.hear().map_err(bug)? {
        Some(ToInit::Hide(paths)) => paths.into_iter().map(PathBuf::from).collect(),
        other => return Err(bug(format!("the supervisor spoke out of turn: {other:?}"))),
    };
    mounts::make_private()
        .and_then(|()| mounts::fresh_proc())
        .and_then(|()| mounts::kernel_file_systems_read_only())
        .and_then(|()| mounts::hide(&hidden))
        .map_err(|error| Inability {
            what: format!("can't prepare the command's view of the host: {}", chain(&error)),
            remedy: "run outside of a container, or in one with an unmasked /proc (Docker: --security-opt \
                     systempaths=unconfined)"
                .into(),
        })?;
    // How it ended is told to the proxy, which tells the supervisor, or not: then nothing starts.
    let _ = untested.map(Untested::test);
    Ok(anchor)
}

/// The inner end of the next proxy's handoff; `None` when the supervisor is gone.
fn next_proxy(proxies: &UnixStream) -> io::Result<Option<UnixStream>> {
    match descriptors::receive(proxies) {
        Ok(received) => Ok(received.into_iter().next().map(UnixStream::from)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// The command enters its own user namespace, below the one that owns the network: with every capability in there it
/// has none over the rules. This process maps its ids, and then gives up all privilege.
fn let_go(child: &Child, line: &mut Line) -> Result<Option<FromInit>, Inability> {
    match line.hear::<FromCommand>().map_err(bug)? {
        Some(FromCommand::Unmapped) => {}
        Some(FromCommand::Failed { code, what }) => return Ok(Some(FromInit::NotStarted { code, what })),
        None => return Err(bug("the command's process ended before it began")),
    }
    IdMaps::identity().map_err(bug)?.write(child.pid()).map_err(|error| bug(chain(&error)))?;
    give_up_everything()?;
    line.say(&ToInit::Mapped).map_err(bug)?;
    match line.hear::<FromCommand>().map_err(bug)? {
        Some(FromCommand::Failed { code, what }) => Ok(Some(FromInit::NotStarted { code, what })),
        Some(FromCommand::Unmapped) => Err(bug("the command's process spoke out of turn")),
        // execve(2) closed the socket.
        None => Ok(None),
    }
}

/// G17: from here on it waits, passes signals on and binds listeners. The command's process is there already, and
/// keeps its own limits.
fn give_up_everything() -> Result<(), Inability> {
    privileges::drop_all().map_err(|error| bug(chain(&error)))?;
    privileges::limit_anchor().map_err(bug)?;
    descriptors::silence().map_err(bug)?;
    env::set_current_dir("/").map_err(bug)?;
    seccomp::confine_anchor().map_err(|error| Inability {
        what: format!("the system-call filter is refused: {error}"),
        remedy: "use a kernel with CONFIG_SECCOMP_FILTER, and allow seccomp(2) in the container".into(),
    })
}

/// Reaps orphans, passes signals on, gives listeners to a proxy that takes a dead one's place, until the command ends or
/// the supervisor is gone.
fn watch(
    child: &Child,
    children: &SignalFd,
    line: &mut Line,
    proxies: &UnixStream,
    anchor: &Anchor,
) -> Result<FromInit, Inability> {
    loop {
        let mut ready = [children.as_fd(), line.as_fd(), proxies.as_fd()]
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN));
        match poll(&mut ready, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(bug(error)),
        }
        let [_, spoken, restarted] = ready.map(|descriptor| descriptor.any().unwrap_or(false));
        while children.read_signal().map_err(bug)?.is_some() {}
        if let Some(code) = reap(child)? {
            return Ok(FromInit::Ended(code));
        }
        if spoken && !obey(child, line)? {
            return Ok(FromInit::Ended(0));
        }
        if restarted {
            let Some(proxy) = next_proxy(proxies).map_err(bug)? else { return Ok(FromInit::Ended(0)) };
            // What fails here is seen by the proxy, whose end closes or which is told, and by its supervisor.
            let _ = anchor.hand_over(proxy).map(|untested| untested.test());
        }
    }
}

/// Does what the supervisor says; `false` when it is gone.
fn obey(child: &Child, line: &mut Line) -> Result<bool, Inability> {
    loop {
        match line.hear::<ToInit>().map_err(bug)? {
            Some(ToInit::Signal(number)) => {
                let signal = Signal::try_from(number).map_err(bug)?;
                child.signal(signal).map_err(bug)?;
            }
            Some(other) => return Err(bug(format!("the supervisor spoke out of turn: {other:?}"))),
            None => return Ok(false),
        }
        // poll(2) does not see what has been read already.
        if !line.has_more() {
            return Ok(true);
        }
    }
}

/// Collects every child that has ended; the command's code if it is among them.
fn reap(command: &Child) -> Result<Option<u8>, Inability> {
    loop {
        let (pid, code) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) => (pid, code as u8),
            Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, 128 + signal as u8),
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return Ok(None),
            Ok(_) | Err(Errno::EINTR) => continue,
            Err(error) => return Err(bug(error)),
        };
        if pid == command.pid() {
            return Ok(Some(code));
        }
    }
}

/// What the command's process says before it becomes the command.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromCommand {
    /// In its own user namespace, waiting for the id maps.
    Unmapped,
    /// It can't go on.
    Failed {
        /// As a shell has it.
        code: u8,
        /// What happened.
        what: String,
    },
}

fn expect(line: &mut Line, wanted: impl Fn(&ToInit) -> bool) -> Result<(), Inability> {
    match line.hear::<ToInit>().map_err(bug)? {
        Some(message) if wanted(&message) => Ok(()),
        Some(message) => Err(bug(format!("the supervisor spoke out of turn: {message:?}"))),
        None => Err(bug("the supervisor is gone")),
    }
}

/// Something that can't happen; the task does not start, or ends.
fn bug(what: impl ToString) -> Inability {
    Inability { what: what.to_string(), remedy: "this is a fault of closedbook; please report it".into() }
}

impl From<io::Error> for Inability {
    fn from(error: io::Error) -> Self {
        bug(error)
    }
}
