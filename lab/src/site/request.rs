//! What a request says, in the form the witness, the headers and the handlers want it.

use std::fmt::Write as _;

use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Request, Version};

use super::Visit;
use crate::witness::{Arrival, Kind, find_nonce};

/// Headers that may carry a nonce, beside the query and the rest of the request.
const NONCE_HEADERS: [&str; 3] = ["x-lab-nonce", "x-nonce", "nonce"];
/// Octets of a request's head that are written down. The witness keeps fewer, but looks for a nonce in all.
const HEAD_LIMIT: usize = 16 * 1024;

/// The outside of a request.
pub(super) struct Seen {
    /// As the client wrote it, port and all; empty if it named none.
    pub(super) host: String,
    pub(super) nonce: Option<String>,
    query: String,
    head: String,
}

impl Seen {
    pub(super) fn of<B>(request: &Request<B>, visit: &Visit) -> Self {
        let headers = request.headers();
        // HTTP/2 puts the host in :authority (RFC 9113 section 8.3.1).
        let host =
            headers.get(HOST).map(text).or_else(|| request.uri().authority().map(|one| one.to_string()));
        let head = head(request);
        let query = request.uri().query().unwrap_or_default().to_owned();
        let given = NONCE_HEADERS.iter().find_map(|name| headers.get(*name)).map(text);
        let nonce = given
            .or_else(|| parameter(&query, "nonce"))
            .or_else(|| find_nonce(head.as_bytes()))
            .or_else(|| visit.server_name().and_then(|name| find_nonce(name.as_bytes())));
        Self { host: host.unwrap_or_default(), nonce, query, head }
    }

    /// The host without its port.
    pub(super) fn host_name(&self) -> &str {
        match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.host,
        }
    }

    /// A parameter of the query, decoded; empty if it has no value.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        parameter(&self.query, name)
    }

    pub(super) fn arrival(&self, visit: &Visit) -> Arrival {
        let line = self.head.lines().next().unwrap_or_default().to_owned();
        Arrival::new(Kind::Http, self.head.as_bytes())
            .between(visit.local, visit.peer)
            .named(&self.host)
            .detailed(line)
            .with_nonce(self.nonce.as_deref())
    }

    /// What every answer carries.
    pub(super) fn stamp(&self, visit: &Visit, headers: &mut HeaderMap) {
        let mut put = |name: &'static str, value: &str| {
            // A host with octets that no header may hold is left out.
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        put("x-lab-host", &self.host);
        put("x-lab-sni", visit.server_name().unwrap_or("-"));
        if let Some(nonce) = &self.nonce {
            put("x-lab-nonce", nonce);
            put("x-lab-proof", &visit.lab.witness.proof(nonce));
        }
    }
}

fn head<B>(request: &Request<B>) -> String {
    let version = match request.version() {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        _ => "HTTP/1.1",
    };
    let mut head = format!("{} {} {version}\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        if head.len() > HEAD_LIMIT {
            break;
        }
        // Writing to a String can't fail.
        let _ = writeln!(head, "{name}: {}", String::from_utf8_lossy(value.as_bytes()));
    }
    head
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn parameter(query: &str, name: &str) -> Option<String> {
    query.split('&').find_map(|pair| match pair.split_once('=') {
        Some((key, value)) => (key == name).then(|| decode(value)),
        None => (pair == name).then(String::new),
    })
}

/// RFC 3986 section 2.1; what is no escape stands for itself.
fn decode(text: &str) -> String {
    let mut octets = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        match (*first, after) {
            (b'%', [high, low, beyond @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                octets.push(digit(*high) * 16 + digit(*low));
                rest = beyond;
            }
            (other, _) => {
                octets.push(other);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&octets).into_owned()
}

fn digit(hex: u8) -> u8 {
    // The caller has seen that it is one.
    char::from(hex).to_digit(16).and_then(|digit| u8::try_from(digit).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_nothing_is_guessed() {
        assert_eq!(parameter("to=https%3A%2F%2Fa%2Fb%3Fc&x", "to").as_deref(), Some("https://a/b?c"));
        assert_eq!(parameter("to=1&x", "x").as_deref(), Some(""));
        assert_eq!(parameter("to=1&x", "y"), None);
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%e2%82%ac"), "€");
        assert_eq!(decode("%ff"), "\u{fffd}");
    }
}
