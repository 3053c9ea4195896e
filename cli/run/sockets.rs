//! Which sockets of the host the command must not see.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use closedbook_kernel::unix_sockets::{WELL_KNOWN, WELL_KNOWN_IN_RUNTIME_DIR, bound, existing};
use nix::unistd::geteuid;

use crate::exit::Failure;

/// Every socket in the file system that a process outside answers, but for those to keep.
pub(super) fn answered_outside(keep: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let kept = keep.iter().map(|path| kept(path)).collect::<Result<BTreeSet<_>, _>>()?;
    let table = fs::read("/proc/net/unix").map_err(|error| {
        Failure::host(format!("can't read /proc/net/unix: {error}")).remedy("mount /proc")
    })?;
    let runtime_dir = PathBuf::from(format!("/run/user/{}", geteuid()));
    let known = WELL_KNOWN.iter().map(PathBuf::from);
    let users = WELL_KNOWN_IN_RUNTIME_DIR.iter().map(|name| runtime_dir.join(name));
    let mut found = BTreeSet::new();
    for path in bound(&table).into_iter().chain(known).chain(users) {
        let socket = existing(&path).map_err(|error| {
            Failure::host(format!("can't tell whether {} is a socket: {error}", path.display()))
                .remedy(format!("make it readable, or permit it with --keep-socket {}", path.display()))
        })?;
        found.extend(socket.filter(|socket| !kept.contains(socket)));
    }
    Ok(found.into_iter().collect())
}

/// A socket to keep must be there: a misspelt one would be hidden without a word.
fn kept(path: &Path) -> Result<PathBuf, Failure> {
    match existing(path) {
        Ok(Some(path)) => Ok(path),
        Ok(None) => Err(Failure::usage(format!("--keep-socket {}: there is no socket", path.display()))
            .remedy("name the path of a socket that exists, or leave the flag out")),
        Err(error) => Err(Failure::usage(format!("--keep-socket {}: {error}", path.display()))),
    }
}
