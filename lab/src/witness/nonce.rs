//! How a nonce is recognised in bytes of any protocol.

use ring::rand::{SecureRandom as _, SystemRandom};

/// The mark that a nonce made by us starts with. DNS and TLS lower-case it, so case does not count.
const MARK: &[u8] = b"n0nce-";
const KEY: &[u8] = b"nonce=";
/// A nonce is cut at this length.
const LONGEST: usize = 64;

/// A nonce that nobody has used: `N0NCE-` and 16 hex digits.
pub fn fresh() -> String {
    let mut octets = [0_u8; 8];
    // The operating system's generator; were it to fail, TLS would not have started.
    let _ = SystemRandom::new().fill(&mut octets);
    format!("N0NCE-{}", super::arrival::hex(&octets))
}

/// The first nonce in `bytes`: `N0NCE-` and the letters and digits that follow, or what follows `nonce=`.
///
/// The first form is given back in lower case with its mark in upper case, however it was written.
pub fn find(bytes: &[u8]) -> Option<String> {
    marked(bytes).or_else(|| keyed(bytes))
}

fn marked(bytes: &[u8]) -> Option<String> {
    after(bytes, MARK).find_map(|rest| {
        let digits: String = take(rest, |byte| byte.is_ascii_alphanumeric()).to_ascii_lowercase();
        (!digits.is_empty()).then(|| format!("N0NCE-{digits}"))
    })
}

fn keyed(bytes: &[u8]) -> Option<String> {
    after(bytes, KEY).find_map(|rest| {
        let value = take(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        (!value.is_empty()).then_some(value)
    })
}

/// What follows each place where `mark` stands.
fn after<'a>(bytes: &'a [u8], mark: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    bytes
        .windows(mark.len())
        .enumerate()
        .filter(|(_, window)| window.eq_ignore_ascii_case(mark))
        .filter_map(move |(start, _)| bytes.get(start + mark.len()..))
}

fn take(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> String {
    bytes.iter().take(LONGEST).take_while(|byte| wanted(**byte)).map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_found_in_the_middle_of_anything() {
        assert_eq!(find(b"\0\xffxN0NCE-abc12/\0"), Some("N0NCE-abc12".into()));
        assert_eq!(find(b"\x0bn0nce-ABc12\x04leak\x04test\0"), Some("N0NCE-abc12".into()));
        assert_eq!(find(b"GET /?a=b&nonce=A_b-9&c HTTP/1.1"), Some("A_b-9".into()));
        assert_eq!(find(b"nonce=zz N0NCE-1"), Some("N0NCE-1".into()), "the mark is the surer sign");
    }

    #[test]
    fn nothing_is_made_up() {
        for bytes in [&b""[..], b"N0NCE-", b"nonce=", b"nonce= x", b"N0NCE--x", b"n0nc"] {
            assert_eq!(find(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn a_nonce_is_bounded() {
        let long = [b"N0NCE-".as_slice(), &[b'a'; 5000]].concat();
        assert_eq!(find(&long).map(|nonce| nonce.len()), Some(6 + LONGEST));
    }
}
