//! The Host field (RFC 9110 section 7.2): `uri-host [ ":" port ]`, in the forms that everybody reads alike.

use std::net::{Ipv4Addr, Ipv6Addr};

use closedbook_policy::{Host, InvalidName, Name};

use super::HttpError;

/// Reads a Host value without blanks round it.
pub(super) fn read(value: &[u8]) -> Result<(Host, Option<u16>), HttpError> {
    if value.is_empty() {
        return Err(HttpError::EmptyHost);
    }
    if value.contains(&b'@') {
        return Err(HttpError::HostUserInfo);
    }
    let not_ascii =
        || HttpError::HostName(InvalidName::Byte(value.iter().find(|b| !b.is_ascii()).map_or(0, |b| *b)));
    let text = std::str::from_utf8(value).ok().filter(|text| text.is_ascii()).ok_or_else(not_ascii)?;
    match text.strip_prefix('[') {
        Some(text) => bracketed(text),
        None => named(text),
    }
}

fn bracketed(text: &str) -> Result<(Host, Option<u16>), HttpError> {
    let (address, rest) = text.split_once(']').ok_or(HttpError::HostBrackets)?;
    // No zone, no future form (RFC 3986 section 3.2.2): the standard parser takes neither.
    let address: Ipv6Addr = address.parse().map_err(|_| HttpError::HostBrackets)?;
    let port = match rest.strip_prefix(':') {
        Some(digits) => Some(port(digits)?),
        None if rest.is_empty() => None,
        None => return Err(HttpError::HostBrackets),
    };
    Ok((Host::Address(address.into()), port))
}

fn named(text: &str) -> Result<(Host, Option<u16>), HttpError> {
    let (host, port) = match text.split_once(':') {
        Some((host, digits)) => (host, Some(port(digits)?)),
        None => (text, None),
    };
    // The standard parser wants four decimal numbers without leading zeros.
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return Ok((Host::Address(address.into()), port));
    }
    match Name::parse(host) {
        Ok(name) => Ok((Host::Name(name), port)),
        Err(InvalidName::Address) => Err(HttpError::HostNumber),
        Err(invalid) => Err(HttpError::HostName(invalid)),
    }
}

fn port(digits: &str) -> Result<u16, HttpError> {
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    if plain { digits.parse().map_err(|_| HttpError::HostPort) } else { Err(HttpError::HostPort) }
}
