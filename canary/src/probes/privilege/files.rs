//! Files by which a sidecar is configured, in a folder that the task shares with it.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::surroundings::mounts;
use crate::trial::{Attempt, Trial, Want};

/// Lists and configurations that known filters read, some of them again and again: by name, wherever they are.
const CONFIGURATIONS: [&str; 14] = [
    "allowed-domains.txt",
    "allowed_domains.txt",
    "allowed-hosts.txt",
    "allowlist",
    "allowlist.conf",
    "allowlist.txt",
    "egress-allowlist",
    "envoy.yaml",
    "gost.yaml",
    "redsocks.conf",
    "sniproxy.conf",
    "squid.conf",
    "tinyproxy.conf",
    "whitelist.txt",
];
/// Keys that certificates of an opening proxy are signed with.
const KEYS: [&str; 5] =
    ["ca-key.pem", "mitmproxy-ca.pem", "mitmproxy-ca.p12", "rootCA-key.pem", "squid-ca-key.pem"];
/// Folders of the image itself at which a volume may be mounted; what is in them is looked at if it comes from elsewhere.
const FOLDERS: [&str; 8] =
    ["/etc", "/etc/gost", "/etc/squid", "/etc/envoy", "/run", "/shared", "/config", "/data"];
/// Folders that are looked through in all.
const MOST: usize = 400;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-sidecar-files",
    group: Group::Priv,
    leak: "the list of allowed hosts, or a proxy's signing key, in a file that the task can reach",
    how: "files of known names, on volumes alone: configurations are opened for writing, keys for reading; nothing is written",
    expected: "none is there, or none may be opened",
    sources: &["https://github.com/navikt/cplt/issues/426"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run,
}];

fn run(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("a filter's configuration", "volumes", Want::Absent, |_| {
        // The name of this thread is a file of its own, on a file system of its own: one that can be written for sure.
        match can_write(Path::new("/proc/thread-self/comm")) {
            Seen::Found { .. } => anywhere(&CONFIGURATIONS, can_write),
            other => Seen::failed(format!("what can be written is not told: {other}")),
        }
    }));
    trial.attempt(Attempt::new("a proxy's signing key", "volumes", Want::Absent, |_| {
        match can_read(Path::new("/proc/self/stat")) {
            Seen::Found { .. } => anywhere(&KEYS, can_read),
            other => Seen::failed(format!("what can be read is not told: {other}")),
        }
    }));
}

/// Files of these names on volumes, two folders deep.
fn anywhere(names: &[&str], look: fn(&Path) -> Seen) -> Seen {
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(PathBuf::from).collect();
    match mounts::volumes() {
        Ok(volumes) => folders.extend(volumes.into_iter().flat_map(|volume| {
            let below = fs::read_dir(&volume).into_iter().flatten().flatten();
            let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            below.map(|entry| entry.path()).chain([volume.clone()]).collect::<Vec<_>>()
        })),
        Err(error) => return Seen::failed(format!("what is mounted can't be read: {error}")),
    }
    let files = folders.iter().take(MOST).flat_map(|folder| names.iter().map(|name| folder.join(name)));
    first(files.map(|file| look(&file)))
}

/// The first that is found, or else the first that is there and may not be opened.
fn first(all: impl Iterator<Item = Seen>) -> Seen {
    let mut refused = Seen::NotFound;
    for seen in all {
        match seen {
            Seen::Found { .. } => return seen,
            Seen::NotFound => {}
            other => refused = other,
        }
    }
    refused
}

fn can_write(file: &Path) -> Seen {
    opened(file, OpenOptions::new().append(true).open(file), "can be written")
}

fn can_read(file: &Path) -> Seen {
    opened(file, fs::File::open(file), "can be read")
}

fn opened(file: &Path, opened: std::io::Result<fs::File>, what: &str) -> Seen {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match opened {
        Ok(opened) if is_elsewhere(&opened) => Seen::found(format!("{} {what}", file.display())),
        // The image's own: a program that it has, and nobody else's configuration.
        Ok(_) => Seen::NotFound,
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Seen::NotFound,
        Err(error) => Seen::of_error("open", &error),
    }
}

/// Whether it is on another file system than the root.
fn is_elsewhere(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::metadata("/")) {
        (Ok(file), Ok(root)) => file.dev() != root.dev(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart() {
        assert_eq!(can_read(Path::new("/nonexistent/file")), Seen::NotFound);
        assert!(matches!(can_read(Path::new("/proc/self/stat")), Seen::Found { .. }));
        assert_eq!(can_read(&std::env::current_exe().unwrap()), own_file_system());
        assert!(matches!(can_write(Path::new("/proc/thread-self/comm")), Seen::Found { .. }));
    }

    /// Where tests are built may be a volume.
    fn own_file_system() -> Seen {
        let file = std::env::current_exe().unwrap();
        match is_elsewhere(&fs::File::open(&file).unwrap()) {
            true => Seen::found(format!("{} can be read", file.display())),
            false => Seen::NotFound,
        }
    }

    #[test]
    fn what_is_found_counts_before_what_is_refused() {
        let denied = Seen::Denied { call: "open".into(), errno: "EACCES".into() };
        assert_eq!(first([denied.clone(), Seen::NotFound].into_iter()), denied);
        assert_eq!(first([denied, Seen::found("x")].into_iter()), Seen::found("x"));
    }
}
