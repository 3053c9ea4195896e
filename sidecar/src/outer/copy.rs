//! Copying both ways between a client and the server that it was permitted to reach.
//!
//! A direction that is idle holds no memory: bytes pass through a buffer of the thread, and only what the sink would
//! not take is kept. A direction that runs in bulk goes through a pipe by splice(2), without passing user memory.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::task::coop::consume_budget;

use super::socket::{CHUNK, Socket, again, scratch};

pub(crate) mod pipe;
#[cfg(test)]
mod tests;

use pipe::{Lease, Pipes};

/// A splice that moved less than this before the source ran dry was a trickle, for which copying is cheaper.
const TRICKLE: usize = CHUNK / 4;

/// How long a sink may take for what a source sent before it was lost.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// Bytes of one flow.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    /// From the client to the server.
    pub(crate) up: AtomicU64,
    /// From the server to the client.
    pub(crate) down: AtomicU64,
    /// Of both, those that went through a pipe.
    pub(crate) spliced: AtomicU64,
}

/// How a flow ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Both sides said that they were done.
    Finished,
    /// One side reset the connection or vanished, so the other is to be reset too.
    Broken,
}

/// Copies until both sides are done, passing each side's end on at once and letting the other go on.
///
/// After [`End::Broken`] the caller drops both sockets, which resets them.
pub(crate) async fn copy(client: &Socket, server: &Socket, moved: &Moved, pipes: &Pipes) -> End {
    let route = |from, to, count| Route { from, to, count, spliced: &moved.spliced, pipes };
    let up_route = route(client, server, &moved.up);
    let down_route = route(server, client, &moved.down);
    let mut up = pin!(up_route.pour());
    let mut down = pin!(down_route.pour());
    tokio::select! {
        poured = &mut up => settle(poured, down, client).await,
        poured = &mut down => settle(poured, up, server).await,
    }
}

/// One direction is over; the other goes on as long as it can. `silent` is the side that is not read any more.
async fn settle(poured: Poured, other: impl Future<Output = Poured>, silent: &Socket) -> End {
    match poured {
        Poured::End => tokio::select! {
            poured = other => if let Poured::End = poured { End::Finished } else { End::Broken },
            // Nobody reads this side now, so nobody else would see it reset.
            () = silent.lost() => End::Broken,
        },
        // What the lost sink said before it was lost still reaches the other side (a response that came before the
        // request was read to its end). A socket that is lost ends the other direction by itself.
        Poured::SinkLost => {
            other.await;
            End::Broken
        }
        Poured::SourceLost => End::Broken,
    }
}

/// How a direction ended.
#[derive(Debug, Clone, Copy)]
enum Poured {
    /// The source said that it was done, and the sink was told.
    End,
    SourceLost,
    SinkLost,
}

/// What one go at a source brought.
enum Taken {
    Moved(usize),
    Dry,
    End,
}

struct Route<'a> {
    from: &'a Socket,
    to: &'a Socket,
    count: &'a AtomicU64,
    spliced: &'a AtomicU64,
    pipes: &'a Pipes,
}

impl Route<'_> {
    async fn pour(&self) -> Poured {
        self.run().await.unwrap_or_else(|lost| lost)
    }

    async fn run(&self) -> Result<Poured, Poured> {
        let mut run = 0;
        loop {
            self.from.stream().readable().await.map_err(|_| Poured::SourceLost)?;
            let taken = match self.bulk(run) {
                Some(pipe) => self.siphon(pipe, &mut run).await?,
                None => self.scoop().await?,
            };
            match taken {
                Taken::Moved(count) => run = run.saturating_add(count),
                Taken::Dry => {}
                Taken::End => break,
            }
            // A source and a sink that are always ready would keep this thread from every other connection.
            consume_budget().await;
        }
        self.to.shut_write().map_err(|_| Poured::SinkLost)?;
        Ok(Poured::End)
    }

    fn bulk(&self, run: usize) -> Option<Lease<'_>> {
        if run < CHUNK { None } else { self.pipes.lease() }
    }

    /// One read and one write through the buffer of the thread.
    async fn scoop(&self) -> Result<Taken, Poured> {
        let (taken, rest) = scratch(|buffer| {
            let count = match self.from.stream().try_read(buffer) {
                Ok(0) => return Ok((Taken::End, Vec::new())),
                Ok(count) => count,
                Err(error) if again(&error) => return Ok((Taken::Dry, Vec::new())),
                Err(_) => return Err(Poured::SourceLost),
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            let written = match self.to.stream().try_write(bytes) {
                Ok(written) => written,
                Err(error) if again(&error) => 0,
                Err(_) => return Err(Poured::SinkLost),
            };
            self.count(written);
            Ok((Taken::Moved(count), bytes.get(written..).unwrap_or_default().to_vec()))
        })?;
        let mut rest = rest.as_slice();
        while !rest.is_empty() {
            self.room().await?;
            let written = try_again(self.to.stream().try_write(rest)).map_err(|_| Poured::SinkLost)?;
            self.count(written);
            rest = rest.get(written..).unwrap_or_default();
        }
        Ok(taken)
    }

    /// Through the pipe, until the source runs dry or ends.
    async fn siphon(&self, mut pipe: Lease<'_>, run: &mut usize) -> Result<Taken, Poured> {
        let mut moved = 0;
        loop {
            match pipe.fill(self.from) {
                Ok(0) => return Ok(Taken::End),
                Ok(count) => moved += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if again(&error) => break,
                Err(_) => return Err(Poured::SourceLost),
            }
            while pipe.holds() > 0 {
                match pipe.empty(self.to) {
                    Ok(given) => {
                        self.count(given);
                        self.spliced.fetch_add(given as u64, Ordering::Relaxed);
                    }
                    Err(error) if again(&error) => self.room().await?,
                    Err(_) => return Err(Poured::SinkLost),
                }
            }
            consume_budget().await;
        }
        if moved < TRICKLE {
            *run = 0;
        }
        Ok(Taken::Dry)
    }

    /// Waits until the sink takes more. What a source said before it was lost may still be taken, for a while: a
    /// server that answers without reading the whole request ends with a reset.
    async fn room(&self) -> Result<(), Poured> {
        let lost = async {
            self.from.lost().await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            writable = self.to.stream().writable() => writable.map_err(|_| Poured::SinkLost),
            () = lost => Err(Poured::SourceLost),
        }
    }

    fn count(&self, bytes: usize) {
        self.count.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Nothing written, instead of an error that means no more than that.
fn try_again(written: io::Result<usize>) -> io::Result<usize> {
    match written {
        Err(error) if again(&error) => Ok(0),
        written => written,
    }
}
