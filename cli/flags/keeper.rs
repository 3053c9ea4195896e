//! The process that puts a log aside. The proxy, which writes the log, may neither open nor rename files; this process
//! may, and reads nothing but single octets from the proxy.
//!
//! What the proxy may ask for does little harm if it is not itself any more: the file in force, or the next one if this
//! one has grown. Each proxy has a line of its own, so that none hears an answer to another that has died.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use closedbook_kernel::fork::{Child, fork_into};
use closedbook_kernel::{descriptors, privileges};
use nix::sched::CloneFlags;
use nix::unistd::{Pid, setpgid};

use super::shelf::{Filled, Shelf};
use crate::exit::{Failure, chain};

/// The process, ended with this value.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    /// Where it is told of lines.
    lines: UnixStream,
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
            let [folder, file] = shelf.descriptors();
            descriptors::close_all_but(&[lines.as_fd(), folder, file])
        });
    match prepared.and_then(|()| shelf.fill()) {
        Ok(mut filled) => {
            // Who started it may be gone.
            if lines.write_all(&[Keeper::READY]).is_ok() {
                attend(&mut filled, lines);
            }
            filled.tidy();
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
    use std::fs::File;
    use std::os::unix::fs::{DirEntryExt, MetadataExt};
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
}
