//! The server_name extension (RFC 6066 section 3).

use closedbook_policy::{InvalidName, Name};

use super::super::cursor::Cursor;
use super::{HelloError, Part};

const HOST_NAME: u8 = 0;

/// The one host name of the extension.
///
/// The format allows several names and types; no client sends them, and servers disagree about which one counts.
pub(super) fn read(extension: &[u8]) -> Result<Name, HelloError> {
    let mut extension = Cursor::new(extension);
    let mut list = match extension.vector16() {
        Some(list) if extension.is_empty() => Cursor::new(list),
        _ => return Err(HelloError::ServerNameList),
    };
    if list.is_empty() {
        return Err(HelloError::NoServerNames);
    }
    match list.u8() {
        Some(HOST_NAME) | None => {}
        Some(kind) => return Err(HelloError::ServerNameType(kind)),
    }
    let bytes = list.vector16().ok_or(HelloError::Ends(Part::ServerName))?;
    if !list.is_empty() {
        return Err(HelloError::ManyServerNames);
    }
    host_name(bytes)
}

fn host_name(bytes: &[u8]) -> Result<Name, HelloError> {
    if bytes.is_empty() {
        return Err(HelloError::EmptyServerName);
    }
    if bytes.contains(&0) {
        return Err(HelloError::ServerNameNul);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) if text.is_ascii() => text,
        _ => return Err(HelloError::ServerNameNotAscii),
    };
    // IPv6 literals hold colons, which no host name does; brackets come from clients that pass on a URL's host.
    if text.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok() {
        return Err(HelloError::ServerNameAddress);
    }
    Name::parse(text).map_err(|invalid| match invalid {
        InvalidName::Address => HelloError::ServerNameAddress,
        other => HelloError::ServerName(other),
    })
}
