//! The accept loop: survives whatever accepting can fail with, and never lets one connection hold up the next.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use super::Outer;
use super::limits::room::{Room, Stay};
use super::metrics::Limit;
use super::socket::Socket;
use super::stop::Stop;

/// How long the loop waits when the system has no room for another connection.
const BACKOFF: Duration = Duration::from_millis(20);

/// How long what was under way at the end may take to come to its own end. A task may end right behind its last words,
/// and those still reach their server, as its kernel would see to without closedbook.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A listener, and the room that its connections come into.
pub(crate) struct Door {
    pub(crate) listener: TcpListener,
    pub(crate) room: Arc<Room>,
    /// Which limit it is when the room is full.
    pub(crate) full: Limit,
}

/// Serves every connection of a listener until `stop`, those that wait to be accepted included; then cuts those that do
/// not end soon.
pub(crate) async fn accept<F>(
    outer: Arc<Outer>,
    Door { listener, room, full }: Door,
    mut stop: Stop,
    serve: impl Fn(Arc<Outer>, TcpStream, Stay) -> F,
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut connections = JoinSet::new();
    let mut spare = Spare::take(&outer.reserve);
    let admit = async |connections: &mut JoinSet<()>, stream, stay| match stay {
        Some(stay) => drop(connections.spawn(serve(Arc::clone(&outer), stream, stay))),
        None => turn_away(&outer, stream, full).await,
    };
    loop {
        tokio::select! {
            () = stop.told() => break,
            Some(ended) = connections.join_next() => report(ended),
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => admit(&mut connections, stream, room.enter().await).await,
                Err(error) => if let Some(stream) = spare.recover(&outer, &listener, &error).await {
                    admit(&mut connections, stream, room.enter().await).await;
                },
            },
        }
    }
    for stream in waiting(listener) {
        // There may be thousands, and the end is not put off for them.
        admit(&mut connections, stream, room.enter_now()).await;
    }
    let ends = async { while connections.join_next().await.map(report).is_some() {} };
    // Late or not, what lives after it is cut.
    let _ = tokio::time::timeout(LAST_WORDS, ends).await;
    connections.shutdown().await;
}

/// The connections that were made and not accepted yet. The runtime may not know of the last ones, so the kernel is
/// asked; with the listener goes the way for more.
fn waiting(listener: TcpListener) -> Vec<TcpStream> {
    let Ok(listener) = listener.into_std() else { return Vec::new() };
    let accepted = listener.incoming().map_while(Result::ok);
    accepted
        .filter_map(|stream| stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)).ok())
        .collect()
}

/// One connection too many: reset, and recorded.
async fn turn_away(outer: &Outer, stream: TcpStream, limit: Limit) {
    let (client, original) = (stream.peer_addr().ok(), (outer.original)(&stream));
    let probe = outer.probes.has(client, original.as_ref().ok());
    let refusal = if probe { limit.refusal() } else { outer.metrics.hit(limit) };
    let Ok(mut record) = outer.record(client, original.as_ref().ok(), outer.ruling.now()).await else {
        return;
    };
    if let Ok(original) = original {
        record.note(|entry| {
            entry.original = Some(original);
            entry.port = Some(original.port());
        });
    }
    record.deny(&refusal);
    // Dropped without having been armed, it would end in order, which looks like an answer.
    drop(Socket::new(stream));
}

fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        // The connection was reset and recorded when its task unwound.
        tracing::error!(%error, "a connection's task panicked; this is a bug of closedbook");
    }
}

/// A descriptor held back for the moment when there is none left: given up, it lets the loop accept one connection
/// and reset it, so that the client learns of the limit instead of waiting in the backlog.
struct Spare(Option<File>);

impl Spare {
    /// Another descriptor of something that is open: nothing can be opened any more.
    fn take(reserve: &File) -> Self {
        Self(reserve.try_clone().ok())
    }

    /// What is to be done when accepting failed. A connection may come of it for which there is room after all.
    async fn recover(
        &mut self,
        outer: &Outer,
        listener: &TcpListener,
        error: &io::Error,
    ) -> Option<TcpStream> {
        match error.raw_os_error().map(Errno::from_raw) {
            // Faults of the connection that was to be accepted, or of the network under it (accept(2)).
            Some(
                Errno::ECONNABORTED
                | Errno::EINTR
                | Errno::EPERM
                | Errno::EPROTO
                | Errno::ENETDOWN
                | Errno::ENOPROTOOPT
                | Errno::EHOSTDOWN
                | Errno::ENONET
                | Errno::EHOSTUNREACH
                | Errno::EOPNOTSUPP
                | Errno::ENETUNREACH,
            ) => {}
            Some(Errno::EMFILE | Errno::ENFILE) if self.0.take().is_some() => {
                // It may be gone by now, and then nothing is to be accepted for who knows how long.
                let accepted = timeout(BACKOFF, listener.accept()).await;
                *self = Self::take(&outer.reserve);
                match accepted {
                    Ok(Ok((stream, _))) if self.0.is_some() => return Some(stream),
                    Ok(Ok((stream, _))) => {
                        turn_away(outer, stream, Limit::Descriptors).await;
                        // With the connection its descriptor came back.
                        *self = Self::take(&outer.reserve);
                    }
                    _ => {}
                }
            }
            _ => {
                tracing::debug!(%error, "accepting failed");
                outer.metrics.hit(Limit::Descriptors);
                sleep(BACKOFF).await;
                if self.0.is_none() {
                    *self = Self::take(&outer.reserve);
                }
            }
        }
        None
    }
}
