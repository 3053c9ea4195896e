//! The directory of a lab, while it runs: `$XDG_RUNTIME_DIR/closedbook/lab-NAME`, or `/tmp/closedbook-UID/lab-NAME`.
//!
//! | file | what it is |
//! |---|---|
//! | `owner` | the pid of the lab's first process, which holds a lock on the file as long as it lives |
//! | `ca.pem` | the certificate to trust |
//! | `wgetrc` | the same for wget |
//! | `witness.jsonl` | everything that arrived |
//! | `control` | the socket of [`crate::Control`] |
//! | `resolv.conf`, `hosts`, `nsswitch.conf` | what commands in the lab see in /etc |
//!
//! A lock, unlike a pid, can't outlive its process or be taken for another's: a directory whose `owner` can be locked
//! is a dead lab's, and goes.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{Pid, geteuid};

use super::LabName;
use crate::LabError;

/// Attempts to take a name from dead labs while others do the same.
const ATTEMPTS: usize = 8;

/// A lab's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    directory: PathBuf,
}

impl Place {
    /// The directory of a lab that runs, and the pid of its first process.
    pub fn find(name: &LabName) -> Result<(Self, Pid), LabError> {
        let base = location();
        let place = Self { directory: base.join(name.directory()) };
        let absent = || LabError::Absent(name.to_string());
        // Looking leaves no trace: no base, no lab.
        if !base.exists() {
            return Err(absent());
        }
        check(&base)?;
        if place.is_dead()? {
            return Err(absent());
        }
        let text = fs::read_to_string(place.owner()).map_err(|_| absent())?;
        let pid = text.trim().parse().map_err(|_| absent())?;
        Ok((place, Pid::from_raw(pid)))
    }

    /// A directory under a name that nobody looks for, which is still to be made. Clears away what dead labs left.
    pub(super) fn choose() -> Result<Self, LabError> {
        let base = location();
        match make_base(&base).and_then(|()| sweep(&base)) {
            // Another lab ended in this moment and took the empty base with it; `make` makes it again.
            Err(error) if is_gone(&error) => {}
            done => done?,
        }
        Ok(Self { directory: base.join(format!(".new-{}", crate::fresh_nonce())) })
    }

    /// Makes it, and marks the lab alive for as long as the value lives. Left to the lab's own process: made by its
    /// parent, it would stay if that were killed before there is anybody else to remove it.
    pub(super) fn make(&self) -> Result<Flock<File>, LabError> {
        self.make_directory()?;
        let path = self.write("owner", "")?;
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|source| LabError::File { action: "open", path: path.clone(), source })?;
        Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| LabError::File {
            action: "lock",
            path,
            source: error.into(),
        })
    }

    fn make_directory(&self) -> Result<(), LabError> {
        let mut left = ATTEMPTS;
        loop {
            left -= 1;
            match make_directory(&self.directory) {
                Err(error) if is_gone(&error) && left > 0 => make_base(&location())?,
                done => return done,
            }
        }
    }

    /// Takes the name. Fails if a living lab has it.
    pub(super) fn publish(self, name: &LabName, first_process: Pid) -> Result<Self, LabError> {
        self.write("owner", &format!("{first_process}\n"))?;
        let directory = self.directory.with_file_name(name.directory());
        for _ in 0..ATTEMPTS {
            // Renaming a directory succeeds onto nothing and onto an empty one only.
            match fs::rename(&self.directory, &directory) {
                Ok(()) => return Ok(Self { directory }),
                Err(error) if is_taken(&error) => {}
                Err(source) => return Err(LabError::File { action: "create", path: directory, source }),
            }
            let other = Self { directory: directory.clone() };
            if !other.is_dead()? {
                return Err(LabError::Running(name.to_string()));
            }
            other.remove();
        }
        Err(LabError::Running(name.to_string()))
    }

    /// The same place under its published name.
    pub(super) fn renamed(&self, name: &LabName) -> Self {
        Self { directory: self.directory.with_file_name(name.directory()) }
    }

    /// The certificate to trust, PEM.
    pub fn ca(&self) -> PathBuf {
        self.directory.join("ca.pem")
    }

    /// What arrived, JSON lines.
    pub fn log(&self) -> PathBuf {
        self.directory.join("witness.jsonl")
    }

    /// The control socket.
    pub fn control(&self) -> PathBuf {
        self.directory.join("control")
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Result<PathBuf, LabError> {
        let path = self.directory.join(name);
        match fs::write(&path, text) {
            Ok(()) => Ok(path),
            Err(source) => Err(LabError::File { action: "write", path, source }),
        }
    }

    /// Removes it and all that is in it, and the last lab's removes the base. Best effort: what can't be removed now is
    /// swept by the next lab.
    pub(super) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.directory);
        // Fails, as it should, while other labs are there.
        let _ = self.directory.parent().map(fs::remove_dir);
    }

    /// Whether this is the directory that was locked, under whatever name.
    pub(super) fn is_held_by(&self, lock: &Flock<File>) -> bool {
        match (fs::metadata(self.owner()), lock.metadata()) {
            (Ok(there), Ok(held)) => (there.dev(), there.ino()) == (held.dev(), held.ino()),
            _ => false,
        }
    }

    fn owner(&self) -> PathBuf {
        self.directory.join("owner")
    }

    /// Nobody holds the lock, or there is nothing there.
    fn is_dead(&self) -> Result<bool, LabError> {
        let path = self.owner();
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(source) => return Err(LabError::File { action: "open", path, source }),
        };
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Ok(_) => Ok(true),
            Err((_, Errno::EWOULDBLOCK)) => Ok(false),
            Err((_, error)) => Err(LabError::File { action: "lock", path, source: error.into() }),
        }
    }
}

