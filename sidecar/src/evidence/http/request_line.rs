//! The request line (RFC 9112 section 3).

use super::super::protocol::{MAX_METHOD, is_token};
use super::HttpError;

/// What of a request line matters later on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestLine {
    pub(super) get: bool,
    pub(super) version: Version,
}

/// The version of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Http10,
    Http11,
}

/// Method, target and version with one blank between them; the target in origin-form.
pub(super) fn read(line: &[u8]) -> Result<RequestLine, HttpError> {
    let mut parts = line.split(|byte| *byte == b' ');
    let (method, target, version) = match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some([]), None, ..) => return Err(HttpError::EmptyLine),
        (Some(_), None, ..) => return Err(HttpError::RequestLine),
        (Some(_), Some(_), None, _) => return Err(HttpError::NoVersion),
        (Some(method), Some(target), Some(version), None) => (method, target, version),
        _ => return Err(HttpError::RequestLine),
    };
    check_method(method)?;
    check_target(target)?;
    let version = match version {
        b"HTTP/1.1" => Version::Http11,
        b"HTTP/1.0" => Version::Http10,
        _ => return Err(HttpError::Version),
    };
    Ok(RequestLine { get: method == b"GET", version })
}

fn check_method(method: &[u8]) -> Result<(), HttpError> {
    if method.is_empty() || method.len() > MAX_METHOD || !method.iter().copied().all(is_token) {
        return Err(HttpError::Method);
    }
    // Methods are case-sensitive, but not to every server.
    if method.eq_ignore_ascii_case(b"CONNECT") {
        return Err(HttpError::Connect);
    }
    if method.eq_ignore_ascii_case(b"TRACE") {
        return Err(HttpError::Trace);
    }
    if method.eq_ignore_ascii_case(b"PRI") {
        return Err(HttpError::Http2Preface);
    }
    Ok(())
}

fn check_target(target: &[u8]) -> Result<(), HttpError> {
    match target {
        [] => Err(HttpError::RequestLine),
        b"*" => Err(HttpError::AsteriskForm),
        [b'/', ..] => {
            let query = target.iter().position(|byte| *byte == b'?').unwrap_or(target.len());
            let strange = |(at, byte): (usize, &u8)| {
                let fits = if at < query { in_path(*byte) } else { in_query(*byte) };
                (!fits).then_some(*byte)
            };
            target.iter().enumerate().find_map(strange).map_or(Ok(()), |byte| Err(HttpError::Target(byte)))
        }
        _ if target.windows(3).any(|three| three == b"://") => Err(HttpError::AbsoluteForm),
        _ => Err(HttpError::AuthorityForm),
    }
}

/// Wider than RFC 3986 by what clients send as it is (JSON in paths, to begin with) and no server takes for the end
/// of the target; no wider than what the HTTP implementation behind the gate reads.
fn in_path(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'#' | b'<' | b'>' | b'`')
}

fn in_query(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'#' | b'<' | b'>' | b'"')
}
