//! HTTP/2 by hand (RFC 9113), as far as a client needs it to ask something: every header field in plain octets, so that
//! a nonce is found on the wire.

use crate::nonce::Nonce;

/// What a client begins with (RFC 9113 section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Types of frames (RFC 9113 section 6).
mod kind {
    pub(super) const HEADERS: u8 = 1;
    pub(super) const SETTINGS: u8 = 4;
}
/// Flags of a HEADERS frame that is a whole request.
const END_STREAM_AND_HEADERS: u8 = 0x1 | 0x4;

/// The preface, with the empty SETTINGS frame that belongs to it.
pub fn opening() -> Vec<u8> {
    [PREFACE, &frame(kind::SETTINGS, 0, 0, &[])].concat()
}

/// A request without a body for this authority on this stream, its nonce in the path and in a field.
pub fn get(stream: u32, authority: &str, nonce: &Nonce) -> Vec<u8> {
    // Indexed fields of RFC 7541 appendix A: `:method: GET` and `:scheme: http`.
    let mut block = vec![0x82, 0x86];
    // Literals without indexing (section 6.2.2), their names of the same table: `:authority` and `:path`.
    block.push(0x01);
    block.extend(string(authority));
    block.push(0x04);
    block.extend(string(&format!("/canary?nonce={nonce}")));
    // A literal with a name of its own.
    block.push(0x00);
    block.extend(string("x-nonce"));
    block.extend(string(nonce.as_str()));
    frame(kind::HEADERS, END_STREAM_AND_HEADERS, stream, &block)
}

/// RFC 9113 section 4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    let mut frame: Vec<u8> = length.into_iter().skip(1).collect();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// A string without Huffman's code: its length with a prefix of seven bits, and its octets (RFC 7541 section 5).
fn string(text: &str) -> Vec<u8> {
    const PREFIX: usize = 127;
    let mut octets = Vec::new();
    match text.len().checked_sub(PREFIX) {
        None => octets.push(u8::try_from(text.len()).unwrap_or(0)),
        Some(mut rest) => {
            octets.push(127);
            while rest >= 128 {
                octets.push(u8::try_from(rest % 128).unwrap_or(0) | 0x80);
                rest /= 128;
            }
            octets.push(u8::try_from(rest).unwrap_or(0));
        }
    }
    octets.extend(text.as_bytes());
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7541 appendix C.1.2: 1337 with a prefix of five bits is 31, 154, 10; with seven it is 127, 186, 9.
    #[test]
    fn lengths_are_those_of_hpack() {
        assert_eq!(string("abc"), b"\x03abc");
        assert_eq!(string(&"x".repeat(1337))[..3], [127, 186, 9]);
        assert_eq!(string(&"x".repeat(127))[..2], [127, 0]);
        assert_eq!(string(&"x".repeat(126))[0], 126);
    }

    #[test]
    fn a_request_is_one_frame_of_the_length_it_says() {
        let nonce = Nonce::fresh().unwrap();
        let get = get(3, "a.example", &nonce);
        assert_eq!(usize::from(get[2]) + 9, get.len());
        assert_eq!((get[3], get[4], get[8]), (1, 5, 3));
        assert!(get.windows(9).any(|window| window == b"a.example"));
        assert_eq!(opening().len(), 24 + 9);
    }
}
