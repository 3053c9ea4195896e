//! One TCP connection, on whatever port: TLS, HTTP or anything else is told by its first octets, so every protocol is
//! answered on every port.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::gullible;
use crate::lab::Lab;
use crate::opening::Opening;
use crate::site::{self, Visit};
use crate::udp::greeting;
use crate::wire::{Orders, Rewind, Transport, Wire};
use crate::witness::{Arrival, Kind, fresh_nonce};

/// How long a client may keep quiet before it is taken for gone.
const FIRST_OCTETS: Duration = Duration::from_secs(300);
/// Pause after a failed accept: without one, running out of descriptors becomes a busy loop.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether the server speaks first on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    Client,
    Server,
}

/// Accepts until the task is dropped.
pub(crate) async fn serve(listener: TcpListener, lab: Arc<Lab>, kind: Kind, first: First) {
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            pause().await;
            continue;
        };
        let lab = lab.clone();
        tokio::spawn(async move {
            let mut end = lab.end.clone();
            tokio::select! {
                // A client that goes away is nothing to report.
                _ = welcome(stream, peer, lab, kind, first) => {}
                _ = end.changed() => {}
            }
        });
    }
}

pub(crate) async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

async fn welcome(
    mut stream: TcpStream,
    peer: SocketAddr,
    lab: Arc<Lab>,
    kind: Kind,
    first: First,
) -> io::Result<()> {
    let local = canonical(stream.local_addr()?);
    let peer = canonical(peer);
    // SCTP has an option of its own, and no need for it here.
    let _ = stream.set_nodelay(true);
    if first == First::Server {
        let nonce = fresh_nonce();
        lab.witness
            .add(Arrival::new(kind, &[]).between(local, peer).detailed("banner").with_nonce(Some(&nonce)));
        stream.write_all(format!("LAB-BANNER {nonce}\r\n").as_bytes()).await?;
    }
    let mut prefix = BytesMut::with_capacity(1024);
    let opening = timeout(FIRST_OCTETS, read_opening(&mut stream, &mut prefix)).await??;
    match opening {
        Opening::Tls => encrypted(stream, prefix, Ends { local, peer }, lab).await,
        Opening::Http => {
            gullible::look(&mut stream, &mut prefix, (local, peer), &lab).await;
            let visit = Visit::plain(lab, local, peer);
            speak_http(Transport::Plain(Rewind::new(prefix.freeze(), stream)), visit).await
        }
        Opening::Other | Opening::Incomplete => {
            echo(stream, &prefix, Ends { local, peer }, &lab, kind, None).await
        }
    }
}

#[derive(Clone, Copy)]
struct Ends {
    local: SocketAddr,
    peer: SocketAddr,
}

async fn encrypted(stream: TcpStream, prefix: BytesMut, ends: Ends, lab: Arc<Lab>) -> io::Result<()> {
    let hello = prefix.freeze();
    let seen = Arrival::new(Kind::Tls, &hello).between(ends.local, ends.peer);
    let mut stream = match lab.tls.accept(Rewind::new(hello, stream)).await {
        Ok(stream) => stream,
        Err(error) => {
            lab.witness.add(seen.detailed(format!("handshake failed: {error}")));
            return Ok(());
        }
    };
    let session = stream.get_ref().1;
    let name = session.server_name().map(str::to_owned);
    let alpn = session.alpn_protocol().map(|protocol| String::from_utf8_lossy(protocol).into_owned());
    let version = session.protocol_version().and_then(|version| version.as_str()).unwrap_or("TLS");
    let is_h2 = alpn.as_deref() == Some("h2");
    let detail = format!("{version} {}", alpn.as_deref().unwrap_or("no-alpn"));
    let seen = seen.detailed(detail);
    lab.witness.add(match &name {
        Some(name) => seen.named(name),
        None => seen,
    });
    let mut prefix = BytesMut::new();
    let opening = match is_h2 {
        true => Opening::Http,
        false => timeout(FIRST_OCTETS, read_opening(&mut stream, &mut prefix)).await??,
    };
    if opening != Opening::Http {
        return echo(stream, &prefix, ends, &lab, Kind::Tcp, name.as_deref()).await;
    }
    let visit = Visit::plain(lab, ends.local, ends.peer).encrypted(name, alpn);
    speak_http(Transport::Tls(Box::new(Rewind::new(prefix.freeze(), stream))), visit).await
}

async fn speak_http(transport: Transport, visit: Visit) -> io::Result<()> {
    let orders = Orders::new();
    let wire = Wire::new(transport, orders.clone());
    let seen = Arrival::new(Kind::Tcp, &[]).between(visit.local, visit.peer).detailed("after half-close");
    let witness = visit.lab.witness.clone();
    site::serve(wire, visit, orders.clone()).await;
    if let Some(octets) = orders.read_after_half_close() {
        witness.add(seen.totalling(octets));
    }
    Ok(())
}

/// Says who we are, then sends back whatever comes, half-close included.
async fn echo<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    prefix: &[u8],
    ends: Ends,
    lab: &Lab,
    kind: Kind,
    name: Option<&str>,
) -> io::Result<()> {
    let seen = Arrival::new(kind, prefix).between(ends.local, ends.peer);
    let nonce = seen.nonce.clone();
    lab.witness.add(match name {
        Some(name) => seen.named(name),
        None => seen,
    });
    stream.write_all(greeting(&lab.witness, nonce.as_deref()).as_bytes()).await?;
    stream.write_all(prefix).await?;
    let (mut read, mut write) = tokio::io::split(stream);
    tokio::io::copy(&mut read, &mut write).await?;
    write.shutdown().await
}

/// Reads until the first octets are decided; an end of stream decides for `Other`.
async fn read_opening<S: AsyncRead + Unpin>(stream: &mut S, prefix: &mut BytesMut) -> io::Result<Opening> {
    loop {
        if stream.read_buf(prefix).await? == 0 {
            return Ok(Opening::Other);
        }
        let opening = Opening::of(prefix);
        if opening != Opening::Incomplete {
            return Ok(opening);
        }
    }
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
