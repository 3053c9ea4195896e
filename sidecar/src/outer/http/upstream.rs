//! A connection to a server, for one request after the other.
//!
//! It is driven by whoever waits for something from it, in the task of the client's connection and not in one of its
//! own: when that task ends, nothing moves any more.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};

use closedbook_policy::{Destination, Permit};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::rt::{Read, ReadBufCursor, Write};

use super::body::Upload;
use super::intake::{poll_read, poll_write};
use crate::outer::copy::Moved;
use crate::outer::dial::Dialled;
use crate::outer::ruling::Line;
use crate::outer::socket::Socket;

/// Fields of a response head. Servers send more of them than clients.
const MAX_RESPONSE_FIELDS: usize = 512;

/// hyper's side of it, boxed since its type has no name.
type Connection = dyn Future<Output = hyper::Result<()>> + Send;

/// A connection that was dialled for a permitted destination.
pub(super) struct Upstream {
    pub(super) sender: SendRequest<Upload>,
    connection: Option<Pin<Box<Connection>>>,
    socket: Arc<Socket>,
    wire: Arc<Moved>,
    address: SocketAddr,
    destination: Destination,
}

/// The server's connection, as hyper sees it.
pub(super) struct Outlet {
    socket: Arc<Socket>,
    wire: Arc<Moved>,
}

impl Upstream {
    /// Begins to speak HTTP on a fresh connection.
    pub(super) async fn new(dialled: Dialled) -> hyper::Result<Self> {
        let Dialled { server, address, permit } = dialled;
        let (socket, wire) = (Arc::new(server), Arc::new(Moved::default()));
        let outlet = Outlet { socket: Arc::clone(&socket), wire: Arc::clone(&wire) };
        let (sender, connection) = http1::Builder::new()
            .preserve_header_case(true)
            .max_headers(MAX_RESPONSE_FIELDS)
            .handshake(outlet)
            .await?;
        let connection = Some(Box::pin(connection.with_upgrades()) as Pin<Box<Connection>>);
        Ok(Self { sender, connection, socket, wire, address, destination: permit.destination().clone() })
    }

    /// The address at the other end.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether it leads where this permit leads.
    pub(super) fn leads_to(&self, permit: &Permit) -> bool {
        self.destination == *permit.destination()
    }

    /// Whether it can take another request: the last one is through, and the server has not closed.
    pub(super) async fn is_ready(&mut self) -> bool {
        let Self { sender, connection, .. } = self;
        drive(connection, sender.ready()).await.is_ok()
    }

    /// Waits for something while the connection does its work.
    pub(super) async fn drive<F: Future>(&mut self, waited_for: F) -> F::Output {
        drive(&mut self.connection, waited_for).await
    }

    /// Lets the connection do its work.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) {
        poll(&mut self.connection, context);
    }

    /// The line between this client and the server.
    pub(super) fn line(&self, client: Arc<Socket>) -> Line {
        Line { client, server: Arc::clone(&self.socket), moved: Arc::clone(&self.wire) }
    }

    /// The bytes since the last time that this was asked.
    pub(super) fn take_counts(&self) -> (u64, u64) {
        (self.wire.up.swap(0, Ordering::Relaxed), self.wire.down.swap(0, Ordering::Relaxed))
    }

    /// Resets it.
    pub(super) fn abort(&self) {
        self.socket.abort();
    }

    /// It is not needed any more, and ends in order if the server has everything; the rest would be sent where no
    /// switch of phase could stop it, and the server has answered already.
    pub(super) fn settle(self) {
        if self.socket.is_delivered() {
            self.socket.settle();
        }
    }
}

async fn drive<F: Future>(connection: &mut Option<Pin<Box<Connection>>>, waited_for: F) -> F::Output {
    let mut waited_for = pin!(waited_for);
    std::future::poll_fn(|context| {
        poll(connection, context);
        waited_for.as_mut().poll(context)
    })
    .await
}

fn poll(connection: &mut Option<Pin<Box<Connection>>>, context: &mut Context<'_>) {
    if let Some(running) = connection
        && running.as_mut().poll(context).is_ready()
    {
        // Its error, if it has one, is told to whoever waits for a response or for a body.
        *connection = None;
    }
}

impl Outlet {
    /// The socket below.
    pub(super) fn into_socket(self) -> Arc<Socket> {
        self.socket
    }
}

impl Read for Outlet {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let count = ready!(poll_read(&self.socket, context, buffer.remaining(), |news| {
            buffer.put_slice(news);
            news.len()
        }))?;
        self.wire.down.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl Outlet {
    fn write(&self, context: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let count = ready!(poll_write(&self.socket, context, bytes))?;
        self.wire.up.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }
}

impl Write for Outlet {
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

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.socket.shut_write())
    }
}
