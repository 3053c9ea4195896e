//! Strict HTTP/1 (RFC 9112) in front of an HTTP implementation that is made to be liberal.
//!
//! The [`Gate`] reads along the bytes of a connection and lets none pass that belongs to a request which was not
//! judged: every request of a kept connection, pipelined ones too, is found by the gate's own count of the body
//! before it, and everything that could be counted in two ways is refused (G5).

mod body;
mod error;
mod fields;
mod gate;
mod head;
mod host;
mod lines;
mod request_line;
#[cfg(test)]
mod tests;

use closedbook_policy::Request;

use super::Sniff;

pub use body::MAX_TRAILERS;
pub use error::HttpError;
pub use fields::MAX_FIELDS;
pub use gate::{Gate, Place, Step};
pub use head::MAX_HEAD;

/// Reads the head of the first request of a connection.
///
/// Where bytes are still arriving, [`Gate`] does the same without beginning anew each time.
pub fn sniff_head(bytes: &[u8]) -> Sniff<Request> {
    match Gate::default().next(bytes) {
        Ok(Step::Head { request, .. }) => Sniff::Found(request),
        Ok(_) => Sniff::Incomplete,
        Err(refusal) => Sniff::Refused(refusal),
    }
}
