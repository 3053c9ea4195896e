//! The fields of a head: each line by itself, and those that decide all together.

use closedbook_policy::{Host, Request, Upgrade};

use super::super::protocol::is_token;
use super::request_line::{RequestLine, Version};
use super::{HttpError, host};

/// The most fields that a head or a trailer section may have.
pub const MAX_FIELDS: usize = 128;

/// How the body of a request ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Empty,
    Length(u64),
    Chunked,
}

/// What the fields so far say. Grows by [`add`](Self::add), is judged by [`judge`](Self::judge).
#[derive(Debug, Default)]
pub(super) struct Fields {
    count: usize,
    host: Option<(Host, Option<u16>)>,
    content_length: Option<u64>,
    chunked: bool,
    expect: bool,
    upgrade: bool,
    connection_upgrade: bool,
}

impl Fields {
    /// Reads one line of the head.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let (name, value) = split(line)?;
        self.count += 1;
        if self.count > MAX_FIELDS {
            return Err(HttpError::ManyFields);
        }
        match Decisive::of(name)? {
            Some(Decisive::Host) => self.host(value),
            Some(Decisive::ContentLength) => self.content_length(value),
            Some(Decisive::TransferEncoding) => self.transfer_encoding(value),
            Some(Decisive::Connection) => self.connection(value),
            Some(Decisive::Upgrade) => self.upgrade(value),
            Some(Decisive::Expect) => self.expect(value),
            Some(Decisive::Http2Settings) => Err(HttpError::Http2Settings),
            None => Ok(()),
        }
    }

    /// Judges the whole head.
    pub(super) fn judge(self, line: RequestLine) -> Result<(Request, Framing), HttpError> {
        let (host, port) = self.host.ok_or(HttpError::NoHost)?;
        let framing = match (self.content_length, self.chunked) {
            (Some(_), true) => return Err(HttpError::TwoLengths),
            (None, true) if line.version == Version::Http10 => return Err(HttpError::OldTransferEncoding),
            (None, true) => Framing::Chunked,
            (None | Some(0), false) => Framing::Empty,
            (Some(length), false) => Framing::Length(length),
        };
        let upgrade = if self.upgrade {
            let proper = line.get
                && line.version == Version::Http11
                && self.connection_upgrade
                && framing == Framing::Empty
                && !self.expect;
            if !proper {
                return Err(HttpError::UpgradeForm);
            }
            Upgrade::WebSocket
        } else {
            Upgrade::None
        };
        Ok((Request { host, port, upgrade }, framing))
    }

    fn host(&mut self, value: &[u8]) -> Result<(), HttpError> {
        if self.host.is_some() {
            return Err(HttpError::ManyHosts);
        }
        self.host = Some(host::read(unpadded(value, "Host")?)?);
        Ok(())
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), HttpError> {
        if self.content_length.is_some() {
            return Err(HttpError::ManyContentLengths);
        }
        let value = unpadded(value, "Content-Length")?;
        self.content_length = Some(plain_number(value).ok_or(HttpError::ContentLength)?);
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), HttpError> {
        if self.chunked {
            return Err(HttpError::ManyTransferEncodings);
        }
        if !unpadded(value, "Transfer-Encoding")?.eq_ignore_ascii_case(b"chunked") {
            return Err(HttpError::TransferEncoding);
        }
        self.chunked = true;
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) -> Result<(), HttpError> {
        for option in value.split(|byte| *byte == b',').map(trim) {
            match Decisive::of(option) {
                Ok(Some(Decisive::Upgrade)) => self.connection_upgrade = true,
                Ok(Some(Decisive::Http2Settings)) => return Err(HttpError::Http2Settings),
                Ok(None) => {}
                _ => return Err(HttpError::ConnectionField),
            }
        }
        Ok(())
    }

    fn upgrade(&mut self, value: &[u8]) -> Result<(), HttpError> {
        if self.upgrade || !trim(value).eq_ignore_ascii_case(b"websocket") {
            return Err(HttpError::Upgrade);
        }
        self.upgrade = true;
        Ok(())
    }

    fn expect(&mut self, value: &[u8]) -> Result<(), HttpError> {
        if self.expect || !trim(value).eq_ignore_ascii_case(b"100-continue") {
            return Err(HttpError::Expect);
        }
        self.expect = true;
        Ok(())
    }
}

