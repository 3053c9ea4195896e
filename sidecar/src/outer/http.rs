//! Plain HTTP, request by request (G5).
//!
//! The [gate](crate::evidence::http::Gate) reads along in front of hyper's server side and lets a request through to it
//! only when it is unambiguous; each request is then decided like a connection of its own and sent on by hyper's client
//! side, re-serialised, over a connection that was dialled for it. What hyper understood decides nothing.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closedbook_policy::{Reason, Refusal, Request};
use hyper::StatusCode;
use hyper::header::HeaderMap;
use hyper::server::conn::http1;
use hyper::service::service_fn;

use super::Outer;
use super::log::{Kind, Record};
use super::refuse::{farewell, say};
use super::ruling::{Flow, Leash};
use super::socket::Socket;
use crate::evidence::http::{MAX_FIELDS, MAX_HEAD};

pub(super) mod answer;
mod body;
mod exchange;
mod feed;
mod forward;
mod headers;
mod intake;
#[cfg(test)]
mod tests;
mod tunnel;
mod upstream;

use answer::Answer;
use feed::Feed;
use intake::Intake;
use tunnel::Tunnel;
use upstream::Upstream;

/// One connection of the task, from its first request to its end.
struct Talk {
    outer: Arc<Outer>,
    original: SocketAddr,
    feed: Mutex<Feed>,
    /// Requests that went through the gate and were not decided yet.
    heads: Mutex<VecDeque<Head>>,
    /// The connection's own record, which becomes that of its first request.
    first: Mutex<Option<Record>>,
    /// The server connection of the request before, if it can serve another.
    parked: Mutex<Option<Parked>>,
    /// Set when the server agreed to leave HTTP.
    tunnel: Mutex<Option<Tunnel>>,
    client: Arc<Socket>,
    /// Dropped last.
    leash: Leash,
}

/// A kept connection to a server, with its place in the registry.
struct Parked {
    upstream: Upstream,
    _flow: Flow,
}

/// A request as the gate read it.
#[derive(Debug)]
struct Head {
    request: Request,
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// All answers are written.
    InOrder,
    /// By a reset or a fault of either side, or by a switch of phase.
    Broken,
}

/// Serves a connection whose first bytes are a request.
pub(super) async fn serve(
    outer: &Arc<Outer>,
    client: Socket,
    original: SocketAddr,
    prefix: Vec<u8>,
    first: Record,
) {
    let talk = Arc::new(Talk {
        outer: Arc::clone(outer),
        original,
        feed: Mutex::new(Feed::new(&prefix)),
        heads: Mutex::default(),
        first: Mutex::new(Some(first)),
        parked: Mutex::default(),
        tunnel: Mutex::default(),
        client: Arc::new(client),
        leash: Leash::new(),
    });
    let over = converse(&talk).await;
    let tunnel = match take(&talk.tunnel) {
        Some(tunnel) => Some(tunnel.open(&talk.leash).await),
        None => None,
    };
    // Whoever else held it (hyper, a body under way) is gone with the conversation.
    match (Arc::into_inner(talk), tunnel) {
        (Some(talk), None) => talk.end(over).await,
        (Some(talk), Some(Some(tunnel))) => tunnel.run(talk).await,
        _ => {}
    }
}

async fn converse(talk: &Arc<Talk>) -> Over {
    let service = {
        let talk = Arc::clone(talk);
        service_fn(move |request| forward::forward(Arc::clone(&talk), request))
    };
    let mut builder = http1::Builder::new();
    builder
        // A client may end its side and wait for the answer; that it vanished is told by a reset.
        .half_close(true)
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_headers(MAX_FIELDS)
        .max_buf_size(2 * MAX_HEAD)
        // The gate keeps the time of a head; between requests a client may be silent for as long as it likes.
        .header_read_timeout(None);
    let mut connection =
        std::pin::pin!(builder.serve_connection(Intake::new(Arc::clone(talk)), service).with_upgrades());
    tokio::select! {
        biased;
        _ = talk.leash.cut() => Over::Broken,
        () = talk.client.lost() => Over::Broken,
        ended = &mut connection => match ended {
            Ok(()) => Over::InOrder,
            Err(_) => Over::Broken,
        },
    }
}

impl Talk {
    fn feed(&self) -> MutexGuard<'_, Feed> {
        self.feed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The record of the next request.
    async fn record(&self) -> Result<Record, Refusal> {
        if let Some(first) = take(&self.first) {
            return Ok(first);
        }
        let mut record = self.outer.log.open(self.outer.ruling.now()).await?;
        record.note(|entry| {
            entry.kind = Kind::Http;
            entry.original = Some(self.original);
            entry.port = Some(self.original.port());
        });
        Ok(record)
    }

    /// Passes on an interim response, which hyper's server side can't. Left out where it could fall into the middle of
    /// another message: nobody depends on one.
    fn interim(&self, status: StatusCode, headers: &HeaderMap) {
        let mut headers = headers.clone();
        headers::end_here(&mut headers);
        let mut message = format!("HTTP/1.1 {status}\r\n").into_bytes();
        for (name, value) in &headers {
            message.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        message.extend(b"\r\n");
        let mut feed = self.feed();
        if feed.may_interject() {
            let written = self.client.stream().try_write(&message).unwrap_or_default();
            feed.owes(message.get(written..).unwrap_or_default());
        }
    }

    /// The record of a request that the gate had read and that never came to its decision.
    fn undecided(&self) -> Option<(Record, Refusal)> {
        let record = take(&self.first)?;
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let refusal = match heads.is_empty() {
            true => Refusal::new(Reason::HelloTimeout, "the client left before its request was decided"),
            false => Refusal::new(Reason::HttpMalformed, "the request was not understood"),
        };
        Some((record, refusal))
    }

    /// The last words, unless a switch has cut or cuts the connection: then both sides are reset.
    async fn end(self, over: Over) {
        let ended = tokio::select! {
            biased;
            _ = self.leash.cut() => false,
            () = self.say_last(over) => true,
        };
        if ended && let Some(idle) = take(&self.parked) {
            idle.upstream.settle();
        }
    }

    async fn say_last(&self, over: Over) {
        if let Some((record, refusal)) = self.undecided() {
            record.deny(&refusal);
        }
        let refused = self.feed().refused();
        match (refused, over) {
            (Some(refused), _) if refused.answerable => {
                // A refusal inside a body was recorded by the exchange that it ended.
                if refused.unrecorded
                    && let Ok(record) = self.record().await
                {
                    record.deny(&refused.refusal);
                }
                say(&self.client, &Answer::new(&refused.refusal, &refused.beginning).into_bytes()).await;
            }
            (None, Over::InOrder) => farewell(&self.client).await,
            // Dropping the socket resets the connection.
            _ => {}
        }
    }
}

fn take<T>(slot: &Mutex<Option<T>>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}
