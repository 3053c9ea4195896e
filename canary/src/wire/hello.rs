//! ClientHellos by hand: what no TLS library would send.
//!
//! The nonce stands in the session id (RFC 8446 section 4.1.2: up to 32 octets), so that a witness finds it whatever it
//! makes of the rest. The key shares are numbers of the right size that nobody has the key to: such a hello is for seeing
//! who answers it, not for a session.

use crate::nonce::Nonce;

/// A hello in the making.
#[derive(Debug, Clone)]
pub struct Hello {
    nonce: Nonce,
    record_version: [u8; 2],
    extensions: Vec<(u16, Vec<u8>)>,
}

/// Extension numbers (IANA, TLS ExtensionType Values).
pub mod extension {
    /// server_name (RFC 6066 section 3).
    pub const SERVER_NAME: u16 = 0;
    /// supported_groups.
    pub const SUPPORTED_GROUPS: u16 = 10;
    /// signature_algorithms.
    pub const SIGNATURE_ALGORITHMS: u16 = 13;
    /// application_layer_protocol_negotiation (RFC 7301).
    pub const ALPN: u16 = 16;
    /// padding (RFC 7685).
    pub const PADDING: u16 = 21;
    /// pre_shared_key.
    pub const PRE_SHARED_KEY: u16 = 41;
    /// early_data.
    pub const EARLY_DATA: u16 = 42;
    /// supported_versions.
    pub const SUPPORTED_VERSIONS: u16 = 43;
    /// psk_key_exchange_modes.
    pub const PSK_MODES: u16 = 45;
    /// key_share.
    pub const KEY_SHARE: u16 = 51;
    /// encrypted_client_hello (RFC 9849).
    pub const ECH: u16 = 0xfe0d;
}

impl Hello {
    /// TLS 1.3 and 1.2, x25519, and no name.
    pub fn nameless(nonce: &Nonce) -> Self {
        let mut share = vec![0, 36, 0, 29, 0, 32];
        share.extend([0x42_u8; 32]);
        Self {
            nonce: nonce.clone(),
            record_version: [3, 1],
            extensions: vec![
                (extension::SUPPORTED_GROUPS, vec![0, 4, 0, 29, 0, 23]),
                (extension::SIGNATURE_ALGORITHMS, vec![0, 8, 4, 3, 8, 4, 8, 7, 4, 1]),
                (extension::SUPPORTED_VERSIONS, vec![4, 3, 4, 3, 3]),
                (extension::PSK_MODES, vec![1, 1]),
                (extension::KEY_SHARE, share),
            ],
        }
    }

    /// The same with a name, whatever its octets.
    pub fn named(name: &[u8], nonce: &Nonce) -> Self {
        Self::nameless(nonce).first(extension::SERVER_NAME, server_names(&[name]))
    }

    /// With one more extension, before all others.
    pub fn first(mut self, kind: u16, body: Vec<u8>) -> Self {
        self.extensions.insert(0, (kind, body));
        self
    }

    /// With one more extension, the last.
    pub fn with(mut self, kind: u16, body: Vec<u8>) -> Self {
        self.extensions.push((kind, body));
        self
    }

    /// With another version in the record's header.
    pub fn record_version(mut self, version: [u8; 2]) -> Self {
        self.record_version = version;
        self
    }

    /// The handshake message, without a record round it.
    pub fn message(&self) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([0x77_u8; 32]);
        let id = self.nonce.as_str().as_bytes();
        body.push(u8::try_from(id.len()).unwrap_or(0));
        body.extend(id);
        // TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, ECDHE-ECDSA and ECDHE-RSA with AES-128-GCM; null compression.
        body.extend([0, 8, 0x13, 1, 0x13, 2, 0xc0, 0x2b, 0xc0, 0x2f, 1, 0]);
        let mut extensions = Vec::new();
        for (kind, content) in &self.extensions {
            extensions.extend(kind.to_be_bytes());
            extensions.extend(sized_u16(content));
        }
        body.extend(sized_u16(&extensions));
        let mut message = vec![1];
        message.extend(u32::try_from(body.len()).unwrap_or(0).to_be_bytes().into_iter().skip(1));
        message.extend(body);
        message
    }

    /// In one record, or in as few as it takes (RFC 8446 section 5.1: 2^14 octets each).
    pub fn octets(&self) -> Vec<u8> {
        self.records(1 << 14)
    }

    /// In records of at most this many octets.
    pub fn records(&self, each: usize) -> Vec<u8> {
        let message = self.message();
        message.chunks(each.max(1)).flat_map(|part| record(0x16, self.record_version, part)).collect()
    }
}

