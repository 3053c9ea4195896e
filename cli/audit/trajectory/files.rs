//! Finds and reads transcripts.

use std::fs::{self};
use std::io;
use std::path::{Path, PathBuf};

use closedbook_audit::Malformed;
use closedbook_audit::trajectory::{LARGEST, Log, Transcript};

use crate::input;

/// Folders in folders are searched so far.
const DEEPEST: usize = 32;

/// So many files of one folder are looked at.
const MOST: usize = 10_000;

/// A file that is, or may be, a transcript.
pub(super) struct Source {
    pub(super) name: String,
    path: PathBuf,
    /// The folder that was searched, if it was not named itself.
    pub(super) folder: Option<String>,
}

impl Source {
    pub(super) fn bytes(&self) -> Result<Vec<u8>, Malformed> {
        input::bytes(&self.path, LARGEST as u64 + 1).map_err(|error| unreadable(&self.name, &error))
    }

    /// What SQLite has not copied into its file yet.
    pub(super) fn wal(&self) -> Result<Option<Vec<u8>>, Malformed> {
        let beside = |ending: &str| PathBuf::from(format!("{}{ending}", self.path.display()));
        if !is_database(&self.path) {
            return Ok(None);
        }
        if fs::metadata(beside("-journal")).is_ok_and(|journal| journal.len() > 0) {
            return Err(Malformed::whole(
                &self.name,
                "a rollback journal stands beside it: the program that wrote it was killed within a change",
            ));
        }
        match input::bytes(&beside("-wal"), LARGEST as u64 + 1) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&format!("{}-wal", self.name), &error)),
        }
    }

    pub(super) fn is_called_trajectory(&self) -> bool {
        self.path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("trajectory"))
    }

    /// Whether a file of a folder is meant to be a transcript, although it can't be told which.
    pub(super) fn must_be_one(&self, transcript: &Transcript) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let named =
            ["trajectory", "session-", "rollout-", "transcript"].iter().any(|start| name.starts_with(start))
                || matches!(name.as_str(), "opencode.db" | "events.jsonl" | "wire.jsonl" | "updates.jsonl");
        // A place in a file of lines means that a line could not be read: the first ones may have been the transcript's.
        let torn = name.ends_with(".jsonl") && transcript.malformed.iter().any(|fault| fault.place.is_some());
        named || torn
    }
}

/// The file, or what a folder holds that may be a transcript.
pub(super) fn collect(path: &Path, sources: &mut Vec<Source>, malformed: &mut Vec<Malformed>) {
    let name = if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() };
    if path.as_os_str() == "-" || !path.is_dir() {
        sources.push(Source { name, path: path.to_owned(), folder: None });
        return;
    }
    let before = sources.len();
    let mut budget = MOST;
    folder(path, &name, DEEPEST, &mut budget, sources, malformed);
    if budget == 0 {
        malformed.push(Malformed::whole(&name, format!("more than {MOST} files are in this folder")));
    }
    if sources.len() == before {
        malformed.push(Malformed::whole(&name, "no transcript in this folder"));
    }
}

fn folder(
    path: &Path,
    searched: &str,
    depth: usize,
    budget: &mut usize,
    sources: &mut Vec<Source>,
    malformed: &mut Vec<Malformed>,
) {
    let entries = match fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(error) => return malformed.push(unreadable(&path.display().to_string(), &error)),
    };
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        // A link may lead out of the folder, or in a circle.
        let Ok(kind) = fs::symlink_metadata(&path) else { continue };
        if kind.is_dir() {
            if depth == 0 {
                malformed.push(Malformed::whole(path.display().to_string(), "too many folders in folders"));
            } else {
                folder(&path, searched, depth - 1, budget, sources, malformed);
            }
        } else if kind.is_file() && may_be_one(&path) {
            let Some(left) = budget.checked_sub(1) else { return };
            *budget = left;
            sources.push(Source {
                name: path.display().to_string(),
                path,
                folder: Some(searched.to_owned()),
            });
        }
    }
}

fn may_be_one(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    matches!(ending.as_str(), "json" | "jsonl" | "ndjson" | "db" | "sqlite")
}

fn is_database(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    matches!(ending.as_str(), "db" | "sqlite" | "sqlite3")
}

/// The decision log.
pub(super) fn log(path: &Path) -> (Option<Log>, Vec<Malformed>) {
    let name = path.display().to_string();
    match input::bytes(path, LARGEST as u64 + 1) {
        Ok(bytes) if bytes.len() > LARGEST => {
            (None, vec![Malformed::whole(&name, "the log is larger than 256 MiB")])
        }
        Ok(bytes) => {
            let (log, faults) = Log::read(&name, &bytes);
            (Some(log), faults)
        }
        Err(error) => (None, vec![unreadable(&name, &error)]),
    }
}

fn unreadable(name: &str, error: &io::Error) -> Malformed {
    Malformed::whole(name, format!("can't be read: {error}"))
}
