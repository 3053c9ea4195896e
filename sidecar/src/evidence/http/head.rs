//! One request head, read as it arrives.

use closedbook_policy::Request;

use super::HttpError;
use super::fields::{Fields, Framing};
use super::lines::Lines;
use super::request_line::{self, RequestLine};

/// Octets of the largest request head, its empty line included. The same as for a ClientHello: it is the memory that
/// a connection gets before it has said what it wants.
pub const MAX_HEAD: usize = 65_536;

/// A head that is arriving.
#[derive(Debug, Default)]
pub(super) struct Head {
    lines: Lines,
    request_line: Option<RequestLine>,
    fields: Fields,
}

/// A head that has arrived and is in order.
#[derive(Debug)]
pub(super) struct Complete {
    pub(super) request: Request,
    pub(super) framing: Framing,
    pub(super) length: usize,
}

impl Head {
    /// Whether not one byte of the head has arrived.
    pub(super) fn is_fresh(&self) -> bool {
        self.lines.is_fresh()
    }

    /// Reads on. Every call gets all bytes since the head's first.
    pub(super) fn advance(&mut self, bytes: &[u8]) -> Result<Option<Complete>, HttpError> {
        while let Some(line) = self.lines.next(bytes, MAX_HEAD, HttpError::LargeHead)? {
            match self.request_line {
                None => self.request_line = Some(request_line::read(line)?),
                Some(request_line) if line.is_empty() => {
                    let (request, framing) = std::mem::take(&mut self.fields).judge(request_line)?;
                    return Ok(Some(Complete { request, framing, length: self.lines.consumed() }));
                }
                Some(_) => self.fields.add(line)?,
            }
        }
        Ok(None)
    }
}
