//! The record layer (RFC 8446 section 5.1): handshake bytes out of records, wherever TCP cut them.

use super::HelloError;

const HANDSHAKE: u8 = 22;
const MAX_RECORD: u16 = 1 << 14;
const HEADER: usize = 5;

/// Where in the sequence of records the reader stands.
#[derive(Debug, Default)]
pub(super) struct Records {
    header: Vec<u8>,
    /// Octets of the current record's fragment still to come.
    left: u16,
    /// Whether one whole header was read.
    begun: bool,
}

impl Records {
    /// The next piece of handshake bytes, cut off the front of `bytes`; `None` once they are used up.
    pub(super) fn fragment<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<&'a [u8]>, HelloError> {
        if self.left == 0 {
            let Some(length) = self.next_header(bytes)? else { return Ok(None) };
            self.left = length;
        }
        let (fragment, rest) = bytes.split_at(bytes.len().min(self.left.into()));
        *bytes = rest;
        self.left = self.left.saturating_sub(u16::try_from(fragment.len()).unwrap_or(u16::MAX));
        Ok((!fragment.is_empty()).then_some(fragment))
    }

    /// Whether the current record goes on.
    pub(super) fn in_fragment(&self) -> bool {
        self.left > 0
    }

    fn next_header(&mut self, bytes: &mut &[u8]) -> Result<Option<u16>, HelloError> {
        let (header, rest) = bytes.split_at(bytes.len().min(HEADER.saturating_sub(self.header.len())));
        *bytes = rest;
        self.header.extend_from_slice(header);
        let length = self.check()?;
        if length.is_some() {
            self.header.clear();
            self.begun = true;
        }
        Ok(length)
    }

    /// Judges as much of a header as there is, so that what can't become one is refused at once.
    fn check(&self) -> Result<Option<u16>, HelloError> {
        match *self.header.as_slice() {
            [] | [HANDSHAKE] => Ok(None),
            [HANDSHAKE, 3, _, high, low] => match u16::from_be_bytes([high, low]) {
                0 => Err(HelloError::EmptyRecord),
                length if length > MAX_RECORD => Err(HelloError::LongRecord(length)),
                length => Ok(Some(length)),
            },
            [HANDSHAKE, 3, ..] => Ok(None),
            [HANDSHAKE, major, ..] => Err(HelloError::RecordVersion(major)),
            // RFC 6101 appendix E: a length with its high bit set, message type 1, version 0.2 or 3.x.
            [first, _, 1, 0 | 3, ..] if first & 0x80 != 0 && !self.begun => Err(HelloError::Ssl2),
            [first] | [first, _] | [first, _, 1] if first & 0x80 != 0 && !self.begun => Ok(None),
            [kind, ..] => Err(HelloError::RecordType(kind)),
        }
    }
}
