//! The resolver of the lab: authoritative for everything, over UDP and TCP, at every address.

mod answer;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::time::timeout;

use crate::datagram;
use crate::lab::Lab;
use crate::witness::{Arrival, Kind};
use answer::{Outcome, Replier};

/// How long a TCP client may think between two questions.
const IDLE: Duration = Duration::from_secs(30);

/// Answers datagrams until the task is dropped.
pub(crate) async fn serve_udp(socket: UdpSocket, lab: Arc<Lab>) {
    let replier = Replier::default();
    loop {
        let Ok(question) = datagram::receive(&socket).await else { continue };
        let outcome = replier.reply(&lab, &question.content);
        record(&lab, "udp", &question.content, &outcome, question.local, question.peer);
        if let Some(bytes) = outcome.bytes {
            let _ = datagram::answer(&socket, &question, &bytes).await;
        }
    }
}

/// Answers connections until the task is dropped.
pub(crate) async fn serve_tcp(listener: TcpListener, lab: Arc<Lab>) {
    let replier = Arc::new(Replier::default());
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            crate::tcp::pause().await;
            continue;
        };
        let lab = lab.clone();
        let replier = replier.clone();
        // Whatever ends the conversation, there is nobody left to tell.
        tokio::spawn(async move {
            let _ = converse(stream, peer, &lab, &replier).await;
        });
    }
}

/// RFC 7766: any number of questions, each behind its length.
async fn converse(mut stream: TcpStream, peer: SocketAddr, lab: &Lab, replier: &Replier) -> io::Result<()> {
    let local = stream.local_addr()?;
    loop {
        let length = timeout(IDLE, stream.read_u16()).await??;
        let mut question = vec![0; usize::from(length)];
        timeout(IDLE, stream.read_exact(&mut question)).await??;
        let outcome = replier.reply(lab, &question);
        record(lab, "tcp", &question, &outcome, local, peer);
        let Some(bytes) = outcome.bytes else { continue };
        let length = u16::try_from(bytes.len()).map_err(io::Error::other)?;
        let mut framed = length.to_be_bytes().to_vec();
        framed.extend(bytes);
        stream.write_all(&framed).await?;
    }
}

fn record(
    lab: &Lab,
    transport: &str,
    question: &[u8],
    outcome: &Outcome,
    local: SocketAddr,
    peer: SocketAddr,
) {
    let mut arrival = Arrival::new(Kind::Dns, question).between(local, peer);
    arrival = match &outcome.asked {
        Some((name, kind)) => arrival.named(name).detailed(format!("{transport} {kind}")),
        None => arrival.detailed(format!("{transport} malformed")),
    };
    lab.witness.add(arrival);
}
