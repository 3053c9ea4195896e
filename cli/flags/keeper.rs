//! The process that puts a log aside. The proxy, which writes the log, may neither open nor rename files; this process
//! may, and reads nothing but single octets from the proxy.
//!
//! What the proxy may ask for does little harm if it is not itself any more: the file in force, or the next one if this
//! one has grown. Each proxy has a line of its own, so that none hears an answer to another that has died.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

use closedbook_kernel::fork::{Child, fork_into};
use closedbook_kernel::{descriptors, privileges};
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, RenameFlags, open, openat, renameat, renameat2};
use nix::libc;
use nix::sched::CloneFlags;
use nix::sys::stat::{Mode, fstatat};
use nix::unistd::{Pid, UnlinkatFlags, setpgid, unlinkat};

use crate::exit::{Failure, chain};

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
struct Filled {
    shelf: Shelf,
    /// The file in force, and those that were put aside, the newest first. Kept open, so that they can't be mistaken for
    /// others.
    files: Vec<File>,
}

/// The process, ended with this value.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    /// Where it is told of lines.
    lines: UnixStream,
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

    /// Makes the files that are not there yet.
    fn fill(self) -> io::Result<Filled> {
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

    /// Removes the files that nothing was ever put into.
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
    /// The file in force.
    fn current(&self) -> io::Result<File> {
        self.files.first().ok_or(io::ErrorKind::NotFound)?.try_clone()
    }

    /// Puts the file aside and gives the next one, unless it has not grown: who asks too often would else have the whole
    /// shelf emptied.
    fn next(&mut self) -> io::Result<File> {
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

impl Keeper {
    /// Asks for the file in force.
    pub(super) const CURRENT: u8 = b'c';
    /// Asks for the next one.
    pub(super) const NEXT: u8 = b'n';
    /// Its first word: all files are there. Or else it says why not.
    const READY: u8 = b'r';

    /// Starts it, as the user who asked for the log. This process must have one thread.
    pub(super) fn start(shelf: Shelf) -> Result<Self, Failure> {
        let cannot = |error: &dyn std::error::Error| {
            Failure::bug(format!("can't start the process that puts the log aside: {}", chain(error)))
        };
        let (mut lines, theirs) = UnixStream::pair().map_err(|error| cannot(&error))?;
        let child =
            fork_into(CloneFlags::empty(), || serve(shelf, &theirs)).map_err(|error| cannot(&error))?;
        drop(theirs);
        let mut word = [0];
        lines.read_exact(&mut word).map_err(|error| cannot(&error))?;
        let keeper = Self { child, lines };
        if word == [Self::READY] {
            return Ok(keeper);
        }
        let mut why = String::new();
        let _ = (&keeper.lines).read_to_string(&mut why);
        Err(Failure::usage(format!("--log-max: the log can't be put aside: {why}"))
            .remedy("name a log in a folder where nothing else has its name with .1, .2, ... behind it"))
    }

    /// A line for the next proxy: its end. It is answered when the lines before it are closed.
    pub(crate) fn line(&self) -> io::Result<UnixStream> {
        let (proxy, keeper) = UnixStream::pair()?;
        descriptors::send(&self.lines, &[keeper.as_fd()])?;
        Ok(proxy)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // It ends when nobody can ask any more: the last proxy has gone before this value.
        let _ = self.lines.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

/// Until there are no lines any more.
fn serve(shelf: Shelf, mut lines: &UnixStream) -> u8 {
    // A process group of its own: Ctrl-C is for the command, whose last records are still to be written.
    let prepared = setpgid(Pid::from_raw(0), Pid::from_raw(0))
        .and_then(|()| privileges::raise_descriptor_limit())
        .map_err(io::Error::from)
        .and_then(|()| {
            descriptors::close_all_but(&[lines.as_fd(), shelf.folder.as_fd(), shelf.file.as_fd()])
        });
    match prepared.and_then(|()| shelf.fill()) {
        Ok(mut filled) => {
            // Who started it may be gone.
            if lines.write_all(&[Keeper::READY]).is_ok() {
                attend(&mut filled, lines);
            }
            filled.shelf.tidy();
            0
        }
        Err(error) => {
            let _ = lines.write_all(format!("e{error}").as_bytes());
            1
        }
    }
}

/// One proxy after the other.
fn attend(filled: &mut Filled, lines: &UnixStream) {
    while let Ok(mut received) = descriptors::receive(lines) {
        if let Some(line) = received.pop() {
            converse(filled, &UnixStream::from(line));
        }
    }
}

/// Until the proxy's end is closed, or it says what no proxy says.
fn converse(filled: &mut Filled, mut line: &UnixStream) {
    let mut asked = [0];
    while let Ok(1) = line.read(&mut asked) {
        let file = match asked {
            [Keeper::CURRENT] => filled.current(),
            [Keeper::NEXT] => filled.next(),
            _ => return,
        };
        let answered = match file {
            Ok(file) => descriptors::send(line, &[file.as_fd()]),
            Err(error) => {
                eprintln!("closedbook: the log can't be put aside: {error}");
                // An octet without a descriptor: there is none.
                line.write_all(b"e")
            }
        };
        if answered.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::DirEntryExt;
    use std::path::PathBuf;
    use std::thread::JoinHandle;

    use tempfile::TempDir;

    use super::*;

    /// A keeper in a thread, with a log of at most 4096 octets and two that were put aside.
    struct Scene {
        folder: TempDir,
        lines: UnixStream,
        keeper: JoinHandle<()>,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            let file = File::options().append(true).create(true).open(&path).unwrap();
            let mut filled = Shelf::at(&path, &file, 4096, 2).unwrap().fill().unwrap();
            let (lines, theirs) = UnixStream::pair().unwrap();
            let keeper = std::thread::spawn(move || attend(&mut filled, &theirs));
            Self { folder, lines, keeper }
        }

        fn line(&self) -> UnixStream {
            let (proxy, keeper) = UnixStream::pair().unwrap();
            descriptors::send(&self.lines, &[keeper.as_fd()]).unwrap();
            proxy
        }

        fn aside(&self, number: u32) -> PathBuf {
            self.folder.path().join(format!("log.{number}"))
        }

        fn end(self) {
            drop(self.lines);
            self.keeper.join().unwrap();
        }
    }

    fn ask(mut line: &UnixStream, what: u8) -> File {
        line.write_all(&[what]).unwrap();
        File::from(descriptors::receive(line).unwrap().remove(0))
    }

    /// G13: nothing is put aside before it has grown, the newest is the first, and no more are kept than asked for.
    #[test]
    fn puts_aside_what_has_grown() {
        let scene = Scene::new();
        let line = scene.line();
        let mut file = ask(&line, Keeper::CURRENT);
        for _ in 0..3 {
            file = ask(&line, Keeper::NEXT);
        }
        assert_eq!(std::fs::read(scene.aside(1)).unwrap(), [0; 0]);
        let inodes = || {
            let mut all: Vec<u64> =
                std::fs::read_dir(scene.folder.path()).unwrap().map(|file| file.unwrap().ino()).collect();
            all.sort_unstable();
            all
        };
        let before = inodes();
        assert_eq!(before.len(), 3);
        for round in 1..=4u8 {
            file.write_all(&[round; 3000]).unwrap();
            file = ask(&line, Keeper::NEXT);
            assert_eq!(file.metadata().unwrap().len(), 0);
        }
        assert_eq!(std::fs::read(scene.aside(1)).unwrap(), [4; 3000]);
        assert_eq!(std::fs::read(scene.aside(2)).unwrap(), [3; 3000]);
        // No file came or went: one that came would have no cover.
        assert_eq!(inodes(), before);
        drop(line);
        scene.end();
    }

    /// A proxy that dies between question and answer leaves nothing that the next one could take for its own.
    #[test]
    fn each_proxy_hears_its_own_answers() {
        let scene = Scene::new();
        let first = scene.line();
        ask(&first, Keeper::CURRENT).write_all(&[1; 3000]).unwrap();
        (&first).write_all(&[Keeper::NEXT]).unwrap();
        drop(first);
        let second = scene.line();
        let current = ask(&second, Keeper::CURRENT);
        let inode = std::fs::metadata(scene.folder.path().join("log")).unwrap().ino();
        assert_eq!(current.metadata().unwrap().ino(), inode);
        drop(second);
        scene.end();
    }

    /// Who says what no proxy says is not answered, and the next one is.
    #[test]
    fn strangers_are_not_heard_out() {
        let scene = Scene::new();
        let stranger = scene.line();
        (&stranger).write_all(b"x").unwrap();
        assert_eq!((&stranger).read(&mut [0]).unwrap(), 0);
        let line = scene.line();
        ask(&line, Keeper::CURRENT);
        drop(line);
        scene.end();
    }

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
