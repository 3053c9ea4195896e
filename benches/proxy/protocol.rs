//! What client and server say on a `tls` or `tcp` connection: orders of sixteen bytes, and no word more.

use std::io::{self, Read, Write};

/// Length of an order.
pub(crate) const ORDER: usize = 16;
/// What one read or write takes at most.
pub(crate) const CHUNK: usize = 256 * 1024;

/// What the client wants of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// One byte.
    Answer,
    /// One byte, and the end of the connection. By the server, so that TIME_WAIT takes none of the client's ports.
    AnswerAndEnd,
    /// So many bytes.
    Send(u64),
    /// So many bytes are coming; one byte when they are there.
    Take(u64),
}

impl Order {
    pub(crate) fn to_bytes(self) -> [u8; ORDER] {
        let (word, count) = match self {
            Self::Answer => (b'a', 0),
            Self::AnswerAndEnd => (b'e', 0),
            Self::Send(count) => (b's', count),
            Self::Take(count) => (b't', count),
        };
        let mut bytes = [word; ORDER];
        let (_, number) = bytes.split_at_mut(ORDER - 8);
        number.copy_from_slice(&u64::to_be_bytes(count));
        bytes
    }

    pub(crate) fn parse(bytes: &[u8; ORDER]) -> Option<Self> {
        let (word, number) = bytes.split_last_chunk::<8>()?;
        let count = u64::from_be_bytes(*number);
        match word.first()? {
            b'a' => Some(Self::Answer),
            b'e' => Some(Self::AnswerAndEnd),
            b's' => Some(Self::Send(count)),
            b't' => Some(Self::Take(count)),
            _ => None,
        }
    }
}

/// Writes so many bytes.
pub(crate) fn pour(mut to: impl Write, count: u64, chunk: &[u8]) -> io::Result<()> {
    let mut left = count;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        let written = to.write(chunk.get(..length).unwrap_or(chunk))?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        left -= written as u64;
    }
    Ok(())
}

/// Reads so many bytes, and no more.
pub(crate) fn drain(mut from: impl Read, count: u64, chunk: &mut [u8]) -> io::Result<()> {
    let mut left = count;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        let space = chunk.get_mut(..length).unwrap_or_default();
        match from.read(space)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => left -= read as u64,
        }
    }
    Ok(())
}
