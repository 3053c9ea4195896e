//! The process that puts a log aside. The proxy, which writes the log, may neither open nor rename files; this process
//! may, and reads nothing but single octets from the proxy.
//!
//! What the proxy may ask for does little harm if it is not itself any more: the file in force, or the next one if this
//! one has grown. Each proxy has a line of its own, so that none hears an answer to another that has died.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use closedbook_kernel::descriptors;
use closedbook_kernel::fork::{Child, fork_into};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat, renameat};
use nix::sched::CloneFlags;
use nix::sys::stat::{Mode, fstat};
use nix::unistd::{Pid, setpgid};

use crate::exit::{Failure, chain};

/// Where a log lies, and how much of it is kept.
#[derive(Debug)]
pub(crate) struct Shelf {
    folder: OwnedFd,
    name: OsString,
    most: u64,
    keep: u32,
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
        Ok(Self { folder, name: name.to_owned(), most, keep })
    }

    /// The file in force.
    fn current(&self) -> io::Result<OwnedFd> {
        let flags = OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        Ok(openat(&self.folder, self.name.as_os_str(), flags, Mode::from_bits_truncate(0o600))?)
    }

    /// Puts the file aside and makes the next one, unless it has not grown: who asks too often would else have the whole
    /// shelf emptied.
    fn next(&self) -> io::Result<OwnedFd> {
        let current = self.current()?;
        let size = u64::try_from(fstat(&current)?.st_size).unwrap_or_default();
        if size < self.most / 2 {
            return Ok(current);
        }
        for number in (1..self.keep).rev() {
            match self.rename(&self.aside(number), &self.aside(number + 1)) {
                Ok(()) | Err(Errno::ENOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.rename(&self.name, &self.aside(1))?;
        self.current()
    }

    fn aside(&self, number: u32) -> OsString {
        let mut name = self.name.clone();
        name.push(format!(".{number}"));
        name
    }

    fn rename(&self, from: &OsString, to: &OsString) -> Result<(), Errno> {
        renameat(&self.folder, from.as_os_str(), &self.folder, to.as_os_str())
    }
}

impl Keeper {
    /// Asks for the file in force.
    pub(super) const CURRENT: u8 = b'c';
    /// Asks for the next one.
    pub(super) const NEXT: u8 = b'n';

    /// Starts it, as the user who asked for the log. This process must have one thread.
    pub(super) fn start(shelf: Shelf) -> Result<Self, Failure> {
        let cannot = |error: &dyn std::error::Error| {
            Failure::bug(format!("can't start the process that puts the log aside: {}", chain(error)))
        };
        let (ours, theirs) = UnixStream::pair().map_err(|error| cannot(&error))?;
        let child =
            fork_into(CloneFlags::empty(), || serve(&shelf, &theirs)).map_err(|error| cannot(&error))?;
        Ok(Self { child, lines: ours })
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
fn serve(shelf: &Shelf, lines: &UnixStream) -> u8 {
    // A process group of its own: Ctrl-C is for the command, whose last records are still to be written.
    let prepared = setpgid(Pid::from_raw(0), Pid::from_raw(0))
        .map_err(io::Error::from)
        .and_then(|()| descriptors::close_all_but(&[lines.as_fd(), shelf.folder.as_fd()]));
    if prepared.is_err() {
        return 70;
    }
    attend(shelf, lines);
    0
}

/// One proxy after the other.
fn attend(shelf: &Shelf, lines: &UnixStream) {
    while let Ok(mut received) = descriptors::receive(lines) {
        if let Some(line) = received.pop() {
            converse(shelf, &UnixStream::from(line));
        }
    }
}

/// Until the proxy's end is closed, or it says what no proxy says.
fn converse(shelf: &Shelf, mut line: &UnixStream) {
    let mut asked = [0];
    while let Ok(1) = line.read(&mut asked) {
        let file = match asked {
            [Keeper::CURRENT] => shelf.current(),
            [Keeper::NEXT] => shelf.next(),
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
    use std::os::unix::fs::MetadataExt;
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
            let shelf = Shelf::at(&path, &File::create(&path).unwrap(), 4096, 2).unwrap();
            let (lines, theirs) = UnixStream::pair().unwrap();
            let keeper = std::thread::spawn(move || attend(&shelf, &theirs));
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
        assert!(!scene.aside(1).exists());
        for round in 1..=4u8 {
            file.write_all(&[round; 3000]).unwrap();
            file = ask(&line, Keeper::NEXT);
            assert_eq!(file.metadata().unwrap().len(), 0);
        }
        assert_eq!(std::fs::read(scene.aside(1)).unwrap(), [4; 3000]);
        assert_eq!(std::fs::read(scene.aside(2)).unwrap(), [3; 3000]);
        assert!(!scene.aside(3).exists());
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
}
