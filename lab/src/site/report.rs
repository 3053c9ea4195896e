//! The default answer: what the server saw.

use hyper::{Request, Response};
use serde::Serialize;

use super::request::Seen;
use super::{Body, Visit, body};

#[derive(Serialize)]
struct Report<'a> {
    host: &'a str,
    sni: Option<&'a str>,
    path: &'a str,
    method: &'a str,
    scheme: &'static str,
    version: String,
    alpn: Option<&'a str>,
    peer: String,
    local: String,
    nonce: Option<&'a str>,
    proof: Option<String>,
    headers: Vec<(&'a str, String)>,
}

pub(super) fn of<B>(request: &Request<B>, seen: &Seen, visit: &Visit) -> Response<Body> {
    let nonce = seen.nonce.as_deref();
    let headers = request.headers().iter();
    body::json(&Report {
        host: &seen.host,
        sni: visit.server_name(),
        path: request.uri().path(),
        method: request.method().as_str(),
        scheme: if visit.tls.is_some() { "https" } else { "http" },
        version: format!("{:?}", request.version()),
        alpn: visit.alpn(),
        peer: visit.peer.to_string(),
        local: visit.local.to_string(),
        nonce,
        proof: nonce.map(|nonce| visit.lab.witness.proof(nonce)),
        headers: headers
            .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes()).into()))
            .collect(),
    })
}
