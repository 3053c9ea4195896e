//! What the supervisor and its children say to each other: one JSON object a line over a socket pair.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// From the supervisor to the task's init.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ToInit {
    /// The id maps are written: capabilities over the new namespaces are real now.
    Mapped,
    /// Sockets in the file system that somebody outside answers: paths, which need not be UTF-8.
    Hide(Vec<OsString>),
    /// The proxy serves: the command may start.
    Start,
    /// Send this signal to the command.
    Signal(i32),
}

/// From the task's init to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromInit {
    /// The namespace is closed and its listeners are handed over.
    Closed,
    /// It could not be prepared; nothing of the task has run.
    Unable(Inability),
    /// The command could not be started.
    NotStarted {
        /// As a shell has it: 127 not found, 126 not executable.
        code: u8,
        /// What happened.
        what: String,
    },
    /// The command has ended; its exit code, or 128 and the signal's number.
    Ended(u8),
}

/// Why a namespace can't be prepared.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Inability {
    /// What happened.
    pub(super) what: String,
    /// What to do about it.
    pub(super) remedy: String,
}

/// One end of the conversation.
#[derive(Debug)]
pub(super) struct Line {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
}

impl Line {
    /// Both ends.
    pub(super) fn pair() -> io::Result<(Self, Self)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Self::over(ours)?, Self::over(theirs)?))
    }

    /// Over a socket that is there already.
    pub(super) fn over(socket: UnixStream) -> io::Result<Self> {
        Ok(Self { writer: socket.try_clone()?, reader: BufReader::new(socket) })
    }

    /// Says something.
    pub(super) fn say(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(message)?;
        text.push(b'\n');
        self.writer.write_all(&text)
    }

    /// Waits for the next message; `None` when the other side is gone.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let mut text = String::new();
        match self.reader.read_line(&mut text) {
            Ok(0) => Ok(None),
            // Half a line means that the other side died while it spoke.
            Ok(_) if !text.ends_with('\n') => Ok(None),
            Ok(_) => Ok(Some(serde_json::from_str(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Waits for the next message, but not longer than this. An error of kind `TimedOut` when none has begun by then.
    pub(super) fn hear_within<T: DeserializeOwned>(&mut self, patience: Duration) -> io::Result<Option<T>> {
        let until = Instant::now() + patience;
        while !self.has_more() {
            let left = PollTimeout::try_from(until.saturating_duration_since(Instant::now()));
            let mut ready = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
            match poll(&mut ready, left.unwrap_or(PollTimeout::MAX)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => break,
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.hear()
    }

    /// Whether a message has been read from the socket but not been heard: poll(2) can't see those.
    pub(super) fn has_more(&self) -> bool {
        !self.reader.buffer().is_empty()
    }

    /// The descriptors that a child must keep to speak.
    pub(super) fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.reader.get_ref().as_fd(), self.writer.as_fd()]
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.get_ref().as_fd()
    }
}
