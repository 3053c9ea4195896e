//! The files of an agent, below a folder that nothing leads out of.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use closedbook_audit::Malformed;
use closedbook_audit::config::{Content, Files};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, open, openat2};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat};

use crate::exit::Failure;

/// Larger files are not read; no settings come near.
const LARGEST: u64 = 1 << 20;

/// More names than any folder of settings has.
const MOST_NAMES: usize = 10_000;

/// A folder that stands for a file system's root. The kernel keeps symbolic links and `..` inside.
pub(super) struct Folder {
    root: OwnedFd,
    /// Folders that can't be listed: what they hold is unknown.
    faults: RefCell<Vec<Malformed>>,
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let root = open(path, flags, Mode::empty())
            .map_err(|error| Failure::usage(format!("can't open --root {}: {error}", path.display())))?;
        let folder = Self { root, faults: RefCell::default() };
        // Without the system call nothing could be read safely, and a report of nothing must not look like one.
        if let Err(error) = folder.path("/") {
            return Err(Failure::host(format!("can't resolve paths inside --root: openat2: {error}")));
        }
        Ok(folder)
    }

    /// The faults since the last time.
    pub(super) fn take_faults(&self) -> Vec<Malformed> {
        let mut faults = self.faults.take();
        faults.dedup();
        faults
    }

    /// What stands at a path, not opened: opening a device or a pipe does something.
    fn path(&self, path: &str) -> Result<OwnedFd, Errno> {
        self.resolve(path, OFlag::O_PATH)
    }

    fn resolve(&self, path: &str, flags: OFlag) -> Result<OwnedFd, Errno> {
        let how = OpenHow::new()
            .flags(flags | OFlag::O_CLOEXEC)
            .resolve(ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS);
        openat2(self.root.as_fd(), path, how)
    }

    fn names(&self, folder: &str) -> Result<Vec<String>, Errno> {
        let fd = self.resolve(folder, OFlag::O_RDONLY | OFlag::O_DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::from_fd(fd)?.iter() {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
            if names.len() > MOST_NAMES {
                return Err(Errno::EFBIG);
            }
        }
        names.sort();
        Ok(names)
    }
}

impl Files for Folder {
    fn read(&self, path: &str) -> Content {
        match self.path(path) {
            Ok(fd) => contents(&fd),
            Err(error) if is_absent(error) => Content::Absent,
            Err(error) => Content::Unreadable(error.desc().to_owned()),
        }
    }

    fn list(&self, folder: &str) -> Vec<String> {
        match self.names(folder) {
            Ok(names) => names,
            Err(error) => {
                if !is_absent(error) {
                    let reason = match error {
                        Errno::EFBIG => format!("it has more than {MOST_NAMES} names"),
                        error => format!("can't be listed: {}", error.desc()),
                    };
                    self.faults.borrow_mut().push(Malformed::whole(folder, reason));
                }
                Vec::new()
            }
        }
    }

    fn is_protected(&self, path: &str) -> Option<bool> {
        // A tree that was unpacked by someone else has that one's owners, not the container's.
        if fstat(&self.root).ok()?.st_uid != 0 {
            return None;
        }
        let mut path = path.trim_end_matches('/');
        loop {
            let fd = self.path(if path.is_empty() { "/" } else { path }).ok()?;
            let stat = fstat(&fd).ok()?;
            let is_others = stat.st_uid != 0 || stat.st_mode & 0o022 != 0;
            if is_others {
                return Some(false);
            }
            match path.rfind('/') {
                Some(at) => path = path.get(..at)?,
                None => return Some(true),
            }
        }
    }
}

fn contents(fd: &OwnedFd) -> Content {
    let unreadable = |error: &dyn std::fmt::Display| Content::Unreadable(error.to_string());
    let stat = match fstat(fd) {
        Ok(stat) => stat,
        Err(error) => return unreadable(&error.desc()),
    };
    match kind(&stat) {
        SFlag::S_IFREG => {}
        // A folder in a file's place holds nothing that a CLI could read.
        SFlag::S_IFDIR => return Content::Absent,
        _ => return Content::Unreadable("it is no regular file".to_owned()),
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > LARGEST {
        return Content::Unreadable(format!("it has {size} bytes; the limit is {LARGEST}"));
    }
    match bytes(fd) {
        Ok(bytes) if bytes.len() as u64 > LARGEST => {
            Content::Unreadable(format!("it has more than {LARGEST} bytes"))
        }
        Ok(bytes) => Content::Bytes(bytes),
        Err(error) => unreadable(&error),
    }
}

/// Opens what the descriptor stands for, and nothing else that could have come in its place.
fn bytes(fd: &OwnedFd) -> io::Result<Vec<u8>> {
    let file = File::open(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn kind(stat: &FileStat) -> SFlag {
    SFlag::from_bits_truncate(stat.st_mode) & SFlag::S_IFMT
}

fn is_absent(error: Errno) -> bool {
    matches!(error, Errno::ENOENT | Errno::ENOTDIR)
}

#[cfg(test)]
mod tests;
