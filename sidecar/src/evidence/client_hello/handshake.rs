//! The handshake message and the fields of a ClientHello before its extensions.

use closedbook_policy::Hello;

use super::super::cursor::Cursor;
use super::{HelloError, MAX_HELLO, Part, extensions};

const CLIENT_HELLO: u8 = 1;

/// A whole handshake message.
pub(super) struct Whole<'a> {
    pub(super) body: &'a [u8],
    /// What came after it.
    pub(super) after: &'a [u8],
}

/// The first handshake message, once it is whole.
pub(super) fn whole(message: &[u8]) -> Result<Option<Whole<'_>>, HelloError> {
    let (length, rest) = match message {
        [] | [CLIENT_HELLO] | [CLIENT_HELLO, _] | [CLIENT_HELLO, _, _] => return Ok(None),
        [CLIENT_HELLO, a, b, c, rest @ ..] => (u32::from_be_bytes([0, *a, *b, *c]), rest),
        [kind, ..] => return Err(HelloError::MessageType(*kind)),
    };
    let length = usize::try_from(length).map_err(|_| HelloError::TooLarge)?;
    // Known to be too large as soon as it says so, long before the bytes come.
    if length > MAX_HELLO {
        return Err(HelloError::TooLarge);
    }
    Ok(rest.split_at_checked(length).map(|(body, after)| Whole { body, after }))
}

/// Reads the body of a ClientHello.
pub(super) fn client_hello(body: &[u8]) -> Result<Hello, HelloError> {
    let mut body = Cursor::new(body);
    let ends = |part| HelloError::Ends(part);

    let version = body.u16().ok_or(ends(Part::Version))?;
    // SSL 3.0 to TLS 1.3 all say 3.x; 0xfeff and 0xfefd would be DTLS, which does not run over TCP.
    if version >> 8 != 3 {
        return Err(HelloError::Version(version));
    }
    body.take(32).ok_or(ends(Part::Random))?;
    let session_id = body.vector8().ok_or(ends(Part::SessionId))?;
    if session_id.len() > 32 {
        return Err(HelloError::LongSessionId(session_id.len()));
    }
    match body.vector16().ok_or(ends(Part::CipherSuites))?.len() {
        0 => return Err(HelloError::NoCipherSuites),
        length if length % 2 != 0 => return Err(HelloError::OddCipherSuites),
        _ => {}
    }
    if body.vector8().ok_or(ends(Part::Compression))?.is_empty() {
        return Err(HelloError::NoCompression);
    }
    // A hello that ends here has no extensions at all, and so no name (RFC 5246 section 7.4.1.2).
    if body.is_empty() {
        return Ok(Hello { server_name: None, ech: false });
    }
    let list = body.vector16().ok_or(ends(Part::Extensions))?;
    if !body.is_empty() {
        return Err(HelloError::Trailing);
    }
    extensions::read(list)
}
