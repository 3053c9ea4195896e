//! A process that outlives a killed supervisor for the moment it takes to remove the run's control socket.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use closedbook_kernel::descriptors;
use closedbook_kernel::fork::{Child, fork_into};
use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use nix::unistd::setsid;

use crate::exit::{Failure, chain};

/// The sweeper of one file. It does nothing until the process that started it is gone.
pub(super) struct Sweeper {
    child: Child,
    /// Its other end says end-of-file when this process is gone, however it went.
    alive: File,
}

/// A file, told from a later one at the same path.
type Identity = [u8; 16];

impl Sweeper {
    /// For a file that is about to be made: nobody can be killed between making it and having it swept.
    pub(super) fn start(path: PathBuf) -> Result<Self, Failure> {
        let failed =
            |why: String| Failure::bug(format!("can't start what removes the control socket: {why}"));
        let (ours, theirs) = io::pipe().map_err(|error| failed(error.to_string()))?;
        // Its first line of code closes this process's end; should that fail, it must not wait for itself.
        let child =
            fork_into(CloneFlags::empty(), || sweep(&path, File::from(std::os::fd::OwnedFd::from(ours))))
                .map_err(|error| failed(chain(&error)))?;
        Ok(Self { child, alive: File::from(std::os::fd::OwnedFd::from(theirs)) })
    }

    /// The file has been made.
    pub(super) fn made(&mut self, path: &Path) -> io::Result<()> {
        let identity = identity(path).ok_or(io::ErrorKind::NotFound)?;
        self.alive.write_all(&identity)
    }
}

impl Drop for Sweeper {
    /// This process lives and has removed the file itself.
    fn drop(&mut self) {
        let _ = self.child.signal(Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

fn sweep(path: &Path, mut alive: File) -> u8 {
    // What ends the whole process group of the run (a terminal, a shell) must not end this one.
    let alone = setsid().map_err(io::Error::from).and_then(|_| descriptors::close_all_but(&[alive.as_fd()]));
    if alone.is_err() {
        return 1;
    }
    let mut told = Identity::default();
    let known = alive.read_exact(&mut told).is_ok();
    let ended = alive.read_to_end(&mut Vec::new()).is_ok();
    // Killed before it could say which one: the file was made in these few instructions, or not at all.
    let own = identity(path).is_some_and(|now| !known || now == told);
    if ended && own {
        // Gone already is as good.
        let _ = fs::remove_file(path);
    }
    0
}

/// Device and inode.
fn identity(path: &Path) -> Option<Identity> {
    let meta = fs::symlink_metadata(path).ok()?;
    let mut identity = Identity::default();
    let (device, inode) = identity.split_at_mut(8);
    device.copy_from_slice(&meta.dev().to_ne_bytes());
    inode.copy_from_slice(&meta.ino().to_ne_bytes());
    Some(identity)
}
