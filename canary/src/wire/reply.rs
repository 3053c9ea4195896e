//! What came back, told by its octets. Pure.

use super::LOOKED_AT;
use crate::nonce::Nonce;
use crate::seen::Seen;

/// Hex digits of a witness's proof: half of an HMAC-SHA-256.
const PROOF_DIGITS: usize = 32;

/// What some octets of an answer mean.
pub fn classify(octets: &[u8], nonce: &Nonce) -> Seen {
    if let Some(proof) = proof(octets, nonce) {
        return Seen::Proof { proof };
    }
    match octets {
        [] => Seen::Closed,
        // A TLS record: alert, or the first of a server's handshake (RFC 8446 section 5.1).
        [0x15, 3, _, _, _, _level, description, ..] => Seen::Alert { description: *description },
        [0x16, 3, _, _, _, 2, ..] => Seen::TlsReply { text: "ServerHello".to_owned() },
        _ => match status(octets) {
            Some(status) => Seen::Answered { status, text: text(octets) },
            None => Seen::Octets { text: text(octets) },
        },
    }
}

/// Whether more octets would change nothing.
pub fn is_decided(octets: &[u8], nonce: &Nonce) -> bool {
    match classify(octets, nonce) {
        Seen::Proof { .. } | Seen::Alert { .. } | Seen::TlsReply { .. } => true,
        // A proof may stand in the body: read it to its end where the head says where that is.
        Seen::Answered { .. } => is_whole(octets),
        _ => false,
    }
}

/// The witness's proof of this nonce. A filter that echoes what was asked for has the nonce, and never the proof: on a
/// line `LAB-WITNESS nonce proof`, in a field `x-lab-proof`, in a JSON member `proof`.
fn proof(octets: &[u8], nonce: &Nonce) -> Option<String> {
    let text = String::from_utf8_lossy(octets).to_ascii_lowercase();
    let marked = text.find(&nonce.label()).filter(|_| !nonce.as_str().is_empty())?;
    let greeting = format!("lab-witness {} ", nonce.label());
    let places = [greeting.as_str(), "x-lab-proof: ", "\"proof\":\""];
    places.iter().find_map(|place| {
        let start = text.find(place).filter(|_| marked < text.len())? + place.len();
        let digits = text.get(start..start + PROOF_DIGITS)?;
        digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| digits.to_owned())
    })
}

/// The status of an HTTP/1 answer (RFC 9112 section 4).
pub fn status(octets: &[u8]) -> Option<u16> {
    let line = octets.split(|octet| *octet == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let rest = line.strip_prefix("HTTP/1.")?.get(2..)?;
    rest.split_whitespace().next()?.parse().ok()
}

fn is_whole(octets: &[u8]) -> bool {
    let text = String::from_utf8_lossy(octets);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    // These have no body, whatever they say (RFC 9112 section 6.3).
    if matches!(status(octets), Some(101 | 204 | 304)) {
        return true;
    }
    let field = |name: &str| {
        head.lines().find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    };
    match (
        field("content-length").and_then(|length| length.parse::<usize>().ok()),
        field("transfer-encoding"),
    ) {
        (Some(length), _) => body.len() >= length.min(LOOKED_AT / 2),
        (None, Some(_)) => body.ends_with("0\r\n\r\n"),
        (None, None) => false,
    }
}

/// How octets begin, printable.
pub fn text(octets: &[u8]) -> String {
    let printable =
        |byte: &u8| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' };
    let first = octets.split(|octet| *octet == b'\n').next().unwrap_or_default();
    let shown = if status(octets).is_some() { first } else { octets };
    shown.iter().filter(|byte| **byte != b'\r').take(80).map(printable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_echoes_the_nonce_is_no_witness() {
        let nonce = Nonce::fresh().unwrap();
        let page = format!("HTTP/1.1 403 Forbidden\r\ncontent-length: 30\r\n\r\nno {nonce} for you");
        assert!(matches!(classify(page.as_bytes(), &nonce), Seen::Answered { status: 403, .. }));
        let greeting = format!("LAB-WITNESS {nonce} {}\n", "ab".repeat(16));
        assert_eq!(classify(greeting.as_bytes(), &nonce), Seen::Proof { proof: "ab".repeat(16) });
        let other = Nonce::fresh().unwrap();
        assert!(matches!(classify(greeting.as_bytes(), &other), Seen::Octets { .. }));
    }

    #[test]
    fn tls_records_are_told_apart() {
        let nonce = Nonce::fresh().unwrap();
        assert_eq!(classify(&[0x15, 3, 3, 0, 2, 2, 49], &nonce), Seen::Alert { description: 49 });
        assert!(matches!(classify(&[0x16, 3, 3, 0, 90, 2, 0, 0], &nonce), Seen::TlsReply { .. }));
        assert!(matches!(classify(&[0x16, 3, 3], &nonce), Seen::Octets { .. }));
    }
}
