//! What a client begins with: enough to tell TLS and HTTP from the rest. Pure.

/// Request methods (RFC 9110 section 9, RFC 5789) with the blank behind them, and HTTP/2's preface (RFC 9113
/// section 3.4), which reads like one.
const METHODS: [&[u8]; 10] = [
    b"GET ",
    b"HEAD ",
    b"POST ",
    b"PUT ",
    b"DELETE ",
    b"CONNECT ",
    b"OPTIONS ",
    b"TRACE ",
    b"PATCH ",
    b"PRI ",
];
/// A handshake record, major version 3 (RFC 8446 section 5.1).
const HANDSHAKE: [u8; 2] = [0x16, 0x03];

/// The kind of conversation that some first octets open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// More octets are needed.
    Incomplete,
    Tls,
    Http,
    /// Neither.
    Other,
}

impl Opening {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        if bytes.starts_with(&HANDSHAKE) {
            Self::Tls
        } else if METHODS.iter().any(|method| bytes.starts_with(method)) {
            Self::Http
        } else if HANDSHAKE.starts_with(bytes) || METHODS.iter().any(|method| method.starts_with(bytes)) {
            Self::Incomplete
        } else {
            Self::Other
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prefix_is_incomplete_until_it_is_decided() {
        for (whole, decided, at) in [
            (&b"GET / HTTP/1.1"[..], Opening::Http, 4),
            (b"PRI * HTTP/2.0", Opening::Http, 4),
            (b"OPTIONS * HTTP/1.1", Opening::Http, 8),
            (b"\x16\x03\x01\x02\x00", Opening::Tls, 2),
            (b"N0NCE-1", Opening::Other, 1),
            (b"GETx", Opening::Other, 4),
            (b"PUSH", Opening::Other, 3),
            (b"\x05\x01\x00", Opening::Other, 1),
        ] {
            for end in 0..whole.len() {
                let expected = if end < at { Opening::Incomplete } else { decided };
                assert_eq!(Opening::of(&whole[..end]), expected, "{:?}", &whole[..end]);
            }
        }
    }
}
