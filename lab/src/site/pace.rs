//! Answers that take their time.

use std::time::Duration;

use http_body_util::{BodyExt, Channel};
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use tokio::time::sleep;

use super::{Body, body, seconds};

/// Longest stream of single octets or events.
const MOST: u64 = 1_000_000;

/// The head now, the body later.
pub(super) fn silent(delay: &str) -> Response<Body> {
    let Some(delay) = seconds(delay) else { return body::bad("/silent/SECONDS") };
    let (mut sender, channel) = Channel::new(1);
    // A client that has gone away closes the channel.
    tokio::spawn(async move {
        sleep(delay).await;
        let _ = sender.send_data(Bytes::from_static(b"after the silence\n")).await;
    });
    body::typed(StatusCode::OK, "text/plain; charset=utf-8", boxed(channel))
}

/// Nothing now.
pub(super) async fn slow_head(delay: &str) -> Response<Body> {
    let Some(delay) = seconds(delay) else { return body::bad("/slow-head/SECONDS") };
    sleep(delay).await;
    body::text(StatusCode::OK, "at last\n")
}

/// An octet at a time.
pub(super) fn drip(count: &str, pause: &str) -> Response<Body> {
    let (Some(count), Some(pause)) = (amount(count), milliseconds(pause)) else {
        return body::bad("/drip/COUNT/MILLISECONDS");
    };
    let pieces = (0..count).map(|turn| Bytes::from(vec![b'a' + (turn % 26) as u8]));
    body::typed(StatusCode::OK, "text/plain; charset=utf-8", paced(pieces, pause))
}

/// Server-sent events (WHATWG HTML, section 9.2), numbered, with one to end them.
pub(super) fn events(count: &str, pause: &str) -> Response<Body> {
    let (Some(count), Some(pause)) = (amount(count), milliseconds(pause)) else {
        return body::bad("/sse/COUNT?ms=MILLISECONDS");
    };
    let pieces = (0..count).map(|turn| Bytes::from(format!("id: {turn}\ndata: {{\"turn\":{turn}}}\n\n")));
    let pieces = pieces.chain([Bytes::from_static(b"event: done\ndata: {}\n\n")]);
    body::typed(StatusCode::OK, "text/event-stream", paced(pieces, pause))
}

/// Pieces with a pause before each but the first.
pub(super) fn paced(pieces: impl Iterator<Item = Bytes> + Send + 'static, pause: Duration) -> Body {
    let (mut sender, channel) = Channel::new(1);
    tokio::spawn(async move {
        for (turn, piece) in pieces.enumerate() {
            if turn > 0 && !pause.is_zero() {
                sleep(pause).await;
            }
            if sender.send_data(piece).await.is_err() {
                return;
            }
        }
    });
    boxed(channel)
}

fn boxed(channel: Channel<Bytes>) -> Body {
    channel.map_err(|never| match never {}).boxed_unsync()
}

fn amount(text: &str) -> Option<u64> {
    text.parse().ok().filter(|count| *count <= MOST)
}

fn milliseconds(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|count| *count <= 3_600_000).map(Duration::from_millis)
}
