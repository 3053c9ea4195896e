//! A connection that has left HTTP: to the server that agreed, and to no other (RFC 9931).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use hyper::upgrade::{OnUpgrade, Upgraded};

use super::Talk;
use super::exchange::Exchange;
use super::intake::Intake;
use super::upstream::Outlet;
use crate::outer::copy::{End, copy};
use crate::outer::log::Record;
use crate::outer::ruling::{Flow, Leash};
use crate::outer::socket::Socket;

/// A tunnel that waits for the response that opens it.
pub(super) struct Tunnel {
    server: Arc<Socket>,
    /// What the server said right behind its response.
    from_server: Bytes,
    client: OnUpgrade,
    record: Record,
    flow: Flow,
}

/// An open tunnel.
pub(super) struct Open {
    server: Arc<Socket>,
    from_server: Bytes,
    from_client: Bytes,
    record: Record,
    flow: Flow,
}

impl Tunnel {
    pub(super) fn new(exchange: Exchange, client: OnUpgrade, server: Upgraded) -> Option<Self> {
        let parts = server.downcast::<Outlet>().ok()?;
        let (record, flow) = exchange.into_parts()?;
        Some(Self { server: parts.io.into_socket(), from_server: parts.read_buf, client, record, flow })
    }

    /// Takes the client's side back from hyper, which has ended its part of the conversation. None if that was not by
    /// opening the tunnel.
    pub(super) async fn open(self, leash: &Leash) -> Option<Open> {
        let Self { server, from_server, client, record, flow } = self;
        match client.await.map(Upgraded::downcast::<Intake>) {
            Ok(Ok(parts)) => Some(Open { server, from_server, from_client: parts.read_buf, record, flow }),
            _ => {
                drop((server, flow));
                match leash.pulled() {
                    Some(cut) => record.cut(&cut),
                    None => record.allow_with("the client left before the websocket was open"),
                }
                None
            }
        }
    }
}

impl Open {
    /// Copies until both sides are done.
    pub(super) async fn run(self, talk: Talk) {
        let Self { server, from_server, from_client, record, flow } = self;
        // What hyper had read of the client, if anything, came before what the gate held.
        let held = talk.feed().upgraded();
        let moved = Arc::clone(record.moved());
        let end = tokio::select! {
            biased;
            cut = talk.leash.cut() => Err(cut),
            end = async {
                for bytes in [&from_client[..], &held[..]] {
                    if server.write_all(bytes).await.is_err() {
                        return End::Broken;
                    }
                    moved.up.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                }
                if talk.client.write_all(&from_server).await.is_err() {
                    return End::Broken;
                }
                let end = copy(&talk.client, &server, &moved, &talk.outer.pipes).await;
                if end == End::Finished {
                server.delivered().await;
            }
                end
            } => Ok(end),
        };
        if !matches!(end, Ok(End::Finished)) {
            // Out of the registry, nothing may be under way.
            server.abort();
        }
        let end = flow.end(&talk.leash, end).await;
        if let Ok(End::Finished) = end {
            talk.client.settle();
            server.settle();
        }
        drop(server);
        match end {
            Ok(End::Finished) => record.allow(),
            Ok(End::Broken) => record.allow_with("reset by one side"),
            Err(cut) => record.cut(&cut),
        }
    }
}