/// A record of this type.
pub fn record(kind: u8, version: [u8; 2], content: &[u8]) -> Vec<u8> {
    let mut record = vec![kind, version[0], version[1]];
    record.extend(sized_u16(content));
    record
}

/// The body of a server_name extension with these host names (RFC 6066 section 3).
pub fn server_names(names: &[&[u8]]) -> Vec<u8> {
    let list: Vec<u8> = names.iter().flat_map(|name| [vec![0], sized_u16(name)].concat()).collect();
    sized_u16(&list)
}

/// The body of an ALPN extension with these protocols (RFC 7301 section 3.1).
pub fn alpn(protocols: &[&[u8]]) -> Vec<u8> {
    let list: Vec<u8> = protocols
        .iter()
        .flat_map(|protocol| [&[u8::try_from(protocol.len()).unwrap_or(0)], *protocol].concat())
        .collect();
    sized_u16(&list)
}

/// The body of a pre_shared_key extension with one ticket and one binder (RFC 8446 section 4.2.11). Nobody has given the
/// ticket out, so whoever reads it takes the hello for a fresh one.
pub fn pre_shared_key() -> Vec<u8> {
    let age = [0, 0, 0x30, 0x39];
    let identities = sized_u16(&[sized_u16(&[0x71; 192]), age.to_vec()].concat());
    let binders = sized_u16(&[&[32], &[0x62; 32][..]].concat());
    [identities, binders].concat()
}

/// A record as early data is sent in, the nonce in its content: a real one would be encrypted.
pub fn early_data(nonce: &Nonce) -> Vec<u8> {
    let content = [format!("early data {nonce}").into_bytes(), vec![0x5d; 64]].concat();
    record(0x17, [3, 3], &content)
}

/// A hello in the format of SSL 2.0 that offers TLS 1.2 (RFC 5246 appendix E.2). The nonce is its challenge.
pub fn ssl2(nonce: &Nonce) -> Vec<u8> {
    let ciphers = [0, 0, 0x2f, 0, 0, 0x35, 1, 0, 0x80];
    let challenge = nonce.as_str().as_bytes();
    let mut message = vec![1, 3, 3];
    message.extend(u16::try_from(ciphers.len()).unwrap_or(0).to_be_bytes());
    message.extend([0, 0]);
    message.extend(u16::try_from(challenge.len()).unwrap_or(0).to_be_bytes());
    message.extend(ciphers);
    message.extend(challenge);
    let length = u16::try_from(message.len()).unwrap_or(0) | 0x8000;
    [&length.to_be_bytes()[..], &message].concat()
}

/// Octets with their length before them. Beyond 65,535 the length says what fits, as a broken client would.
pub fn sized_u16(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap_or(u16::MAX);
    [&length.to_be_bytes()[..], content].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nonce_and_the_name_are_in_it() {
        let nonce = Nonce::fresh().unwrap();
        let octets = Hello::named(b"a.example", &nonce).octets();
        let within = |needle: &[u8]| octets.windows(needle.len()).any(|window| window == needle);
        assert!(within(nonce.as_str().as_bytes()) && within(b"a.example"));
        assert_eq!(octets[..3], [0x16, 3, 1]);
    }

    #[test]
    fn what_the_extensions_hold_is_as_long_as_they_say() {
        assert_eq!(alpn(&[b"h2", b"smtp"]), b"\0\x08\x02h2\x04smtp");
        let ticket = pre_shared_key();
        assert_eq!(ticket.len(), 2 + (2 + 192 + 4) + 2 + (1 + 32));
        assert_eq!((ticket[1], ticket[3]), (198, 192));
        let nonce = Nonce::fresh().unwrap();
        let old = ssl2(&nonce);
        assert_eq!((old[0], usize::from(old[1]) + 2), (0x80, old.len()));
        assert!(old.ends_with(nonce.as_str().as_bytes()));
    }

    #[test]
    fn records_are_as_small_as_asked_for() {
        let nonce = Nonce::fresh().unwrap();
        let hello = Hello::named(b"a.example", &nonce);
        let (message, records) = (hello.message(), hello.records(7));
        assert_eq!(records.len(), message.len() + 5 * message.len().div_ceil(7));
    }
}
