//! Saying no: at once, and by the most telling message that the client's protocol has (G11).

use std::time::Duration;

use closedbook_policy::{Reason, Refusal};
use tokio::time::timeout;

use super::http::answer::Answer;
use super::log::Kind;
use super::socket::Socket;
use crate::evidence::Sniff;
use crate::evidence::protocol::{self, Protocol};

#[cfg(test)]
mod tests;

/// How long a client may take to receive an answer.
const TAKE: Duration = Duration::from_secs(5);

/// What a refused client may still send. Closing with unread bytes makes the kernel send a reset, which could
/// overtake the answer in the client's eyes.
const DRAIN: usize = 64 * 1024;

/// How long that may take.
const DRAIN_TIME: Duration = Duration::from_millis(200);

/// The language that a client was heard to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tongue {
    /// TLS, with the version of its record layer, which an alert repeats.
    Tls([u8; 2]),
    /// HTTP/1.
    Http,
    /// None that an answer could be given in.
    Unknown,
}

impl Tongue {
    /// By the first bytes.
    pub(crate) fn of(prefix: &[u8]) -> Self {
        match (protocol::sniff(prefix), prefix) {
            (Sniff::Found(Protocol::Tls), [_, 3, minor @ 0..=4, ..]) => Tongue::Tls([3, *minor]),
            (Sniff::Found(Protocol::Tls), _) => Tongue::Tls([3, 3]),
            (Sniff::Found(Protocol::Http), _) => Tongue::Http,
            _ => Tongue::Unknown,
        }
    }
}

impl From<Tongue> for Kind {
    fn from(tongue: Tongue) -> Self {
        match tongue {
            Tongue::Tls(_) => Kind::Tls,
            Tongue::Http => Kind::Http,
            Tongue::Unknown => Kind::Tcp,
        }
    }
}

/// Tells a client that sent `prefix` why it is refused, and closes.
pub(crate) async fn refuse(client: Socket, prefix: &[u8], refusal: &Refusal) {
    let message = match Tongue::of(prefix) {
        Tongue::Tls(version) => alert(refusal.reason).map(|alert| record(version, alert).to_vec()),
        Tongue::Http => Some(Answer::new(refusal, prefix).into_bytes()),
        Tongue::Unknown => None,
    };
    // Dropping the socket resets the connection.
    let Some(message) = message else { return };
    say(&client, &message).await;
}

/// Writes the last words of a connection, which is then closed so that they are received. A client that does not take
/// them is reset.
pub(crate) async fn say(client: &Socket, message: &[u8]) {
    if let Ok(Ok(())) = timeout(TAKE, client.write_all(message)).await {
        farewell(client).await;
    }
}

/// Ends our side and hears the client out for a moment; dropping the socket then ends the connection in order.
pub(crate) async fn farewell(client: &Socket) {
    if client.shut_write().is_err() {
        return;
    }
    let mut heard = 0;
    let hear_out = async {
        while heard < DRAIN {
            match client.read_with(<[u8]>::len).await {
                Ok(0) | Err(_) => break,
                Ok(count) => heard += count,
            }
        }
    };
    // Late or not, closing is all that is left.
    let _ = timeout(DRAIN_TIME, hear_out).await;
    client.settle();
}

/// The description of the fatal alert (RFC 8446 section 6.2) for a reason; none where a reset says it better: clients
/// take a reset for a fault that may pass, and an alert for a verdict.
fn alert(reason: Reason) -> Option<u8> {
    const ACCESS_DENIED: u8 = 49;
    const DECODE_ERROR: u8 = 50;
    const MISSING_EXTENSION: u8 = 109;
    match reason {
        Reason::ResolveFailed | Reason::DialFailed | Reason::Limit | Reason::PhaseChanged => None,
        Reason::MalformedHello | Reason::HelloTooLarge | Reason::HelloTimeout => Some(DECODE_ERROR),
        // RFC 8446 section 9.2: what a server that needs a name answers.
        Reason::NoServerName => Some(MISSING_EXTENSION),
        _ => Some(ACCESS_DENIED),
    }
}

fn record([major, minor]: [u8; 2], description: u8) -> [u8; 7] {
    const ALERT: u8 = 21;
    const FATAL: u8 = 2;
    [ALERT, major, minor, 0, 2, FATAL, description]
}
