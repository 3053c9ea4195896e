//! The cgroup by which a filter lets its own proxy pass: rules match the cgroup that a socket was made in.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::WayOut;
use crate::helper::{Environment, Helper, Step};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::surroundings::mounts;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::series::Series;

/// Folders that are looked at, and cgroups that are joined.
const MOST_FOLDERS: usize = 400;
const MOST_JOINED: usize = 8;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-cgroup-move",
    group: Group::Priv,
    leak: "a process that moves itself into the cgroup that is exempted, where the cgroup file system can be written",
    how: "each cgroup.procs is opened for writing; where that works, a child joins it and tries a request and a datagram",
    expected: "none can be written, or nothing is let out of it",
    sources: &["https://github.com/libcgroup/libcgroup/issues/432", "cgroups(7)"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let way = WayOut::of(trial.targets());
    trial.attempt(Attempt::new("from another cgroup", way.web, Want::Absent, |nonce| match look() {
        Err(error) => Seen::failed(format!("what is mounted can't be read: {error}")),
        Ok(Found { writable, refused }) if writable.is_empty() => {
            refused.map_or(Seen::NotFound, |error| Seen::of_error("open(cgroup.procs)", &error))
        }
        Ok(found) => from_each(&found.writable, &way, nonce),
    }));
}

struct Found {
    writable: Vec<PathBuf>,
    refused: Option<io::Error>,
}

/// Walks the cgroup file systems, breadth first.
fn look() -> io::Result<Found> {
    let mounted = mounts::mounts()?.into_iter().filter(|mount| mount.kind.starts_with("cgroup"));
    let mut found = Found { writable: Vec::new(), refused: None };
    let mut folders: std::collections::VecDeque<PathBuf> = mounted.map(|mount| mount.point).collect();
    let mut looked = 0;
    while let Some(folder) = folders.pop_front().filter(|_| looked < MOST_FOLDERS) {
        looked += 1;
        match OpenOptions::new().write(true).open(folder.join("cgroup.procs")) {
            Ok(_) => found.writable.push(folder.clone()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => found.refused = Some(error),
        }
        let below = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(
            below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()),
        );
    }
    Ok(found)
}

fn from_each(folders: &[PathBuf], way: &WayOut, nonce: &Nonce) -> Seen {
    let mut series = Series::new();
    for folder in folders.iter().take(MOST_JOINED) {
        if !series.go_on(|| from_one(folder, way, nonce).led_nowhere()) {
            break;
        }
    }
    series.seen()
}

/// A child joins it, so that this process stays where it is.
fn from_one(folder: &Path, way: &WayOut, nonce: &Nonce) -> Seen {
    let attempt = || -> Result<Seen, Seen> {
        let mut helper = Helper::start(Environment::Same)?;
        match helper.enter(&Step::JoinCgroup(folder.to_owned())) {
            Ok(()) => {}
            // Opened, and not to be joined: of another kind (EOPNOTSUPP), or one that has children (EBUSY).
            Err(Seen::Failed { .. } | Seen::Unsupported { .. }) => return Ok(Seen::NotFound),
            Err(seen) => return Err(seen),
        }
        let mut series = Series::new();
        if series.go_on(|| helper.attempt(&Step::Ask(way.web, way.name.clone(), nonce.clone()))) {
            series.go_on(|| helper.attempt(&Step::Send(way.datagram, nonce.clone())));
        }
        Ok(series.seen())
    };
    attempt().unwrap_or_else(|seen| seen)
}
