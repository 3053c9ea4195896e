//! Joining namespaces that exist.

use std::fs::File;
use std::io;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::Pid;
use thiserror::Error;

/// A namespace of a running process, held open: it lives as long as this value.
#[derive(Debug)]
pub struct Namespace {
    kind: Kind,
    file: File,
}

/// The kinds that closedbook joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// User ids and the capabilities over everything that was made in the namespace.
    User,
    /// Interfaces, routes, rules, sockets.
    Net,
    /// The mount tree.
    Mount,
}

/// Why a namespace was not opened or joined.
#[derive(Debug, Error)]
pub enum NamespaceError {
    /// The process is gone, or not ours to look at.
    #[error("can't open the {kind:?} namespace of process {pid}")]
    Open {
        /// Which one.
        kind: Kind,
        /// Whose.
        pid: Pid,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// setns(2) itself.
    #[error("can't join the {kind:?} namespace")]
    Join {
        /// Which one.
        kind: Kind,
        /// Why.
        #[source]
        source: Errno,
    },
    /// unshare(2) itself.
    #[error("can't make a new namespace")]
    Unshare(#[source] Errno),
}

impl Namespace {
    /// Opens a namespace of a process.
    pub fn of(pid: Pid, kind: Kind) -> Result<Self, NamespaceError> {
        let file = File::open(format!("/proc/{pid}/ns/{}", kind.file()))
            .map_err(|source| NamespaceError::Open { kind, pid, source })?;
        Ok(Self { kind, file })
    }

    /// Moves this thread into it. A user namespace must be joined before what belongs to it.
    pub fn join(&self) -> Result<(), NamespaceError> {
        setns(&self.file, self.kind.flag()).map_err(|source| NamespaceError::Join { kind: self.kind, source })
    }
}

/// Moves this process into new namespaces of its own.
pub fn leave_for_new(kinds: CloneFlags) -> Result<(), NamespaceError> {
    unshare(kinds).map_err(NamespaceError::Unshare)
}

impl Kind {
    fn file(self) -> &'static str {
        match self {
            Kind::User => "user",
            Kind::Net => "net",
            Kind::Mount => "mnt",
        }
    }

    fn flag(self) -> CloneFlags {
        match self {
            Kind::User => CloneFlags::CLONE_NEWUSER,
            Kind::Net => CloneFlags::CLONE_NEWNET,
            Kind::Mount => CloneFlags::CLONE_NEWNS,
        }
    }
}
