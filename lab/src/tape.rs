//! What models were asked: every request to a model's path, whole, for whoever owns the lab.
//!
//! Whether a client offers a tool to its model stands in what it sends, and often not in its list of tools alone, so
//! nothing of a body is left out. Credentials are: nobody needs them, and a record outlives its lab.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::Request;
use hyper::header::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Octets of requests that are kept. A turn of an agent is some 100 KB.
const LIMIT: usize = 64 * 1024 * 1024;
/// What a request costs besides its octets.
const OVERHEAD: usize = 512;
/// What stands in the place of a credential.
const NOT_KEPT: &str = "(not kept)";
/// Parts of the names of headers and parameters that carry credentials.
const SECRET: [&str; 5] = ["authorization", "cookie", "key", "secret", "token"];

/// The record of one lab. Cheap to clone; all clones are the same record.
#[derive(Clone, Default)]
pub(crate) struct Tape(Arc<Mutex<Reel>>);

#[derive(Default)]
struct Reel {
    requests: Vec<Kept>,
    octets: usize,
    dropped: u64,
}

/// The outside of a request, taken before its body is read.
pub(crate) struct Head {
    method: String,
    host: String,
    path: String,
    headers: Vec<(String, String)>,
}

struct Kept {
    head: Head,
    body: Bytes,
}

/// Everything that models were asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// The requests, in the order in which they were whole.
    pub requests: Vec<Taped>,
    /// Requests that found no room. With any dropped, absence proves nothing.
    pub dropped: u64,
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Taped {
    /// GET, POST.
    pub method: String,
    /// As the client wrote it.
    pub host: String,
    /// With the query, which has no credentials.
    pub path: String,
    /// Names in lower case; the values of credentials are left out.
    pub headers: Vec<(String, String)>,
    /// The length of the body.
    pub octets: usize,
    /// What the body is.
    #[serde(flatten)]
    pub body: Said,
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "form", content = "body")]
pub enum Said {
    /// There is none.
    Nothing,
    /// JSON.
    Json(Value),
    /// Text that is no JSON.
    Text(String),
    /// Something else: compressed, encrypted, binary.
    Octets,
}

impl Head {
    pub(crate) fn of<B>(request: &Request<B>, host: &str) -> Self {
        let uri = request.uri();
        let path = match uri.query() {
            None => uri.path().to_owned(),
            Some(query) => format!("{}?{}", uri.path(), without_secrets(query)),
        };
        let headers = headers(request.headers());
        Self { method: request.method().to_string(), host: host.to_owned(), path, headers }
    }

    fn octets(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        self.method.len() + self.host.len() + self.path.len() + headers
    }
}

impl Tape {
    pub(crate) fn add(&self, head: Head, body: Bytes) {
        let mut reel = self.reel();
        let octets = head.octets() + body.len() + OVERHEAD;
        if octets > LIMIT.saturating_sub(reel.octets) {
            reel.dropped += 1;
            return;
        }
        reel.octets += octets;
        reel.requests.push(Kept { head, body });
    }

    /// Counts a request whose body could not be read to its end.
    pub(crate) fn drop_one(&self) {
        self.reel().dropped += 1;
    }

    pub(crate) fn recording(&self) -> Recording {
        let reel = self.reel();
        Recording { requests: reel.requests.iter().map(Kept::told).collect(), dropped: reel.dropped }
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn told(&self) -> Taped {
        let Head { method, host, path, headers } = &self.head;
        Taped {
            method: method.clone(),
            host: host.clone(),
            path: path.clone(),
            headers: headers.clone(),
            octets: self.body.len(),
            body: Said::of(&self.body),
        }
    }
}

impl Said {
    fn of(body: &[u8]) -> Self {
        if body.is_empty() {
            return Said::Nothing;
        }
        match (serde_json::from_slice(body), str::from_utf8(body)) {
            (Ok(value), _) => Said::Json(value),
            (Err(_), Ok(text)) => Said::Text(text.to_owned()),
            (Err(_), Err(_)) => Said::Octets,
        }
    }
}

fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let one = |name: &str, value: &[u8]| {
        let value = if is_secret(name) { NOT_KEPT.into() } else { String::from_utf8_lossy(value) };
        (name.to_owned(), value.into_owned())
    };
    headers.iter().map(|(name, value)| one(name.as_str(), value.as_bytes())).collect()
}

fn without_secrets(query: &str) -> String {
    let one = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}={NOT_KEPT}"),
        _ => pair.to_owned(),
    };
    query.split('&').map(one).collect::<Vec<_>>().join("&")
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(uri: &str) -> Head {
        let request =
            Request::post(uri).header("Authorization", "Bearer s3cret").header("X-Api-Key", "s3cret");
        Head::of(&request.header("x-app", "cli").body(()).unwrap(), "api.example")
    }

    #[test]
    fn credentials_are_left_out() {
        let tape = Tape::default();
        tape.add(head("/v1beta/m:generateContent?alt=sse&key=s3cret"), Bytes::from_static(b"{\"a\":1}"));
        let text = serde_json::to_string(&tape.recording()).unwrap();
        assert!(!text.contains("s3cret"), "{text}");
        assert!(text.contains(r#""path":"/v1beta/m:generateContent?alt=sse&key=(not kept)""#), "{text}");
        assert!(
            text.contains(r#"["x-app","cli"]"#) && text.contains(r#""form":"json","body":{"a":1}"#),
            "{text}"
        );
    }

    #[test]
    fn bodies_are_what_they_are() {
        let said = |body: &'static [u8]| Said::of(body);
        assert_eq!(said(b""), Said::Nothing);
        assert_eq!(said(b"[1]"), Said::Json(serde_json::json!([1])));
        assert_eq!(said(b"{"), Said::Text("{".into()));
        assert_eq!(said(b"\x28\xb5\x2f\xfd"), Said::Octets);
    }

    /// G16: whoever asks much does not fill memory, and it is known that something is missing.
    #[test]
    fn what_finds_no_room_is_counted() {
        let tape = Tape::default();
        tape.add(head("/v1/messages"), Bytes::from(vec![b'x'; LIMIT / 2]));
        tape.add(head("/v1/messages"), Bytes::from(vec![b'x'; LIMIT]));
        tape.add(head("/v1/messages"), Bytes::from_static(b"{}"));
        let recording = tape.recording();
        assert_eq!((recording.requests.len(), recording.dropped), (2, 1));
    }
}
