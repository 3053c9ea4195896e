//! DNS over TCP (RFC 7766).

use std::sync::Arc;
use std::time::Duration;

use closedbook_policy::Refusal;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::evidence::Sniff;
use crate::evidence::dns::{Transport, frame, framed};
use crate::outer::Outer;
use crate::outer::limits::room::Stay;
use crate::outer::log::Kind;
use crate::outer::metrics::Limit;
use crate::outer::refuse::farewell;
use crate::outer::socket::Socket;

/// From the end of one answer to the end of the next question.
const PATIENCE: Duration = Duration::from_secs(10);

/// For a client to take an answer.
const TAKE: Duration = Duration::from_secs(10);

/// Questions on one connection.
const QUESTIONS: usize = 1_000;

/// Serves one connection: questions in the order in which they come.
pub(crate) async fn serve(outer: Arc<Outer>, stream: TcpStream, mut stay: Stay) {
    let peer = stream.peer_addr().ok();
    let Ok(client) = Socket::new(stream) else { return };
    let mut bytes = Vec::new();
    for _ in 0..QUESTIONS {
        let question = tokio::select! {
            biased;
            question = timeout(PATIENCE, question(&client, &mut bytes)) => question,
            () = stay.shown_out() => return unanswered(&outer, &outer.metrics.hit(Limit::DnsConnections)).await,
        };
        let Ok(question) = question else { break };
        let message = match question {
            Ok(Some(message)) => message,
            Ok(None) => break,
            // A stream that can't be cut into messages ends here, by a reset.
            Err(refusal) => return unanswered(&outer, &refusal).await,
        };
        let Some(answer) = super::answer(&outer, peer, &message, Transport::Tcp).await else { return };
        match timeout(TAKE, client.write_all(&framed(&answer))).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
    farewell(&client).await;
}

/// The next message; none when the client has said all.
async fn question(client: &Socket, bytes: &mut Vec<u8>) -> Result<Option<Vec<u8>>, Refusal> {
    loop {
        match frame(bytes) {
            Sniff::Found(message) => {
                let message = message.to_vec();
                bytes.drain(..message.len() + 2);
                return Ok(Some(message));
            }
            Sniff::Refused(refusal) => return Err(refusal),
            Sniff::Incomplete => {}
        }
        let read = client.read_with(|news| {
            bytes.extend_from_slice(news);
            news.len()
        });
        if let Ok(0) | Err(_) = read.await {
            return Ok(None);
        }
    }
}

/// A connection that ends without an answer, by a reset.
async fn unanswered(outer: &Outer, refusal: &Refusal) {
    if let Ok(mut record) = outer.log.open(outer.ruling.now()).await {
        record.note(|entry| {
            entry.kind = Kind::Dns;
            entry.port = Some(53);
        });
        record.deny(refusal);
    }
}
