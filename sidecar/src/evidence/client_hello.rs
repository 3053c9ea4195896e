//! The name in a TLS ClientHello (RFC 8446 section 4.1.2, RFC 5246 section 7.4.1.2), read without opening anything.
//!
//! The hello may be cut anywhere by TCP and by the record layer. It is read strictly: what two servers could read in
//! two ways is refused, since the server that is dialled then reads the same bytes again (G3, G4).

mod error;
mod extensions;
mod handshake;
mod records;
mod server_name;
#[cfg(test)]
mod tests;

use closedbook_policy::Hello;

use super::Sniff;
use records::Records;

pub use error::{HelloError, Part};

/// Octets on the wire, record headers included, within which a ClientHello must end.
///
/// Post-quantum key shares and tickets make 2 to 17 KiB; four times that leaves room, and bounds the memory of a
/// connection that has not said yet what it wants.
pub const MAX_HELLO: usize = 65_536;

/// Reads a ClientHello as its bytes arrive. The work over all calls is linear in the bytes pushed.
///
/// ```
/// use closedbook_sidecar::evidence::{Sniff, client_hello::HelloReader};
///
/// let mut reader = HelloReader::default();
/// // The beginning of a record that announces 512 octets of handshake.
/// assert_eq!(reader.push(&[22, 3, 1, 2, 0]), Sniff::Incomplete);
/// // A ServerHello is no ClientHello.
/// assert!(matches!(reader.push(&[2]), Sniff::Refused(refusal) if refusal.detail.contains("type 2")));
/// ```
#[derive(Debug, Default)]
pub struct HelloReader {
    records: Records,
    /// The handshake layer's bytes so far: never more than `MAX_HELLO`.
    message: Vec<u8>,
    /// Octets pushed and read, record headers included.
    seen: usize,
    outcome: Option<Result<Hello, HelloError>>,
}

impl HelloReader {
    /// Reads on. Bytes after the record in which the hello ends are not looked at; once something was found or
    /// refused, further bytes change nothing.
    pub fn push(&mut self, bytes: &[u8]) -> Sniff<Hello> {
        match self.read(bytes) {
            None => Sniff::Incomplete,
            Some(Ok(hello)) => Sniff::Found(hello),
            Some(Err(error)) => Sniff::Refused(error.into()),
        }
    }

    /// Like [`push`](Self::push), with the error as it is. `None` is *incomplete*.
    pub fn read(&mut self, bytes: &[u8]) -> Option<Result<Hello, HelloError>> {
        if self.outcome.is_none() {
            self.outcome = self.advance(bytes).transpose();
        }
        self.outcome.clone()
    }

    fn advance(&mut self, bytes: &[u8]) -> Result<Option<Hello>, HelloError> {
        let mut bytes = bytes.get(..MAX_HELLO.saturating_sub(self.seen)).unwrap_or(bytes);
        self.seen += bytes.len();
        while let Some(fragment) = self.records.fragment(&mut bytes)? {
            self.message.extend_from_slice(fragment);
            let Some(hello) = handshake::whole(&self.message)? else { continue };
            // RFC 8446 section 5.1 lets messages share a record, but nothing may follow this one before the server
            // spoke; a server could take what follows for the beginning of something else.
            if !hello.after.is_empty() || self.records.in_fragment() {
                return Err(HelloError::Coalesced);
            }
            return handshake::client_hello(hello.body).map(Some);
        }
        if self.seen >= MAX_HELLO { Err(HelloError::TooLarge) } else { Ok(None) }
    }
}

/// Reads a ClientHello out of everything that came so far.
///
/// Where bytes are still arriving, [`HelloReader`] does the same without beginning anew each time.
pub fn sniff(bytes: &[u8]) -> Sniff<Hello> {
    HelloReader::default().push(bytes)
}
