//! Requests that hide in requests. Where a head says in two ways where its message ends, or in none that is valid, two
//! readers end it at two places (RFC 9112 section 11.2). The site's own reader is a strict one, and would never see what a
//! less strict one takes for a second request; so the witness stands in for that one too, and writes it down.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use crate::lab::Lab;
use crate::witness::{Arrival, Kind};

/// What comes later than this, in all, belongs to no message that has begun.
const REST: Duration = Duration::from_millis(150);
/// Octets that are looked at.
const MOST: usize = 64 * 1024;
const END: &[u8] = b"\r\n\r\n";

/// Looks at what a connection begins with, and waits a little for its rest if its head is ambiguous. What was read is in
/// `prefix`, for the site's own reader.
pub(crate) async fn look(
    stream: &mut (impl AsyncRead + Unpin),
    prefix: &mut BytesMut,
    (local, peer): (SocketAddr, SocketAddr),
    lab: &Lab,
) {
    let Some(head) = head(prefix) else { return };
    if !is_ambiguous(head) {
        return;
    }
    let behind = head.len();
    let _ = timeout(REST, async {
        while prefix.len() < MOST && stream.read_buf(prefix).await.is_ok_and(|count| count > 0) {}
    })
    .await;
    for (line, host, octets) in requests(prefix.get(behind..).unwrap_or_default()) {
        let seen = Arrival::new(Kind::Http, octets).between(local, peer).detailed(format!("hidden: {line}"));
        lab.witness.add(match host {
            Some(host) => seen.named(host),
            None => seen,
        });
    }
}

/// The head, with the empty line that ends it. One that comes in pieces is nobody's who hides something.
fn head(octets: &[u8]) -> Option<&[u8]> {
    let end = octets.windows(END.len()).position(|window| window == END)?;
    octets.get(..end + END.len())
}

/// Whether readers may differ about where the message ends.
fn is_ambiguous(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let lines = || text.split("\r\n").skip(1).filter(|line| !line.is_empty());
    let field = |wanted: &'static str| {
        lines().filter_map(move |line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim_matches([' ', '\t']).to_owned())
        })
    };
    let (lengths, codings) = (field("content-length"), field("transfer-encoding"));
    let (lengths, codings): (Vec<_>, Vec<_>) = (lengths.collect(), codings.collect());
    let is_number = |text: &String| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let folded = lines().any(|line| line.starts_with([' ', '\t']));
    let loose = lines().any(|line| {
        let name = line.split(':').next().unwrap_or_default();
        name.ends_with([' ', '\t']) || line.contains(['\r', '\n'])
    });
    lengths.len() + codings.len() > 1
        || !lengths.iter().all(is_number)
        || !codings.iter().all(|coding| coding.eq_ignore_ascii_case("chunked"))
        || folded
        || loose
}

/// Everything that a reader might take for a request: its first line, its host, and its octets.
fn requests(octets: &[u8]) -> Vec<(String, Option<String>, &[u8])> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in octets.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        let words: Vec<&str> = text.split_whitespace().collect();
        if let [method, _, version] = words.as_slice()
            && method.bytes().all(|byte| byte.is_ascii_uppercase())
            && version.starts_with("HTTP/1.")
        {
            let rest = octets.get(at..).unwrap_or_default();
            found.push((text.trim_end().to_owned(), host(rest), rest));
        }
        at += line.len();
    }
    found
}

fn host(octets: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(octets);
    text.lines().skip(1).take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ambiguous(fields: &str) -> bool {
        is_ambiguous(format!("POST / HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n").as_bytes())
    }

    #[test]
    fn a_message_that_ends_in_one_place_hides_nothing() {
        for fields in ["", "Content-Length: 5\r\n", "transfer-encoding:  Chunked\t\r\n", "X-Length: 1\r\n"] {
            assert!(!ambiguous(fields), "{fields:?}");
        }
    }

    #[test]
    fn two_ends_are_ambiguous() {
        for fields in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: 5, 5\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding : chunked\r\n",
            "Transfer-Encoding:\r\n chunked\r\n",
            "X: a\nContent-Length: 5\r\n",
        ] {
            assert!(ambiguous(fields), "{fields:?}");
        }
    }

    #[test]
    fn what_hides_is_found_with_its_host() {
        let body = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nX: y\r\nHost: b.test\r\n\r\nrest GET x";
        let found = requests(body);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].0.as_str(), found[0].1.as_deref()), ("GET /hidden HTTP/1.1", Some("b.test")));
        assert!(found[0].2.starts_with(b"GET /hidden"));
    }
}
