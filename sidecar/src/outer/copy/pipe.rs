//! Pipes for splice(2), borrowed while bytes run and given back when they stop.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::unistd::pipe2;
use tokio::io::Interest;

use crate::outer::socket::{CHUNK, Socket};

/// What the first pipes are asked to hold: the most that an unprivileged user may ask for (pipe-max-size). It halves the
/// processor time of a byte, since fewer turns wake the peers less often.
const LARGE: usize = 1024 * 1024;

/// What the others are asked to hold. More would let peers that do not read tie up more kernel memory.
const SMALL: usize = 256 * 1024;

/// Large pipes.
const MOST_LARGE: usize = 16;

/// Pipes in use at once. 16 of 1 MiB and 192 of 256 KiB bound the kernel memory at 64 MiB, which is what the kernel lets
/// an unprivileged user have too (pipe-user-pages-soft).
pub(crate) const MOST: usize = MOST_LARGE + 192;

/// Idle pipes that are kept.
const KEPT: usize = 32;

/// The pipes of one proxy; a direction that finds none copies.
#[derive(Debug)]
pub(crate) struct Pipes {
    most: usize,
    /// Large ones last, where they are taken from.
    idle: Mutex<VecDeque<Pipe>>,
    out: AtomicUsize,
    large: Arc<AtomicUsize>,
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
    size: Size,
}

/// What a pipe was asked to hold.
#[derive(Debug)]
enum Size {
    /// One of the large pipes, as long as this lives.
    Large(Arc<AtomicUsize>),
    Small,
}

impl Pipes {
    /// So many at once, and no more than [`MOST`].
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.min(MOST), idle: Mutex::default(), out: AtomicUsize::new(0), large: Arc::default() }
    }

    /// A pipe, if there is one to be had.
    pub(crate) fn lease(&self) -> Option<Lease<'_>> {
        if self.out.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.out.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        // From here on the count belongs to the lease, whose drop takes it back.
        let mut lease = Lease { pool: self, pipe: None, holds: 0 };
        let idle = self.idle.lock().ok()?.pop_back();
        lease.pipe = Some(idle.map_or_else(|| Pipe::open(Size::of_next(&self.large)), Ok).ok()?);
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
            Ok(splice(from.stream(), None, &pipe.write, None, pipe.size.bytes(), flags())?)
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
            match pipe.size {
                Size::Large(_) => idle.push_back(pipe),
                Size::Small => idle.push_front(pipe),
            }
        }
    }
}

impl Pipe {
    fn open(size: Size) -> io::Result<Self> {
        let (read, write) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        // Refused beyond the user's share (pipe-user-pages-soft). The 64 KiB of a fresh pipe do as well, only slower; but
        // there fresh pipes may be of two pages, and then copying is cheaper.
        let asked = i32::try_from(size.bytes()).unwrap_or(i32::MAX);
        let holds = fcntl(&write, FcntlArg::F_SETPIPE_SZ(asked))
            .or_else(|_| fcntl(&write, FcntlArg::F_GETPIPE_SZ))?;
        if usize::try_from(holds).is_ok_and(|holds| holds < CHUNK) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        Ok(Self { read, write, size })
    }
}

impl Size {
    /// Of the next pipe, if so many are large already.
    fn of_next(large: &Arc<AtomicUsize>) -> Self {
        let one_more = |count| (count < MOST_LARGE).then_some(count + 1);
        match large.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Self::Large(Arc::clone(large)),
            Err(_) => Self::Small,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Large(_) => LARGE,
            Self::Small => SMALL,
        }
    }
}

impl Drop for Size {
    fn drop(&mut self) {
        if let Self::Large(large) = self {
            large.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn flags() -> SpliceFFlags {
    SpliceFFlags::SPLICE_F_MOVE | SpliceFFlags::SPLICE_F_NONBLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(lease: &Lease<'_>) -> usize {
        let pipe = lease.pipe.as_ref().unwrap();
        usize::try_from(fcntl(&pipe.write, FcntlArg::F_GETPIPE_SZ).unwrap()).unwrap()
    }

    /// G16: bulk in many connections at once ties up a bounded amount of the kernel's memory.
    #[test]
    fn a_few_are_large_and_all_are_bounded() {
        let pipes = Pipes::new(MOST);
        let leases: Vec<Lease<'_>> = std::iter::from_fn(|| pipes.lease()).collect();
        // As root, or with a share of its own, the user gets all of them; otherwise what is left of the share.
        assert!(!leases.is_empty() && leases.len() <= MOST);
        assert!(leases.iter().map(holds).sum::<usize>() <= 64 * 1024 * 1024);
        assert!(leases.iter().filter(|lease| holds(lease) >= LARGE).count() <= MOST_LARGE);
    }

    /// A large pipe that was given back is the next to be lent; one that is closed makes room for another.
    #[test]
    fn large_ones_come_first() {
        let pipes = Pipes::new(MOST);
        let leases: Vec<Lease<'_>> = std::iter::from_fn(|| pipes.lease()).take(MOST_LARGE + 4).collect();
        assert_eq!(pipes.large.load(Ordering::Relaxed), MOST_LARGE);
        drop(leases);
        let again: Vec<Lease<'_>> = std::iter::from_fn(|| pipes.lease()).take(MOST_LARGE).collect();
        assert!(again.iter().all(|lease| matches!(lease.pipe.as_ref().unwrap().size, Size::Large(_))));
        let mut broken = again;
        broken.iter_mut().for_each(|lease| lease.holds = 1);
        drop(broken);
        assert_eq!(pipes.large.load(Ordering::Relaxed), 0, "none went back with bytes in it");
    }
}
