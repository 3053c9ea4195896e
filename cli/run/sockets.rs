//! Which sockets of the host the command must not see.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use closedbook_kernel::unix_sockets::{WELL_KNOWN, below, bound, existing, tables};

use crate::exit::Failure;

/// Where services put their sockets. Walked, so that those of services this user can't look into are found too.
const RUNTIME_FOLDER: &str = "/run";

/// Every socket in the file system that a process outside answers, but for those to keep.
pub(super) fn answered_outside(keep: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let kept = keep.iter().map(|path| kept(path)).collect::<Result<BTreeSet<_>, _>>()?;
    let tables = tables().map_err(|error| {
        Failure::host(format!("can't read /proc/net/unix: {error}")).remedy("mount /proc")
    })?;
    let mut candidates: Vec<PathBuf> = tables.iter().flat_map(|table| bound(table)).collect();
    candidates.extend(WELL_KNOWN.iter().map(PathBuf::from));
    below(Path::new(RUNTIME_FOLDER), &mut candidates);
    let mut found = BTreeSet::new();
    for path in candidates {
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
