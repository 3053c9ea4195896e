//! The first packet of a QUIC connection (RFC 9000 section 17.2.2, RFC 9001 section 5.2), as a browser sends it: a filter
//! that opens Initial packets finds a hello with a name in it.

use rustls::Side;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, Version};

use super::hello::{Hello, extension, sized_u16};
use crate::nonce::Nonce;

/// A datagram is filled up to this (RFC 9000 section 14.1).
const LENGTH: usize = 1200;
/// What GCM adds.
const TAG: usize = 16;

/// An Initial packet with a hello for `name` and this ALPN. The nonce stands in its token, in the clear: a connection id
/// is too short for it.
pub fn initial(name: &str, alpn: &str, nonce: &Nonce) -> Option<Vec<u8>> {
    let connection = [0x0c_u8, 0xb0, 1, 2, 3, 4, 5, 6];
    let protocols = sized_u16(&[&[u8::try_from(alpn.len()).ok()?], alpn.as_bytes()].concat());
    let parameters = [&[0x0f, 8], &connection[..]].concat();
    // quic_transport_parameters, with the source connection id that must be in it (RFC 9000 section 18.2).
    let hello = Hello::named(name.as_bytes(), nonce).with(extension::ALPN, protocols).with(0x39, parameters);
    // A dot behind it: a length follows, which may look like one of its digits.
    packet(&connection, format!("{nonce}.").as_bytes(), &hello.message())
}

fn packet(connection: &[u8; 8], token: &[u8], hello: &[u8]) -> Option<Vec<u8>> {
    // Long header, Initial, a packet number of four octets; version 1.
    let mut header = vec![0xc3, 0, 0, 0, 1];
    for id in [connection, connection] {
        header.push(8);
        header.extend(id);
    }
    header.extend(varint(token.len()));
    header.extend(token);
    // Two octets of length and four of packet number follow.
    let room = LENGTH.checked_sub(header.len() + 2 + 4 + TAG)?;
    let mut payload = vec![0x06, 0];
    payload.extend(varint(hello.len()));
    payload.extend(hello);
    payload.resize(room.max(payload.len()), 0);
    header.extend(varint(4 + payload.len() + TAG));
    let number = header.len();
    header.extend([0, 0, 0, 0]);

    let suite = TLS13_AES_128_GCM_SHA256.tls13()?.quic_suite()?;
    let keys: Keys = suite.keys(connection, Side::Client, Version::V1);
    let tag = keys.local.packet.encrypt_in_place(0, &header, &mut payload).ok()?;
    payload.extend(tag.as_ref());
    // RFC 9001 section 5.4.2: the sample is where the packet number would end if it were longest.
    let sample = payload.get(..keys.local.header.sample_len())?;
    let (first, rest) = header.split_first_mut()?;
    keys.local.header.encrypt_in_place(sample, first, rest.get_mut(number - 1..)?).ok()?;
    header.extend(payload);
    Some(header)
}

/// RFC 9000 section 16, in two octets: enough for a datagram.
fn varint(number: usize) -> [u8; 2] {
    (0x4000 | u16::try_from(number).unwrap_or(0x3fff) & 0x3fff).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_can_open_it() {
        let nonce = Nonce::fresh().unwrap();
        let mut octets = initial("a.example", "h3", &nonce).unwrap();
        assert_eq!(octets.len(), LENGTH);
        let connection: Vec<u8> = octets[6..14].to_vec();
        let suite = TLS13_AES_128_GCM_SHA256.tls13().unwrap().quic_suite().unwrap();
        let keys = suite.keys(&connection, Side::Server, Version::V1);
        let token = 25 + nonce.as_str().len() + 1;
        assert_eq!(&octets[25..token - 1], nonce.as_str().as_bytes());
        let number = token + 2;
        let sample = octets[number + 4..number + 20].to_vec();
        let (head, rest) = octets.split_at_mut(number);
        keys.remote.header.decrypt_in_place(&sample, &mut head[0], &mut rest[..4]).unwrap();
        assert_eq!((head[0], &rest[..4]), (0xc3, &[0, 0, 0, 0][..]));
        let header = [&*head, &rest[..4]].concat();
        let plain = keys.remote.packet.decrypt_in_place(0, &header, &mut rest[4..]).unwrap();
        assert!(plain.windows(9).any(|window| window == b"a.example"));
    }
}
