//! Bodies without an end in sight.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};

use super::request::Seen;
use super::{Body, body, pattern};

const SHA256: HeaderName = HeaderName::from_static("x-lab-sha256");
/// Octets handed to the kernel at once.
const PIECE: u64 = 512 * 1024;

/// Whether the hash of a bulk transfer is worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sent,
    Absent,
}

impl Hash {
    pub(super) fn wanted(seen: &Seen) -> Self {
        if seen.parameter("sha256").as_deref() == Some("no") { Self::Absent } else { Self::Sent }
    }
}

/// The first `count` octets of the pattern.
pub(super) async fn bytes(count: u64, hash: Hash) -> Response<Body> {
    let stream = Stream::of(count).map_err(|never| match never {}).boxed_unsync();
    let mut response = body::typed(StatusCode::OK, "application/octet-stream", stream);
    if hash == Hash::Sent {
        // The head can't go before the hash is known; other connections go on meanwhile.
        let hash = tokio::task::spawn_blocking(move || pattern::sha256(count)).await.ok();
        if let Some(value) = hash.and_then(|hash| HeaderValue::from_str(&hash).ok()) {
            response.headers_mut().insert(SHA256, value);
        }
    }
    response
}

/// The request's body, as it comes.
pub(super) fn echo(request: Request<Incoming>) -> Response<Body> {
    let media = request.headers().get(CONTENT_TYPE).cloned();
    let mut response = Response::new(request.into_body().boxed_unsync());
    if let Some(media) = media {
        response.headers_mut().insert(CONTENT_TYPE, media);
    }
    response
}

/// The pattern as a body of known length.
pub(crate) struct Stream {
    offset: u64,
    left: u64,
}

impl Stream {
    /// The first `count` octets.
    pub(crate) fn of(count: u64) -> Self {
        Self { offset: 0, left: count }
    }
}

impl HttpBody for Stream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let piece = pattern::piece(self.offset, PIECE.min(self.left));
        self.offset += piece.len() as u64;
        self.left -= piece.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
