//! Descriptors: passed over unix sockets, inherited over execve(2).

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::cmsg_space;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::unistd::{dup2_stdin, dup2_stdout};

/// How many descriptors one message may carry: the six listeners of a namespace, and room.
const MOST: usize = 16;

/// Sends descriptors with one byte of payload (SCM_RIGHTS, unix(7)).
pub fn send(socket: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let raw: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(b"d")], &rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Receives what [`send`] sent. A peer that is gone, or a message without descriptors, is an error.
pub fn receive(socket: &UnixStream) -> io::Result<Vec<OwnedFd>> {
    let mut byte = [0u8; 1];
    let mut parts = [IoSliceMut::new(&mut byte)];
    let mut space = cmsg_space!([RawFd; MOST]);
    let message = loop {
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC) {
            Err(Errno::EINTR) => {}
            done => break done?,
        }
    };
    let mut received = Vec::new();
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = part {
            // SAFETY: the kernel has just made these descriptors for this process; nobody else owns them.
            received.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    match received.is_empty() {
        true => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the other side sent no descriptors")),
        false => Ok(received),
    }
}

/// Takes over a descriptor that was inherited over execve(2) under an agreed number.
///
/// Refuses standard streams and numbers that are not open. A number may be taken once; the caller names each once.
pub fn inherited(number: RawFd) -> io::Result<OwnedFd> {
    if number <= 2 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "descriptors 0 to 2 are the standard streams",
        ));
    }
    // SAFETY: fcntl(F_GETFD) on any number is harmless; it says whether the number is open.
    if unsafe { libc::fcntl(number, libc::F_GETFD) } == -1 {
        return Err(io::Error::from_raw_os_error(Errno::last_raw()));
    }
    // SAFETY: the number is open (checked), came from the process that started this one, and is taken once.
    let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
    fcntl(&descriptor, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(descriptor)
}

/// A file in memory that is only ever added to, whoever holds it: it lives as long as somebody has it open.
pub fn memory_file(name: &CStr) -> io::Result<File> {
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::O_APPEND))?;
    Ok(File::from(file))
}

/// Whether a descriptor is a file in memory: nothing else has seals.
pub fn is_memory_file(descriptor: impl AsFd) -> bool {
    fcntl(descriptor, FcntlArg::F_GET_SEALS).is_ok()
}

/// Takes standard input and output from this process, which are its caller's and none of its business; standard error
/// stays.
pub fn silence() -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    Ok(())
}

/// Lets a descriptor live on over execve(2).
pub fn keep_over_exec(descriptor: impl AsFd) -> io::Result<()> {
    fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(())
}

/// Closes every descriptor but the standard streams and those named: a forked child must not hold open what it has no
/// part in, or others would wait in vain for its end.
///
/// Values of the parent that own the closed descriptors must not be dropped afterwards; a child made by
/// [`fork_into`](crate::fork::fork_into) ends without dropping them.
pub fn close_all_but(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut keep: Vec<libc::c_uint> = keep.iter().filter_map(|fd| fd.as_raw_fd().try_into().ok()).collect();
    keep.sort_unstable();
    let mut from = 3;
    for kept in keep {
        if kept > from {
            close_range(from, kept - 1, 0)?;
        }
        from = from.max(kept + 1);
    }
    close_range(from, libc::c_uint::MAX, 0)
}

/// Marks every descriptor but the standard streams to be closed by execve(2): none of closedbook's own, and none
/// that the caller of closedbook forgot, may reach the task.
pub fn close_others_on_exec() -> io::Result<()> {
    close_range(3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
}

/// Makes room for this many descriptors at once, to be called before a process that will hold many starts its threads.
///
/// The kernel's table grows by doubling, and while threads share it each step waits for an RCU grace period: some
/// 10 ms in which the thread that asked for a descriptor stands still.
pub fn make_room(count: u32) -> io::Result<()> {
    let last = RawFd::try_from(count.saturating_sub(1)).unwrap_or(RawFd::MAX);
    let any = File::open("/dev/null")?;
    // SAFETY: the descriptor was made by this call, and nobody else knows its number.
    drop(unsafe { OwnedFd::from_raw_fd(fcntl(&any, FcntlArg::F_DUPFD_CLOEXEC(last))?) });
    Ok(())
}

fn close_range(first: libc::c_uint, last: libc::c_uint, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: close_range(2) touches nothing but this process's descriptor table.
    let done = unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) };
    Errno::result(done)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn descriptors_arrive_and_work() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        send(&ours, &[writer.as_fd()]).expect("sent");
        drop(writer);
        let received = receive(&theirs).expect("received").pop().expect("one");
        File::from(received).write_all(b"through").expect("written");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("read");
        assert_eq!(text, "through");
    }

    #[test]
    fn room_is_made_up_to_the_limit_and_not_beyond() {
        make_room(1000).expect("below every usual limit");
        let beyond = make_room(u32::MAX).expect_err("no limit is as high");
        assert_eq!(beyond.raw_os_error(), Some(libc::EINVAL), "fcntl(2): beyond RLIMIT_NOFILE");
    }

    #[test]
    fn a_peer_that_is_gone_gives_no_descriptors() {
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        drop(ours);
        assert_eq!(receive(&theirs).expect_err("nothing").kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_memory_file_is_added_to_and_is_known_as_one() {
        let mut file = memory_file(c"test").expect("a file");
        file.write_all(b"one").expect("written");
        let mut other = File::from(OwnedFd::from(file.try_clone().expect("another descriptor")));
        io::Seek::rewind(&mut other).expect("rewound");
        other.write_all(b"two").expect("written");
        io::Seek::rewind(&mut file).expect("rewound");
        let mut text = String::new();
        file.read_to_string(&mut text).expect("read");
        assert_eq!(text, "onetwo");
        assert!(is_memory_file(&file));
        assert!(!is_memory_file(tempfile::tempfile().expect("a file on a disk")));
    }

    #[test]
    fn standard_streams_and_closed_numbers_are_not_taken() {
        assert_eq!(inherited(1).expect_err("stdout").kind(), io::ErrorKind::InvalidInput);
        assert_eq!(inherited(1_000_000).expect_err("closed").raw_os_error(), Some(libc::EBADF));
    }
}