/// The directory that holds all labs of this user.
fn location() -> PathBuf {
    let own = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw())
    };
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match runtime.filter(|path| path.is_absolute() && own(path)) {
        Some(runtime) => runtime.join("closedbook"),
        // The variable is not set, or is another user's (su, sudo).
        None => PathBuf::from(format!("/tmp/closedbook-{}", geteuid())),
    }
}

/// In /tmp somebody else may have made it first, to read our keys or to give us theirs.
fn check(base: &Path) -> Result<(), LabError> {
    let meta = fs::symlink_metadata(base).map_err(|source| LabError::File {
        action: "read",
        path: base.to_owned(),
        source,
    })?;
    if !meta.is_dir() || meta.uid() != geteuid().as_raw() || meta.mode() & 0o077 != 0 {
        return Err(LabError::Exposed(base.to_owned()));
    }
    Ok(())
}

fn make_base(base: &Path) -> Result<(), LabError> {
    match make_directory(base) {
        Err(LabError::File { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => check(base),
        done => done,
    }
}

fn is_gone(error: &LabError) -> bool {
    matches!(error, LabError::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

fn sweep(base: &Path) -> Result<(), LabError> {
    let entries = fs::read_dir(base).map_err(|source| LabError::File {
        action: "read",
        path: base.to_owned(),
        source,
    })?;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let place = Place { directory: entry.path() };
        // A directory that is being prepared has no lock for a moment; its age tells it from a dead one.
        let ours = name.starts_with("lab-") || (name.starts_with(".new-") && is_old(&entry));
        if ours && place.is_dead()? {
            place.remove();
        }
    }
    Ok(())
}

fn is_old(entry: &fs::DirEntry) -> bool {
    const PREPARED_WITHIN: std::time::Duration = std::time::Duration::from_secs(60);
    let modified = entry.metadata().and_then(|meta| meta.modified()).ok();
    modified.and_then(|then| then.elapsed().ok()).is_some_and(|age| age > PREPARED_WITHIN)
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.raw_os_error().map(Errno::from_raw), Some(Errno::ENOTEMPTY | Errno::EEXIST))
}

fn make_directory(path: &Path) -> Result<(), LabError> {
    DirBuilder::new().mode(0o700).create(path).map_err(|source| LabError::File {
        action: "create",
        path: path.to_owned(),
        source,
    })
}
