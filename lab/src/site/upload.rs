//! Where request bodies go.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use ring::digest::{Context, SHA256};
use serde::Serialize;

use super::flow::Hash;
use super::request::Seen;
use super::{Body, body};
use crate::witness::hex;

#[derive(Serialize)]
struct Receipt {
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// Reads the body to its end, and says how much it was.
pub(super) async fn count(request: Request<Incoming>, hash: Hash) -> Response<Body> {
    let mut incoming = request.into_body();
    let mut context = (hash == Hash::Sent).then(|| Context::new(&SHA256));
    let mut bytes = 0;
    while let Some(frame) = incoming.frame().await {
        let Ok(frame) = frame else { return body::text(StatusCode::BAD_REQUEST, "the body broke off\n") };
        let Some(data) = frame.data_ref() else { continue };
        bytes += data.len() as u64;
        if let Some(context) = &mut context {
            context.update(data);
        }
    }
    let sha256 = context.map(|context| hex(context.finish().as_ref()));
    body::json(&Receipt { bytes, sha256 })
}

/// RFC 9110 section 10.1.1. The HTTP library sends 100 when the body is first asked for, so not asking refuses it.
pub(super) async fn expect(request: Request<Incoming>, seen: &Seen) -> Response<Body> {
    if seen.parameter("refuse").is_some() {
        return body::text(StatusCode::EXPECTATION_FAILED, "no, thank you\n");
    }
    count(request, Hash::Sent).await
}
