//! DNS over TCP: a length of two octets before each message (RFC 1035 section 4.2.2).

use closedbook_policy::{Reason, Refusal};

use super::super::Sniff;

/// Octets of the largest question that is read from a stream. A name, an OPT record and padding to the block of RFC
/// 8467 come to under 1 KiB.
pub const MAX_QUESTION: usize = 4_096;

/// The first message in `bytes`, which begin at a length. It takes up two octets more than it is long.
pub fn frame(bytes: &[u8]) -> Sniff<&[u8]> {
    let Some((&length, rest)) = bytes.split_first_chunk() else { return Sniff::Incomplete };
    match usize::from(u16::from_be_bytes(length)) {
        0 => refused("a DNS message of no length"),
        length if length > MAX_QUESTION => refused("a DNS question larger than 4096 octets"),
        length => rest.get(..length).map_or(Sniff::Incomplete, Sniff::Found),
    }
}

/// A message with its length before it; cut off at 65535 octets, which no answer of ours reaches.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend(message.iter().take(length.into()));
    framed
}

fn refused<T>(detail: &'static str) -> Sniff<T> {
    Sniff::Refused(Refusal::new(Reason::DnsMalformed, detail))
}
