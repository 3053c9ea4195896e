//! Child processes, also as the first process of new namespaces.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;

use nix::errno::Errno;
use nix::sched::CloneFlags;
use nix::sys::signal::Signal;
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use thiserror::Error;

/// A child of this process, held by a pidfd so that its number can't be mistaken for another process's.
#[derive(Debug)]
pub struct Child {
    pid: Pid,
    pidfd: OwnedFd,
}

/// Why no child was made.
#[derive(Debug, Error)]
pub enum ForkError {
    /// A forked child of a threaded process may not even allocate; closedbook forks before it starts threads.
    #[error("this process has {0} threads and can't be forked safely")]
    Threaded(usize),
    /// `/proc` is not there.
    #[error("can't count this process's threads in /proc/self/task")]
    Proc(#[source] io::Error),
    /// clone(2) itself.
    #[error("clone(2) failed")]
    Clone(#[source] Errno),
}

/// Runs `body` in a child that is the first process of the given new namespaces; its result is the exit code.
///
/// The child is a copy of this process, as after fork(2). A panic in it is exit code 70.
pub fn fork_into(namespaces: CloneFlags, body: impl FnOnce() -> u8) -> Result<Child, ForkError> {
    let threads = fs::read_dir("/proc/self/task").map_err(ForkError::Proc)?.count();
    if threads != 1 {
        return Err(ForkError::Threaded(threads));
    }
    let flags = namespaces.bits() | libc::CLONE_PIDFD | libc::SIGCHLD;
    let mut pidfd: libc::c_int = -1;
    // SAFETY: without CLONE_VM and with a null stack this is fork(2): the child goes on with a copy of this stack.
    // The process has one thread (checked above), so no lock is held by a thread that the child lacks. The kernel
    // writes one int to the address of `pidfd`, which outlives the call. (The last two arguments, null, change
    // places between architectures.)
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone,
            flags as libc::c_ulong,
            std::ptr::null::<libc::c_void>(),
            &raw mut pidfd,
            std::ptr::null::<libc::c_int>(),
            std::ptr::null::<libc::c_void>(),
        )
    };
    match pid {
        -1 => Err(ForkError::Clone(Errno::last())),
        0 => {
            let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(70);
            process::exit(i32::from(code));
        }
        pid => {
            // SAFETY: clone succeeded in the parent with CLONE_PIDFD, so `pidfd` is an open descriptor of ours.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            // A pid fits pid_t on every Linux.
            Ok(Child { pid: Pid::from_raw(pid as libc::pid_t), pidfd })
        }
    }
}

impl Child {
    /// Its pid in this process's pid namespace.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Waits until it has ended.
    pub fn wait(&self) -> Result<WaitStatus, Errno> {
        loop {
            match waitid(Id::PIDFd(self.pidfd.as_fd()), WaitPidFlag::WEXITED) {
                Err(Errno::EINTR) => {}
                done => return done,
            }
        }
    }

    /// Sends a signal; that the child has ended already is no error.
    pub fn signal(&self, signal: Signal) -> Result<(), Errno> {
        // SAFETY: pidfd_send_signal takes an open descriptor, a number, a null siginfo and no flags.
        let sent = unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.pidfd.as_raw_fd(),
                signal as libc::c_int,
                std::ptr::null::<libc::siginfo_t>(),
                0,
            )
        };
        match Errno::result(sent) {
            Ok(_) | Err(Errno::ESRCH) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl AsFd for Child {
    /// The pidfd: readable when the child has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The test harness has threads, so what can be tested here is that forking is refused then.
    #[test]
    fn a_threaded_process_is_not_forked() {
        let refused = fork_into(CloneFlags::empty(), || 0);
        assert!(matches!(refused, Err(ForkError::Threaded(n)) if n > 1), "{refused:?}");
    }
}
