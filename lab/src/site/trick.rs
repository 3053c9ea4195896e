//! Answers that bend the rules.

use bytes::Bytes;
use hyper::header::{CONNECTION, HeaderValue, LOCATION};
use hyper::{Response, StatusCode, Version};

use super::{Body, body};
use crate::wire::Orders;

/// Octets that get through before a reset: a head, and some of the body.
const BEFORE_RESET: u64 = 64 * 1024;
const RESET_BODY: &[u8] = &[b'x'; 1024 * 1024];
const EARLY_HINTS: &[u8] = b"HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload; as=style\r\n\r\n";

pub(super) fn status(code: &str) -> Response<Body> {
    let code = code.parse().ok().filter(|code: &u16| (200..=599).contains(code));
    match code.and_then(|code| StatusCode::from_u16(code).ok()) {
        Some(status) => body::text(status, format!("{status}\n")),
        None => body::bad("/status/CODE, 200 to 599"),
    }
}

pub(super) fn redirect(to: Option<String>) -> Response<Body> {
    let Some(to) = to.and_then(|to| HeaderValue::from_str(&to).ok()) else {
        return body::bad("/redirect?to=URL");
    };
    let mut response = body::text(StatusCode::FOUND, "elsewhere\n");
    response.headers_mut().insert(LOCATION, to);
    response
}

/// A mebibyte is promised and 64 KiB are sent.
pub(super) fn reset(orders: &Orders, after: Option<String>) -> Response<Body> {
    orders.reset_after(after.and_then(|after| after.parse().ok()).unwrap_or(BEFORE_RESET));
    body::text(StatusCode::OK, Bytes::from_static(RESET_BODY))
}

pub(super) fn half_close(orders: &Orders) -> Response<Body> {
    orders.half_close();
    let mut response = body::text(StatusCode::OK, "I have said all I had to say\n");
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// RFC 8297. The HTTP library has no way to send interim answers, so this one goes round it, and HTTP/2 has to do
/// without.
pub(super) fn early_hints(orders: &Orders, version: Version) -> Response<Body> {
    if version == Version::HTTP_11 {
        orders.write_before(Bytes::from_static(EARLY_HINTS));
    }
    body::text(StatusCode::OK, "the page\n")
}
