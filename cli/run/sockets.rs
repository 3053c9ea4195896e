//! Which sockets of the host the command must not see.

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use closedbook_kernel::unix_sockets::{WELL_KNOWN, below, bound, existing, holds_lost, search, tables};

use crate::exit::Failure;

/// Where services put their sockets. Walked, so that those of services this user can't look into are found too.
const RUNTIME_FOLDER: &str = "/run";

/// Files looked at in search of sockets that are not where the kernel says; a second's work.
const SEARCHED: usize = 500_000;

/// Every socket in the file system that a process outside answers, but for those to keep.
pub(super) fn answered_outside(keep: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let kept = keep.iter().map(|path| kept(path)).collect::<Result<BTreeSet<_>, _>>()?;
    let tables = tables().map_err(|error| {
        Failure::host(format!("can't read /proc/net/unix: {error}")).remedy("mount /proc")
    })?;
    let mut candidates: Vec<PathBuf> = tables.iter().flat_map(|table| bound(table)).collect();
    candidates.extend(WELL_KNOWN.iter().map(PathBuf::from));
    below(Path::new(RUNTIME_FOLDER), &mut candidates);
    search_likely_folders(tables.iter().any(|table| holds_lost(table)), &mut candidates);
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

/// Where programs put sockets that no table shows this user with a whole path: temporary folders; and the working
/// directory and home, which may be large, when the tables say that some are `lost`.
fn search_likely_folders(lost: bool, found: &mut Vec<PathBuf>) {
    let variables: &[&str] =
        if lost { &["TMPDIR", "XDG_RUNTIME_DIR", "HOME"] } else { &["TMPDIR", "XDG_RUNTIME_DIR"] };
    let fixed = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    let named = variables.iter().filter_map(env::var_os).map(PathBuf::from);
    let current = lost.then(env::current_dir).and_then(Result::ok);
    let mut folders: Vec<PathBuf> = fixed.into_iter().chain(named).chain(current).collect();
    folders.sort();
    // What is below another is searched with it.
    folders.dedup_by(|below, above| below.starts_with(above.as_path()));
    let mut entries = SEARCHED;
    for folder in folders.iter().filter(|folder| folder.parent().is_some()) {
        if !search(folder, &mut entries, found) {
            eprintln!(
                "closedbook: {} holds too many files to look for sockets in all of them; one that was bound by a \
                 relative path may be visible to the command",
                folder.display()
            );
            return;
        }
    }
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
