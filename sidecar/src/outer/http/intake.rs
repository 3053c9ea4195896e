//! The client's connection, as hyper sees it: only what the gate released.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};

use super::feed::Next;
use super::{Head, Talk};
use crate::outer::socket::{Socket, again, scratch};

/// Reads through the gate, writes straight.
pub(super) struct Intake {
    talk: Arc<Talk>,
}

impl Intake {
    pub(super) fn new(talk: Arc<Talk>) -> Self {
        Self { talk }
    }
}

impl Read for Intake {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let talk = &self.talk;
        let mut feed = talk.feed();
        loop {
            match feed.next(context) {
                Next::Release(head) => {
                    if let Some(request) = head {
                        let mut heads = talk.heads.lock().unwrap_or_else(PoisonError::into_inner);
                        heads.push_back(Head { request });
                    }
                    buffer.put_slice(&feed.take(buffer.remaining()));
                    return Poll::Ready(Ok(()));
                }
                Next::Read => {
                    let ended = ready!(poll_read(&talk.client, context, usize::MAX, |news| {
                        feed.fill(news);
                        news.is_empty()
                    }))?;
                    // A refusal of that end is told by the next round; an end in order is told here.
                    if ended && feed.refused().is_none() {
                        return Poll::Ready(Ok(()));
                    }
                }
                Next::Wait => return Poll::Pending,
                Next::End => return Poll::Ready(Ok(())),
                Next::Abort(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Intake {
    fn write(&self, context: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.talk.feed().writing(true);
        ready!(self.write_owed(context))?;
        poll_write(&self.talk.client, context, bytes)
    }

    /// The rest of an interim response goes first.
    fn write_owed(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut feed = self.talk.feed();
        let owed = feed.owed();
        while !owed.is_empty() {
            let written = ready!(poll_write(&self.talk.client, context, &[io::IoSlice::new(owed)]))?;
            owed.drain(..written);
        }
        Poll::Ready(Ok(()))
    }
}

impl Write for Intake {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.write_owed(context))?;
        self.talk.feed().writing(false);
        Poll::Ready(Ok(()))
    }

    /// How the connection ends is decided when hyper is through with it.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Reads at most so many bytes, through the buffer of the thread.
pub(super) fn poll_read<T>(
    socket: &Socket,
    context: &mut Context<'_>,
    most: usize,
    mut take: impl FnMut(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    loop {
        ready!(socket.stream().poll_read_ready(context))?;
        let read = scratch(|buffer| {
            let end = buffer.len().min(most);
            let count = socket.stream().try_read(buffer.get_mut(..end).unwrap_or_default())?;
            Ok(take(buffer.get(..count).unwrap_or_default()))
        });
        match read {
            Err(error) if again(&error) => {}
            read => return Poll::Ready(read),
        }
    }
}

/// Writes what the socket takes.
pub(super) fn poll_write(
    socket: &Socket,
    context: &mut Context<'_>,
    bytes: &[io::IoSlice<'_>],
) -> Poll<io::Result<usize>> {
    loop {
        ready!(socket.stream().poll_write_ready(context))?;
        match socket.stream().try_write_vectored(bytes) {
            Err(error) if again(&error) => {}
            written => return Poll::Ready(written),
        }
    }
}
