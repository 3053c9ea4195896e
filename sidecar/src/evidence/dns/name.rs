//! The name of a question, as it was asked and as a host name.

use closedbook_policy::Name;

use super::super::cursor::Cursor;
use super::DnsError;

/// A name on the wire: labels with a length before each, the last of length 0 (RFC 1035 section 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WireName(Vec<u8>);

const MAX_NAME: usize = 255;

impl WireName {
    pub(super) fn read(message: &mut Cursor<'_>) -> Result<Self, DnsError> {
        let mut wire = Vec::new();
        loop {
            let length = message.u8().ok_or(DnsError::QuestionEnds)?;
            match length >> 6 {
                0b00 => {}
                0b11 => return Err(DnsError::Pointer),
                _ => return Err(DnsError::LabelType),
            }
            let label = message.take(length.into()).ok_or(DnsError::QuestionEnds)?;
            wire.push(length);
            wire.extend_from_slice(label);
            if wire.len() > MAX_NAME {
                return Err(DnsError::LongName);
            }
            if length == 0 {
                return Ok(Self(wire));
            }
        }
    }

    /// As asked, upper and lower case included: clients that mix them (0x20) compare.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As a host name, if it is one.
    pub(super) fn host_name(&self) -> Option<Name> {
        let mut text = String::new();
        for label in self.labels() {
            // A dot inside a label would make two of one.
            let text_label = std::str::from_utf8(label).ok().filter(|label| !label.contains('.'))?;
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(text_label);
        }
        // `Name::parse` would drop a trailing dot, but none can be here: no label is empty.
        Name::parse(&text).ok()
    }

    /// For people: RFC 1035 section 5.1, with what is not printable as `\DDD`. One line, whatever was asked.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for label in self.labels() {
            if !text.is_empty() {
                text.push('.');
            }
            for &byte in label {
                match byte {
                    b'.' | b'\\' => text.extend(['\\', char::from(byte)]),
                    0x21..=0x7e => text.push(char::from(byte)),
                    _ => text.push_str(&format!("\\{byte:03}")),
                }
            }
        }
        if text.is_empty() { ".".to_owned() } else { text }
    }

    fn labels(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = Cursor::new(&self.0);
        std::iter::from_fn(move || rest.vector8().filter(|label| !label.is_empty()))
    }
}
