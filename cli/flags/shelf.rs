//! The files of a log: the one in force, and those that were put aside.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, RenameFlags, open, openat, renameat, renameat2};
use nix::libc;
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::exit::Failure;

/// Where a log lies, and how much of it is kept.
#[derive(Debug)]
pub(crate) struct Shelf {
    folder: OwnedFd,
    name: OsString,
    file: File,
    most: u64,
    keep: u32,
}

/// A shelf with all the files that it will ever hold. They change names with each other and no other ever gets one of these
/// names: what covers a file in the command's view of the mounts goes with its name, and a new file would have no cover.
pub(super) struct Filled {
    shelf: Shelf,
    /// The file in force, and those that were put aside, the newest first. Kept open, so that they can't be mistaken for
    /// others.
    files: Vec<File>,
}

impl Shelf {
    /// The place of this file, which is open.
    pub(super) fn at(path: &Path, file: &File, most: u64, keep: u32) -> Result<Self, Failure> {
        let cannot = |why: &dyn std::fmt::Display| {
            Failure::usage(format!("--log-max: {} can't be put aside: {why}", path.display()))
        };
        if !file.metadata().map_err(|error| cannot(&error))?.is_file() {
            return Err(cannot(&"it is not a regular file"));
        }
        // Links are followed once, now.
        let path = path.canonicalize().map_err(|error| cannot(&error))?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(cannot(&"it is not in a folder"));
        };
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let folder = open(folder, flags, Mode::empty()).map_err(|error| cannot(&error))?;
        let file = file.try_clone().map_err(|error| cannot(&error))?;
        Ok(Self { folder, name: name.to_owned(), file, most, keep })
    }

    /// The names that files which were put aside have: those that the command must not reach either.
    pub(super) fn names_aside(&self) -> impl Iterator<Item = OsString> {
        (1..=self.keep).map(|number| self.named(number))
    }

    /// What must stay open to [fill](Shelf::fill) it.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.folder.as_fd(), self.file.as_fd()]
    }

    /// Makes the files that are not there yet.
    pub(super) fn fill(self) -> io::Result<Filled> {
        let aside = (1..=self.keep).map(|number| self.make(number));
        match std::iter::once(self.file.try_clone()).chain(aside).collect() {
            Ok(files) => Ok(Filled { shelf: self, files }),
            Err(error) => {
                self.tidy();
                Err(error)
            }
        }
    }

    fn make(&self, number: u32) -> io::Result<File> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_CLOEXEC;
        let name = self.named(number);
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
        let cannot =
            |why: &dyn std::fmt::Display| io::Error::other(format!("{}: {why}", name.to_string_lossy()));
        let file = openat(&self.folder, name.as_os_str(), flags, Mode::from_bits_truncate(0o600));
        let file = File::from(file.map_err(|error| cannot(&error))?);
        let meta = file.metadata().map_err(|error| cannot(&error))?;
        match meta.is_file() && meta.nlink() == 1 {
            true => Ok(file),
            false => Err(cannot(&"it is not a regular file of one name")),
        }
    }

    fn tidy(&self) {
        for name in self.names_aside() {
            let empty = fstatat(&self.folder, name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| stat.st_size == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFREG);
            if empty {
                // One that stays is empty.
                let _ = unlinkat(&self.folder, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
            }
        }
    }

    /// Of the file in force, at 0, and of those that were put aside.
    fn named(&self, number: u32) -> OsString {
        let mut name = self.name.clone();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        name
    }

    /// Lets two files change their names.
    fn swap(&self, one: u32, other: u32) -> Result<(), Errno> {
        let (one, other) = (self.named(one), self.named(other));
        let exchange = RenameFlags::RENAME_EXCHANGE;
        match renameat2(&self.folder, one.as_os_str(), &self.folder, other.as_os_str(), exchange) {
            // Not every file system can.
            Err(Errno::EINVAL | Errno::ENOSYS | Errno::EOPNOTSUPP) => self.swap_by_turns(&one, &other),
            done => done,
        }
    }

    /// The same where it takes several steps. Each goes to a name that is free, or taken by somebody who has no business
    /// there.
    fn swap_by_turns(&self, one: &OsString, other: &OsString) -> Result<(), Errno> {
        let mut spare = OsString::from(".");
        spare.push(&self.name);
        spare.push(".closedbook");
        let rename = |from: &OsString, to: &OsString| {
            renameat(&self.folder, from.as_os_str(), &self.folder, to.as_os_str())
        };
        rename(one, &spare)?;
        rename(other, one)?;
        rename(&spare, other)
    }
}

