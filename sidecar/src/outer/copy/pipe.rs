//! Pipes for splice(2), borrowed while bytes run and given back when they stop.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::unistd::pipe2;
use tokio::io::Interest;

use crate::outer::socket::Socket;

/// What a pipe is asked to hold. More would let a peer that does not read tie up more kernel memory.
const CAPACITY: usize = 256 * 1024;

/// Idle pipes that are kept.
const KEPT: usize = 32;

/// The pipes of one proxy; a direction that finds none copies.
#[derive(Debug)]
pub(crate) struct Pipes {
    most: usize,
    idle: Mutex<Vec<Pipe>>,
    out: AtomicUsize,
}

/// One pipe out of [`Pipes`]. It goes back when it is dropped empty; one that still holds bytes of a flow that broke
/// is closed, since nothing may ever reach another flow through it.
#[derive(Debug)]
pub(crate) struct Lease<'a> {
    pool: &'a Pipes,
    pipe: Option<Pipe>,
    holds: usize,
}

#[derive(Debug)]
struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipes {
    /// So many at once. 256 of 256 KiB bound the kernel memory at 64 MiB, which is what the kernel lets an unprivileged
    /// user have too (pipe-user-pages-soft).
    pub(crate) fn new(most: usize) -> Self {
        Self { most, idle: Mutex::default(), out: AtomicUsize::new(0) }
    }

    /// A pipe, if there is one to be had.
    pub(crate) fn lease(&self) -> Option<Lease<'_>> {
        if self.out.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.out.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // From here on the count belongs to the lease, whose drop takes it back.
        let mut lease = Lease { pool: self, pipe: None, holds: 0 };
        let idle = self.idle.lock().ok()?.pop();
        lease.pipe = Some(idle.map_or_else(Pipe::open, Ok).ok()?);
        Some(lease)
    }
}

impl Lease<'_> {
    /// Bytes that went in and not out.
    pub(crate) fn holds(&self) -> usize {
        self.holds
    }

    /// Takes what the socket has, as far as the pipe holds it. Zero is the peer's end.
    pub(crate) fn fill(&mut self, from: &Socket) -> io::Result<usize> {
        let Some(pipe) = &self.pipe else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let taken = from.stream().try_io(Interest::READABLE, || {
            Ok(splice(from.stream(), None, &pipe.write, None, CAPACITY, flags())?)
        })?;
        self.holds += taken;
        Ok(taken)
    }

    /// Gives the socket what it takes. Asks for no more than there is: for more, the kernel would hold back the last
    /// segment in the hope of filling it (MSG_MORE).
    pub(crate) fn empty(&mut self, to: &Socket) -> io::Result<usize> {
        let Some(pipe) = &self.pipe else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let given = to.stream().try_io(Interest::WRITABLE, || {
            Ok(splice(&pipe.read, None, to.stream(), None, self.holds, flags())?)
        })?;
        self.holds = self.holds.saturating_sub(given);
        Ok(given)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.pool.out.fetch_sub(1, Ordering::Relaxed);
        let (Some(pipe), 0) = (self.pipe.take(), self.holds) else { return };
        if let Ok(mut idle) = self.pool.idle.lock()
            && idle.len() < KEPT
        {
            idle.push(pipe);
        }
    }
}

impl Pipe {
    fn open() -> io::Result<Self> {
        let (read, write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        // Refused beyond the user's share; the 64 KiB of a fresh pipe do as well, only slower.
        if let Ok(capacity) = i32::try_from(CAPACITY) {
            let _ = fcntl(&write, FcntlArg::F_SETPIPE_SZ(capacity));
        }
        Ok(Self { read, write })
    }
}

fn flags() -> SpliceFFlags {
    SpliceFFlags::SPLICE_F_MOVE | SpliceFFlags::SPLICE_F_NONBLOCK
}
