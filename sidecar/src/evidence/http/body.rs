//! Where a request's body ends (RFC 9112 sections 6.3 and 7.1).

use super::fields::{self, Framing};
use super::lines::Lines;
use super::{HttpError, MAX_FIELDS};

/// Octets of the largest trailer section, its empty line included.
pub const MAX_TRAILERS: usize = 8_192;

/// A body that is passing by.
#[derive(Debug)]
pub(super) enum Body {
    /// Octets still to come.
    Length(u64),
    Size {
        digits: u8,
        size: u64,
    },
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    Trailers {
        lines: Lines,
        count: usize,
    },
}

/// How far the bytes of one call belong to the body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Passed {
    /// Octets that are in order.
    pub(super) length: usize,
    /// Whether the body ends with them.
    pub(super) ended: bool,
}

const NEW_CHUNK: Body = Body::Size { digits: 0, size: 0 };

impl Body {
    /// The body that a head announced, if there is one.
    pub(super) fn new(framing: Framing) -> Option<Self> {
        match framing {
            Framing::Empty => None,
            Framing::Length(length) => Some(Body::Length(length)),
            Framing::Chunked => Some(NEW_CHUNK),
        }
    }

    /// Reads on. An error is about the first byte alone: what was in order before it has been passed by an earlier
    /// call. Trailers pass together or not at all, so until they are whole nothing of them does.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<Passed, HttpError> {
        let mut length = 0;
        let mut ended = false;
        while let (false, Some(rest)) = (ended, bytes.get(length..).filter(|rest| !rest.is_empty())) {
            // Trailers are scanned from their own first byte, and so have a call of their own.
            if length > 0 && matches!(self, Body::Trailers { .. }) {
                break;
            }
            match self.step(rest) {
                Ok(Passed { length: 0, .. }) => break,
                Ok(passed) => {
                    length += passed.length;
                    ended = passed.ended;
                }
                Err(_) if length > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(Passed { length, ended })
    }

    /// One octet of framing, or as much data as there is. Changes nothing when it fails, but for trailers, where the
    /// failure is final.
    fn step(&mut self, bytes: &[u8]) -> Result<Passed, HttpError> {
        let Some(&byte) = bytes.first() else { return Ok(Passed { length: 0, ended: false }) };
        let one = Passed { length: 1, ended: false };
        match self {
            Body::Length(left) => {
                let length = run(bytes, *left);
                *left -= length as u64;
                return Ok(Passed { length, ended: *left == 0 });
            }
            Body::Data(left) => {
                let length = run(bytes, *left);
                *left -= length as u64;
                if *left == 0 {
                    *self = Body::DataCr;
                }
                return Ok(Passed { length, ended: false });
            }
            Body::Size { digits, size } => *self = size_octet(*digits, *size, byte)?,
            Body::SizeLf(_) if byte != b'\n' => return Err(HttpError::BareCr),
            Body::SizeLf(0) => *self = Body::Trailers { lines: Lines::default(), count: 0 },
            Body::SizeLf(size) => *self = Body::Data(*size),
            Body::DataCr if byte == b'\r' => *self = Body::DataLf,
            Body::DataLf if byte == b'\n' => *self = NEW_CHUNK,
            Body::DataCr | Body::DataLf => return Err(HttpError::ChunkEnd),
            Body::Trailers { lines, count } => return trailers(lines, count, bytes),
        }
        Ok(one)
    }
}

fn run(bytes: &[u8], left: u64) -> usize {
    usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()))
}

fn size_octet(digits: u8, size: u64, byte: u8) -> Result<Body, HttpError> {
    match (byte, char::from(byte).to_digit(16)) {
        (_, Some(digit)) if digits < 16 && size <= (i64::MAX.unsigned_abs() >> 4) => {
            Ok(Body::Size { digits: digits + 1, size: size << 4 | u64::from(digit) })
        }
        (b'\r', _) if digits > 0 => Ok(Body::SizeLf(size)),
        (b';' | b' ' | b'\t', _) if digits > 0 => Err(HttpError::ChunkExtension),
        (b'\n', _) => Err(HttpError::BareLf),
        _ => Err(HttpError::ChunkSize(byte)),
    }
}

fn trailers(lines: &mut Lines, count: &mut usize, bytes: &[u8]) -> Result<Passed, HttpError> {
    while let Some(line) = lines.next(bytes, MAX_TRAILERS, HttpError::LargeTrailers)? {
        if line.is_empty() {
            return Ok(Passed { length: lines.consumed(), ended: true });
        }
        *count += 1;
        if *count > MAX_FIELDS {
            return Err(HttpError::ManyFields);
        }
        fields::check_trailer(line)?;
    }
    Ok(Passed { length: 0, ended: false })
}
