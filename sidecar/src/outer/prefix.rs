//! The first bytes of a connection: read until they are evidence, with a bound and a deadline.

use std::io;

use closedbook_policy::{Evidence, Reason, Refusal};
use tokio::time::{Instant, timeout_at};

use super::limits::room::Stay;
use super::metrics::{Limit, Metrics};
use super::socket::Socket;
use crate::evidence::{FirstBytes, Sniff};

/// More than any hello or request head in use: post-quantum hellos have about 4 KiB.
pub(crate) const LIMIT: usize = 64 * 1024;

/// What a connection said first.
#[derive(Debug)]
pub(crate) struct Prefix {
    /// All bytes that were read, to be replayed.
    pub(crate) bytes: Vec<u8>,
    /// What they amount to.
    pub(crate) evidence: Result<Evidence, Refusal>,
    /// Whether the client closed without having asked for anything, as one does that connects ahead of need.
    pub(crate) unasked: bool,
}

/// Reads on until the bytes are evidence or refused, the peer ends, or the deadline is there. Slow drips do not
/// prolong it (G4). The place in the waiting room may be wanted for another before that, and what all guests hold is
/// bounded.
pub(crate) async fn read(client: &Socket, deadline: Instant, stay: &mut Stay, metrics: &Metrics) -> Prefix {
    let mut bytes = Vec::new();
    let mut first = FirstBytes::default();
    loop {
        let read = client.read_with(|news| {
            bytes.extend_from_slice(news);
            news.len()
        });
        let read = tokio::select! {
            biased;
            read = timeout_at(deadline, read) => read,
            () = stay.shown_out() => {
                let evidence = Err(metrics.hit(Limit::Hellos));
                return Prefix { bytes, evidence, unasked: false };
            }
        };
        let at_its_end = matches!(read, Ok(Ok(0)));
        let evidence = match read {
            Err(_) => Err(timeout(&bytes)),
            Ok(Ok(0)) => Err(ended(&bytes)),
            Ok(Err(error)) => Err(lost(&error)),
            Ok(Ok(count)) if !stay.holds(count) => Err(metrics.hit(Limit::HelloMemory)),
            Ok(Ok(_)) => match first.read(&bytes) {
                Sniff::Found(evidence) => Ok(evidence),
                Sniff::Refused(refusal) => Err(refusal),
                Sniff::Incomplete if bytes.len() >= LIMIT => Err(too_large()),
                Sniff::Incomplete => continue,
            },
        };
        stay.settled();
        let unasked = at_its_end && bytes.is_empty();
        return Prefix { bytes, evidence, unasked };
    }
}

fn timeout(bytes: &[u8]) -> Refusal {
    let detail = match bytes.len() {
        0 => "the client said nothing within the deadline".into(),
        count => format!("no whole ClientHello or request head within the deadline, only {count} bytes"),
    };
    Refusal::new(Reason::HelloTimeout, detail)
}

fn ended(bytes: &[u8]) -> Refusal {
    let detail = match bytes.len() {
        0 => "the client closed without having said anything".into(),
        count => format!("the client closed after {count} bytes, before a whole ClientHello or request head"),
    };
    Refusal::new(Reason::HelloTimeout, detail)
}

/// The client is gone before it had said what it wants.
pub(crate) fn lost(error: &io::Error) -> Refusal {
    Refusal::new(Reason::HelloTimeout, format!("the client is gone: {error}"))
}

fn too_large() -> Refusal {
    Refusal::new(Reason::HelloTooLarge, format!("no whole ClientHello or request head in {LIMIT} bytes"))
}