impl Filled {
    /// Removes the files that nothing was ever put into.
    pub(super) fn tidy(&self) {
        self.shelf.tidy();
    }

    /// The file in force.
    pub(super) fn current(&self) -> io::Result<File> {
        self.files.first().ok_or(io::ErrorKind::NotFound)?.try_clone()
    }

    /// Puts the file aside and gives the next one, unless it has not grown: who asks too often would else have the whole
    /// shelf emptied.
    pub(super) fn next(&mut self) -> io::Result<File> {
        let current = self.current()?;
        if current.metadata()?.len() < self.shelf.most / 2 {
            return Ok(current);
        }
        // The first that holds nothing, or else the oldest, which nobody wants to be kept.
        let mut spare = 0;
        for (number, file) in (0..).zip(&self.files) {
            self.must_be_named(file, number)?;
            spare = number;
            if number > 0 && file.metadata()?.len() == 0 {
                break;
            }
        }
        self.files.get(spare as usize).map_or(Ok(()), |file| file.set_len(0))?;
        for number in (0..spare).rev() {
            self.shelf.swap(number + 1, number)?;
            self.files.swap(number as usize + 1, number as usize);
        }
        self.current()
    }

    /// Somebody outside may have moved or removed it: what has its name now may be anybody's, and is not covered.
    fn must_be_named(&self, file: &File, number: u32) -> io::Result<()> {
        let name = self.shelf.named(number);
        let (meta, found) =
            (file.metadata()?, fstatat(&self.shelf.folder, name.as_os_str(), AtFlags::AT_SYMLINK_NOFOLLOW));
        match found {
            Ok(found) if (found.st_dev, found.st_ino) == (meta.dev(), meta.ino()) => Ok(()),
            _ => Err(io::Error::other(format!("{} is not the file it was", name.to_string_lossy()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The same by renames alone, where file systems can do no more.
    #[test]
    fn names_change_by_turns_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, "active").unwrap();
        std::fs::write(folder.path().join("log.1"), "aside").unwrap();
        let shelf = Shelf::at(&path, &File::open(&path).unwrap(), 4096, 1).unwrap();
        shelf.swap_by_turns(&shelf.named(1), &shelf.named(0)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"aside");
        assert_eq!(std::fs::read(folder.path().join("log.1")).unwrap(), b"active");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    /// A file that somebody else has put in the place of another is not taken for it; the log grows on. And none that others
    /// may have open by another name is taken at the start; those that were made for nothing go.
    #[test]
    fn strange_files_are_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let aside = |number: u32| folder.path().join(format!("log.{number}"));
        let shelf = || {
            let file = File::options().append(true).create(true).open(&path).unwrap();
            Shelf::at(&path, &file, 4096, 3).unwrap()
        };
        let mut filled = shelf().fill().unwrap();
        filled.current().unwrap().write_all(&[1; 3000]).unwrap();
        std::fs::remove_file(aside(1)).unwrap();
        assert!(filled.next().is_err());
        std::fs::write(aside(1), "").unwrap();
        assert!(filled.next().is_err());
        assert_eq!(filled.current().unwrap().metadata().unwrap().len(), 3000);
        filled.shelf.tidy();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

        std::fs::hard_link(&path, aside(3)).unwrap();
        assert!(shelf().fill().is_err());
        std::fs::remove_file(aside(3)).unwrap();
        std::os::unix::fs::symlink(&path, aside(2)).unwrap();
        assert!(shelf().fill().is_err());
        assert!(!aside(1).exists() && !aside(3).exists());
        assert_eq!(std::fs::read(&path).unwrap(), [1; 3000]);
    }
}
