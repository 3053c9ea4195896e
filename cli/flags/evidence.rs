//! Files that tell what a command did. The command is often the same user, so they are covered in its view of the mounts;
//! and at the end it is looked whether the folders above them are where they were.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::sys::stat::fstat;

use crate::exit::Failure;

/// A regular file that was opened to be written to, and where it lay then.
#[derive(Debug)]
pub(crate) struct Evidence {
    flag: &'static str,
    /// As it was named, found from whatever folder the run ends in.
    path: PathBuf,
    /// Without links.
    real: PathBuf,
}

impl Evidence {
    /// None for what is no file in a folder (a pipe, a device), and for what the command has open anyway, as a standard
    /// stream.
    pub(crate) fn of(flag: &'static str, path: &Path, file: &File) -> Result<Option<Self>, Failure> {
        let cannot = |why: &dyn std::fmt::Display| {
            Failure::usage(format!("{flag} {}: it can't be kept from the command: {why}", path.display()))
        };
        let meta = file.metadata().map_err(|error| cannot(&error))?;
        if !meta.is_file() || meta.nlink() == 0 || is_standard_stream(&meta) {
            return Ok(None);
        }
        if meta.nlink() > 1 {
            return Err(cannot(&"it has other names (hard links)").remedy("name a new file"));
        }
        let path = std::path::absolute(path).map_err(|error| cannot(&error))?;
        let real = path.canonicalize().map_err(|error| cannot(&error))?;
        Ok(Some(Self { flag, path, real }))
    }

    /// Where it lies.
    pub(crate) fn place(&self) -> &Path {
        &self.real
    }

    /// Whether its path still leads to this file, which is the one that was written.
    pub(crate) fn verify(&self, written: &File) -> Result<(), Failure> {
        let (flag, path) = (self.flag, self.path.display());
        let lost = |what: String| {
            Failure::refused(format!(
                "{flag}: {what}. The command can have moved a folder of that path, or put another in its place. What this \
                 run wrote is {}",
                whereabouts(written)
            ))
            .remedy("keep it where the command can't rename any folder of the path, or let the command be another user")
        };
        let wrote = written.metadata().map_err(|error| lost(error.to_string()))?;
        match fs::metadata(&self.path) {
            Ok(found) if same(&found, &wrote) => Ok(()),
            Ok(_) => Err(lost(format!("{path} is not the file that this run wrote"))),
            Err(error) => Err(lost(format!("{path} is not there: {error}"))),
        }
    }
}

/// The kernel knows the names of what is open.
fn whereabouts(file: &File) -> String {
    let name = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    match name.map(|name| name.display().to_string()) {
        Ok(name) if name.ends_with(" (deleted)") => "deleted".to_owned(),
        Ok(name) => format!("at {name}"),
        Err(error) => format!("at a place that can't be found: {error}"),
    }
}

fn is_standard_stream(file: &Metadata) -> bool {
    let streams = [fstat(io::stdin()), fstat(io::stdout()), fstat(io::stderr())];
    streams.into_iter().flatten().any(|stream| (stream.st_dev, stream.st_ino) == (file.dev(), file.ino()))
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}
