//! Lines that end in CRLF and in nothing else.

use super::HttpError;

/// Finds lines in bytes that grow between calls, looking at each byte once.
#[derive(Debug, Default)]
pub(super) struct Lines {
    scanned: usize,
    line: usize,
    after_cr: bool,
}

impl Lines {
    /// Whether nothing was looked at yet.
    pub(super) fn is_fresh(&self) -> bool {
        self.scanned == 0
    }

    /// Octets up to the end of the last line that was returned.
    pub(super) fn consumed(&self) -> usize {
        self.line
    }

    /// The next line without its CRLF; `None` when it has not ended yet. Every call gets all bytes since the first.
    ///
    /// A byte that may be in no line is refused where it stands, not when the line ends: a client that waits for an
    /// answer to `\n\n` gets one (G11). `over` is the error for more than `max` octets.
    pub(super) fn next<'a>(
        &mut self,
        bytes: &'a [u8],
        max: usize,
        over: HttpError,
    ) -> Result<Option<&'a [u8]>, HttpError> {
        for &byte in bytes.get(self.scanned..).unwrap_or_default() {
            if self.scanned >= max {
                return Err(over);
            }
            match (self.after_cr, byte) {
                (true, b'\n') => {
                    let line = bytes.get(self.line..self.scanned.saturating_sub(1));
                    self.scanned += 1;
                    self.line = self.scanned;
                    self.after_cr = false;
                    return Ok(line);
                }
                (true, _) => return Err(HttpError::BareCr),
                (false, b'\r') => self.after_cr = true,
                (false, b'\n') => return Err(HttpError::BareLf),
                (false, b'\t' | 0x20..=0x7e | 0x80..) => {}
                (false, control) => return Err(HttpError::Control(control)),
            }
            self.scanned += 1;
        }
        // Said as soon as it is certain: a caller whose buffer is full can't show one more byte.
        if self.scanned >= max { Err(over) } else { Ok(None) }
    }
}
