//! Answers in one piece, and what they are made of.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;

use super::Body;

/// A body of these octets.
pub(super) fn full(octets: impl Into<Bytes>) -> Body {
    Full::new(octets.into()).map_err(|never| match never {}).boxed_unsync()
}

/// An answer of a media type.
pub(super) fn typed(status: StatusCode, media: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
    response
}

pub(super) fn text(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    typed(status, "text/plain; charset=utf-8", full(text))
}

pub(super) fn json(value: &impl Serialize) -> Response<Body> {
    // Plain data with string keys; it can't fail to be written.
    let mut octets = serde_json::to_vec(value).unwrap_or_default();
    octets.push(b'\n');
    typed(StatusCode::OK, "application/json", full(octets))
}

/// 400, naming the form that was expected.
pub(super) fn bad(form: &'static str) -> Response<Body> {
    text(StatusCode::BAD_REQUEST, format!("expected {form}\n"))
}
