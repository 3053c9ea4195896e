//! A reader over bytes that cannot run past their end.

/// Reads from the front; `None` where the bytes do not reach, and then nothing is consumed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        let (&[byte], rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        let (&bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u16::from_be_bytes(bytes))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let (&bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(bytes))
    }

    /// A vector with a length of one octet before it (RFC 8446 section 3.4).
    pub(super) fn vector8(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let length = ahead.u8()?;
        let vector = ahead.take(length.into())?;
        *self = ahead;
        Some(vector)
    }

    /// A vector with a length of two octets before it.
    pub(super) fn vector16(&mut self) -> Option<&'a [u8]> {
        let mut ahead = *self;
        let length = ahead.u16()?;
        let vector = ahead.take(length.into())?;
        *self = ahead;
        Some(vector)
    }
}
