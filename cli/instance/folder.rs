//! The folder of a user's control sockets: `$XDG_RUNTIME_DIR/closedbook/runs`, or `/tmp/closedbook-UID/runs`.
//!
//! A folder of its own below the one of the labs: the command of a run sees its lab's files and must see no control
//! socket, not even those that other runs make later.

use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, geteuid};

use super::socket::ControlSocket;
use crate::exit::Failure;

/// Attempts to make a folder that others take away.
const ATTEMPTS: usize = 3;

/// A folder that only its owner can enter. It stays: removing it would take the cover off it that the commands of other
/// runs have over it.
#[derive(Debug, Clone)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// The one for new sockets, made if it is not there.
    pub(crate) fn make() -> Result<Self, Failure> {
        Self::make_below(runtime().unwrap_or_else(temporary))
    }

    /// Every one that a run of this user may choose, whatever its environment.
    pub(crate) fn make_all() -> Vec<Self> {
        let bases = runtime().into_iter().chain([temporary()]);
        bases.filter_map(|base| Self::make_below(base).ok()).collect()
    }

    fn make_below(base: PathBuf) -> Result<Self, Failure> {
        let runs = base.join("runs");
        // A lab that ends takes the folder above with it while that is empty.
        let make_both = || make(&base).and_then(|()| make(&runs));
        let made = (1..ATTEMPTS).fold(make_both(), |made, _| made.or_else(|_| make_both()));
        made.map_err(|error| {
            Failure::host(format!("can't make {}: {error}", runs.display()))
                .remedy("name a socket in a folder of your own: --control PATH")
        })?;
        check(&base)?;
        check(&runs)?;
        let folder = Self(runs);
        folder.sweep();
        Ok(folder)
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What lies in it, by process.
    pub(crate) fn sockets(&self) -> Vec<ControlSocket> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let mut found: Vec<_> =
            entries.flatten().filter_map(|entry| ControlSocket::at(&entry.path())).collect();
        found.sort_by_key(|socket| socket.pid);
        found
    }

    /// Clears away what runs left that were killed.
    fn sweep(&self) {
        for socket in self.sockets() {
            let pid = i32::try_from(socket.pid).map(Pid::from_raw);
            let gone = pid.is_ok_and(|pid| kill(pid, None) == Err(Errno::ESRCH));
            // The process may live in another pid namespace, and answer.
            if gone && !socket.is_answered() {
                let _ = fs::remove_file(&socket.path);
            }
        }
    }
}

/// Those that are there: a run may have been started from an environment other than this.
pub(super) fn all() -> Vec<Folder> {
    let bases = runtime().into_iter().chain([temporary()]);
    bases.map(|base| base.join("runs")).filter(|path| check(path).is_ok()).map(Folder).collect()
}

fn runtime() -> Option<PathBuf> {
    let own = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw())
    };
    // The variable may be another user's (su, sudo).
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    Some(runtime.filter(|path| path.is_absolute() && own(path))?.join("closedbook"))
}

fn temporary() -> PathBuf {
    PathBuf::from(format!("/tmp/closedbook-{}", geteuid()))
}

fn make(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// In /tmp somebody else may have made it first.
fn check(path: &Path) -> Result<(), Failure> {
    let meta =
        fs::symlink_metadata(path).map_err(|error| Failure::host(format!("{}: {error}", path.display())))?;
    match meta.is_dir() && meta.uid() == geteuid().as_raw() && meta.mode() & 0o077 == 0 {
        true => Ok(()),
        false => Err(Failure::host(format!("{} is not a folder that only you may enter", path.display()))
            .remedy(format!("remove it, or: chmod 700 {}", path.display()))),
    }
}
