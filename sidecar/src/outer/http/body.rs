//! Bodies on their way through, a piece at a time.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use thiserror::Error;
use tokio::sync::watch;

use super::exchange::Exchange;

/// How long the server's word is waited for when the client expects one. A client has no longer patience itself
/// (RFC 9110 section 10.1.1 advises against waiting without end).
const WORD: Duration = Duration::from_secs(1);

/// An exchange that can't be brought to its end. Why is in its record; the client's connection is reset.
#[derive(Debug, Clone, Copy, Error)]
#[error("the exchange broke off")]
pub(super) struct Broken;

/// A request's body.
pub(super) struct Upload {
    incoming: Incoming,
    word: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    ended: Arc<AtomicBool>,
}

/// The server's word that a body is welcome.
#[derive(Debug, Clone)]
pub(super) struct Word(watch::Sender<bool>);

/// A response's body: the server's, or closedbook's own.
pub(super) enum Reply {
    Own(Full<Bytes>),
    Passed(Box<Download>),
}

/// A server's body, with the exchange that it ends.
pub(super) struct Download {
    incoming: Incoming,
    exchange: Exchange,
}

impl Upload {
    /// The second value tells whether it was passed to its end.
    pub(super) fn new(incoming: Incoming, expected: Option<&Word>) -> (Self, Arc<AtomicBool>) {
        let ended = Arc::new(AtomicBool::new(incoming.is_end_stream()));
        let word = expected.map(|word| {
            let mut given = word.0.subscribe();
            let wait = async move {
                // Given, late, or nobody is left to give it: the body may go.
                let _ = tokio::time::timeout(WORD, given.wait_for(|given| *given)).await;
            };
            Box::pin(wait) as Pin<Box<dyn Future<Output = ()> + Send>>
        });
        (Self { incoming, word, ended: Arc::clone(&ended) }, ended)
    }
}

impl Word {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(super) fn give(&self) {
        self.0.send_replace(true);
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = hyper::Error;

    /// Asking the client's side for its first piece makes hyper send `100 Continue`, so it is not asked before the
    /// server has said so.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        if let Some(word) = &mut self.word {
            ready!(word.as_mut().poll(context));
            self.word = None;
        }
        let frame = ready!(Pin::new(&mut self.incoming).poll_frame(context));
        if frame.is_none() || self.incoming.is_end_stream() {
            self.ended.store(true, Ordering::Release);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

impl Download {
    pub(super) fn new(incoming: Incoming, exchange: Exchange) -> Self {
        Self { incoming, exchange }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Reply::Own(body) => Pin::new(body).poll_frame(context).map_err(|never| match never {}),
            Reply::Passed(body) => body.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Reply::Own(body) => body.is_end_stream(),
            Reply::Passed(body) => body.incoming.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Reply::Own(body) => body.size_hint(),
            Reply::Passed(body) => body.incoming.size_hint(),
        }
    }
}

impl Download {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.exchange.poll(context);
        match ready!(Pin::new(&mut self.incoming).poll_frame(context)) {
            Some(Ok(frame)) => {
                if self.incoming.is_end_stream() {
                    self.exchange.finish();
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(_)) => {
                self.exchange.broke("the server broke off its response");
                Poll::Ready(Some(Err(Broken)))
            }
            None => {
                self.exchange.finish();
                Poll::Ready(None)
            }
        }
    }
}

impl Drop for Download {
    /// hyper does not ask for the end of a body that has none, nor once its whole length has come.
    fn drop(&mut self) {
        if self.incoming.is_end_stream() {
            self.exchange.finish();
        }
    }
}