/// Reads one line of a trailer section: none of the fields that say who is asked, by whom, or how a message is read
/// (RFC 9110 section 6.5.1).
pub(super) fn check_trailer(line: &[u8]) -> Result<(), HttpError> {
    let (name, _) = split(line)?;
    const HEAD_ONLY: [&str; 12] = [
        "authorization",
        "cache-control",
        "content-encoding",
        "content-range",
        "content-type",
        "cookie",
        "keep-alive",
        "max-forwards",
        "proxy-authorization",
        "range",
        "te",
        "trailer",
    ];
    let head_only = HEAD_ONLY.iter().any(|field| name.eq_ignore_ascii_case(field.as_bytes()));
    if head_only || Decisive::of(name)?.is_some() { Err(HttpError::Trailer) } else { Ok(()) }
}

/// A field that says where a request goes, or where it ends.
#[derive(Debug, Clone, Copy)]
enum Decisive {
    Host,
    ContentLength,
    TransferEncoding,
    Connection,
    Upgrade,
    Expect,
    Http2Settings,
}

impl Decisive {
    fn of(name: &[u8]) -> Result<Option<Self>, HttpError> {
        const NAMES: [(&str, Decisive); 7] = [
            ("host", Decisive::Host),
            ("content-length", Decisive::ContentLength),
            ("transfer-encoding", Decisive::TransferEncoding),
            ("connection", Decisive::Connection),
            ("upgrade", Decisive::Upgrade),
            ("expect", Decisive::Expect),
            ("http2-settings", Decisive::Http2Settings),
        ];
        let hyphen = |byte: &u8| if *byte == b'_' { b'-' } else { byte.to_ascii_lowercase() };
        match NAMES.iter().find(|(known, _)| name.iter().map(hyphen).eq(known.bytes())) {
            Some(_) if name.contains(&b'_') => Err(HttpError::Underscore),
            Some((_, decisive)) => Ok(Some(*decisive)),
            None => Ok(None),
        }
    }
}

/// Name and value as they stand, the blanks round the value included.
fn split(line: &[u8]) -> Result<(&[u8], &[u8]), HttpError> {
    if let [b' ' | b'\t', ..] = line {
        return Err(HttpError::Folded);
    }
    let colon = line.iter().position(|byte| *byte == b':').ok_or(HttpError::NoColon)?;
    let (name, value) = line.split_at(colon);
    match name.iter().find(|byte| !is_token(**byte)) {
        _ if name.is_empty() => Err(HttpError::NoFieldName),
        Some(b' ' | b'\t') => Err(HttpError::BlankBeforeColon),
        Some(&byte) => Err(HttpError::FieldName(byte)),
        None => Ok((name, value.get(1..).unwrap_or_default())),
    }
}

fn trim(value: &[u8]) -> &[u8] {
    value.trim_ascii()
}

/// The value without the one blank after the colon. `Transfer-Encoding: chunked\t` and its kin pass one reader and
/// fail another, so a field that decides has no other blanks.
fn unpadded<'a>(value: &'a [u8], field: &'static str) -> Result<&'a [u8], HttpError> {
    let value = value.strip_prefix(b" ").unwrap_or(value);
    if value.iter().any(u8::is_ascii_whitespace) { Err(HttpError::Blanks(field)) } else { Ok(value) }
}

/// Digits alone, no sign, no leading zero, below 2^63: the range in which every implementation counts alike.
fn plain_number(value: &[u8]) -> Option<u64> {
    let plain = match value {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let number: u64 = std::str::from_utf8(value).ok().filter(|_| plain)?.parse().ok()?;
    (number <= i64::MAX.unsigned_abs()).then_some(number)
}
