//! What a message says to the next hop only, which is us (RFC 9110 section 7.6.1).

use closedbook_policy::{Host, Request};
use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};
use std::net::IpAddr;

/// Fields that end here, whether Connection names them or not.
const HOP_BY_HOP: [HeaderName; 7] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    HeaderName::from_static("http2-settings"),
];

/// Takes them out, and what Connection names. Returns whether the body was chunked.
pub(super) fn end_here(headers: &mut HeaderMap) -> bool {
    let chunked = headers.contains_key(header::TRANSFER_ENCODING);
    let named: Vec<HeaderName> =
        list(headers, &header::CONNECTION).filter_map(|name| name.parse().ok()).collect();
    for name in HOP_BY_HOP.iter().chain(&named) {
        headers.remove(name);
    }
    chunked
}

/// Makes the fields of a request ours: the host that was decided upon, and nothing that was meant for us.
pub(super) fn for_server(headers: &mut HeaderMap, request: &Request) {
    let trailers = list(headers, &header::TE).any(|coding| coding.eq_ignore_ascii_case("trailers"));
    if end_here(headers) {
        // Said outright: for some methods hyper would take a body of unknown length for none.
        headers.insert(header::TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
    }
    if trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("te"));
    }
    if let Ok(host) = HeaderValue::try_from(authority(request)) {
        headers.insert(header::HOST, host);
    }
}

/// Says that a message asks for, or agrees to, a websocket.
pub(super) fn to_websocket(headers: &mut HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
}

/// Whether the body is coded for the hop in a way that is not undone here.
pub(super) fn is_coded(headers: &HeaderMap) -> bool {
    list(headers, &header::TRANSFER_ENCODING).any(|coding| !coding.eq_ignore_ascii_case("chunked"))
}

/// Whether the client waits for a word before it sends its body.
pub(super) fn expects_continue(headers: &HeaderMap) -> bool {
    headers.contains_key(header::EXPECT)
}

/// The host and port as Host writes them.
pub(super) fn authority(request: &Request) -> String {
    let host = match &request.host {
        Host::Address(IpAddr::V6(address)) => format!("[{address}]"),
        host => host.to_string(),
    };
    match request.port {
        Some(port) => format!("{host}:{port}"),
        None => host,
    }
}

fn list<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|item| !item.is_empty())
}
