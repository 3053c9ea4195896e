//! Which protocol the first bytes of a connection speak.

use closedbook_policy::{Reason, Refusal};
use thiserror::Error;

use super::Sniff;

/// Octets of the longest method that is taken for HTTP. The longest in the IANA registry has 17.
pub const MAX_METHOD: usize = 32;

/// A protocol that can name its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// A TLS record of type handshake.
    Tls,
    /// A token and a blank: the beginning of an HTTP/1 request line, or of the HTTP/2 preface, which
    /// [`http::Gate`](super::http::Gate) refuses by name.
    Http,
}

/// What the first bytes are when they are neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Neither {
    /// A TLS record before any handshake.
    #[error("the first TLS record is not a handshake but of type {0}")]
    NotHandshake(u8),
    /// A ClientHello in the SSL 2.0 form, which has no place for a server name.
    #[error("an SSL 2.0 hello")]
    Ssl2,
    /// The banner of a client that speaks SSH.
    #[error("an SSH banner")]
    Ssh,
    /// An empty line, which RFC 9112 section 2.2 lets a server skip; nothing that is in use sends one first.
    #[error("an empty line before the request line")]
    EmptyLine,
    /// A token that goes on and on.
    #[error("a method of more than {MAX_METHOD} octets")]
    LongMethod,
    /// A byte that neither begins a TLS record nor belongs to a method.
    #[error("the first bytes are neither TLS nor HTTP, byte {0:#04x}")]
    Byte(u8),
}

impl From<Neither> for Refusal {
    fn from(neither: Neither) -> Self {
        Refusal::new(Reason::NotTlsOrHttp, neither.to_string())
    }
}

/// Tells the protocol by the first bytes. Looks at no more than [`MAX_METHOD`] + 1 of them.
pub fn sniff(bytes: &[u8]) -> Sniff<Protocol> {
    match classify(bytes) {
        Ok(None) => Sniff::Incomplete,
        Ok(Some(protocol)) => Sniff::Found(protocol),
        Err(neither) => Sniff::Refused(neither.into()),
    }
}

fn classify(bytes: &[u8]) -> Result<Option<Protocol>, Neither> {
    match *bytes {
        [] => Ok(None),
        [22, ..] => Ok(Some(Protocol::Tls)),
        // Change cipher spec, alert, application data, heartbeat (RFC 8446 section 5.1, RFC 6520).
        [20 | 21 | 23 | 24] => Ok(None),
        [kind @ (20 | 21 | 23 | 24), 3, ..] => Err(Neither::NotHandshake(kind)),
        // Only the two-octet header with its high bit set announces a hello (RFC 6101 appendix E).
        [first, ref rest @ ..] if first & 0x80 != 0 && ssl2_so_far(rest) => match rest.len() {
            0..3 => Ok(None),
            _ => Err(Neither::Ssl2),
        },
        [b'\r' | b'\n', ..] => Err(Neither::EmptyLine),
        [b'S', b'S', b'H', b'-', ..] => Err(Neither::Ssh),
        _ => method(bytes),
    }
}

/// Length, message type 1, and a version of 0.2 (SSL 2.0 itself) or 3.x.
fn ssl2_so_far(rest: &[u8]) -> bool {
    matches!(rest, [] | [_] | [_, 1] | [_, 1, 0 | 3, ..])
}

fn method(bytes: &[u8]) -> Result<Option<Protocol>, Neither> {
    match bytes.iter().take(MAX_METHOD + 1).position(|byte| !is_token(*byte)) {
        Some(end) if end > 0 && bytes.get(end) == Some(&b' ') => Ok(Some(Protocol::Http)),
        Some(end) => Err(Neither::Byte(bytes.get(end).copied().unwrap_or_default())),
        None if bytes.len() > MAX_METHOD => Err(Neither::LongMethod),
        None => Ok(None),
    }
}

/// `tchar` of RFC 9110 section 5.6.2.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8]) -> Result<Option<Protocol>, Neither> {
        classify(bytes)
    }

    /// G4: what is neither TLS nor HTTP is refused, each form by its own name.
    #[test]
    fn forms() {
        assert_eq!(told(b""), Ok(None));
        assert_eq!(told(&[22]), Ok(Some(Protocol::Tls)));
        for method in ["GET ", "PROPFIND ", "get ", "M-SEARCH ", "PRI ", "BASELINE-CONTROL ", "a ", "* "] {
            assert_eq!(told(method.as_bytes()), Ok(Some(Protocol::Http)), "{method}");
        }
        for kind in [20, 21, 23, 24] {
            assert_eq!(told(&[kind]), Ok(None));
            assert_eq!(told(&[kind, 3, 1]), Err(Neither::NotHandshake(kind)));
            assert_eq!(told(&[kind, 4]), Err(Neither::Byte(kind)));
        }
        assert_eq!(told(&[0x80, 0x2e, 1, 0, 2]), Err(Neither::Ssl2));
        assert_eq!(told(&[0x80, 0x2e, 1, 3, 1]), Err(Neither::Ssl2));
        assert_eq!(told(&[0x80, 0x2e, 1]), Ok(None));
        assert_eq!(told(&[0x80, 0x2e, 4]), Err(Neither::Byte(0x80)));
        assert_eq!(told(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n"), Err(Neither::Ssh));
        assert_eq!(told(b"\r\nGET / HTTP/1.1\r\n"), Err(Neither::EmptyLine));
        assert_eq!(told(b"\nGET / HTTP/1.1\r\n"), Err(Neither::EmptyLine));
        assert_eq!(told(b" GET"), Err(Neither::Byte(b' ')));
        assert_eq!(told(b"GET\t/"), Err(Neither::Byte(b'\t')));
        assert_eq!(told(b"GET\r\n"), Err(Neither::Byte(b'\r')));
        assert_eq!(told(&[0, 0, 0, 8, 4, 210, 22, 47]), Err(Neither::Byte(0)), "PostgreSQL SSLRequest");
        assert_eq!(told(&[5, 1, 0]), Err(Neither::Byte(5)), "SOCKS 5");
        assert_eq!(told(&[b'A'; MAX_METHOD]), Ok(None));
        assert_eq!(told(&[b'A'; MAX_METHOD + 1]), Err(Neither::LongMethod));
        let longest = [&[b'A'; MAX_METHOD][..], b" "].concat();
        assert_eq!(told(&longest), Ok(Some(Protocol::Http)));
    }

    /// G4: more bytes never change what was told, for every first two bytes there are.
    #[test]
    fn stable() {
        for first in 0..=255u8 {
            for second in 0..=255u8 {
                let tail = [first, second, 1, 3, b' ', b'/', b' '];
                let mut verdict = Ok(None);
                for end in 0..=tail.len() {
                    let now = told(&tail[..end]);
                    assert!(verdict == Ok(None) || verdict == now, "{:?}", &tail[..end]);
                    verdict = now;
                }
            }
        }
    }
}
