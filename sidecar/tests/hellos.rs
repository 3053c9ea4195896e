//! G12: hellos of real clients, recorded (see `hellos/README.md`), are read wherever they are cut.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::fs;
use std::path::Path;

use closedbook_policy::{Evidence, Hello, Name};
use closedbook_sidecar::evidence::client_hello::{self, HelloReader};
use closedbook_sidecar::evidence::{FirstBytes, Sniff};

struct Recorded {
    file: String,
    bytes: Vec<u8>,
    says: Sniff<Hello>,
}

fn recorded() -> Vec<Recorded> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hellos");
    let mut recorded: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "bin"))
        .map(|path| {
            let file = path.file_name().unwrap().to_str().unwrap().to_owned();
            let server_name =
                (file != "openssl-noservername.bin").then(|| Name::parse("api.anthropic.com").unwrap());
            let says = Sniff::Found(Hello { server_name, ech: file == "chromium.bin" });
            Recorded { file, bytes: fs::read(path).unwrap(), says }
        })
        .collect();
    recorded.sort_by(|a, b| a.file.cmp(&b.file));
    assert!(recorded.len() >= 19, "{} recorded hellos", recorded.len());
    recorded
}

/// The handshake bytes without their record headers.
fn handshake(mut wire: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    while !wire.is_empty() {
        let length = usize::from(u16::from_be_bytes([wire[3], wire[4]]));
        message.extend_from_slice(&wire[5..5 + length]);
        wire = &wire[5 + length..];
    }
    message
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[22, 3, 1][..], &u16::try_from(fragment.len()).unwrap().to_be_bytes(), fragment].concat()
}

#[test]
fn every_recorded_hello_is_read() {
    for Recorded { file, bytes, says } in recorded() {
        assert_eq!(client_hello::sniff(&bytes), says, "{file}");
        assert_eq!(FirstBytes::default().read(&bytes), says.map(Evidence::Tls), "{file}");
    }
}

#[test]
fn every_prefix_is_incomplete() {
    for Recorded { file, bytes, says } in recorded() {
        let mut growing = HelloReader::default();
        let mut first = FirstBytes::default();
        for end in 0..bytes.len() {
            assert_eq!(client_hello::sniff(&bytes[..end]), Sniff::Incomplete, "{file}, {end} octets");
            assert_eq!(first.read(&bytes[..end]), Sniff::Incomplete, "{file}, {end} octets");
            let sniff = growing.push(&bytes[end..=end]);
            assert_eq!(
                sniff,
                if end + 1 < bytes.len() { Sniff::Incomplete } else { says.clone() },
                "{file}, {end}"
            );
        }
        assert_eq!(first.read(&bytes), says.map(Evidence::Tls), "{file}");
    }
}

#[test]
fn every_split_into_two_segments_is_read() {
    for Recorded { file, bytes, says } in recorded() {
        for cut in 0..=bytes.len() {
            let mut reader = HelloReader::default();
            reader.push(&bytes[..cut]);
            assert_eq!(reader.push(&bytes[cut..]), says, "{file} cut at {cut}");
        }
    }
}

#[test]
fn every_split_into_two_records_is_read() {
    const MAX_RECORD: usize = 1 << 14;
    for Recorded { file, bytes, says } in recorded() {
        let message = handshake(&bytes);
        for cut in 1..message.len() {
            let (front, back) = message.split_at(cut);
            if front.len() <= MAX_RECORD && back.len() <= MAX_RECORD {
                let wire = [record(front), record(back)].concat();
                assert_eq!(client_hello::sniff(&wire), says, "{file} cut at {cut}");
            }
        }
        let smallest: Vec<u8> = message.iter().take(10_000).flat_map(|byte| record(&[*byte])).collect();
        let expected = if message.len() <= 10_000 { says } else { Sniff::Incomplete };
        assert_eq!(client_hello::sniff(&smallest), expected, "{file} in records of one octet");
    }
}
