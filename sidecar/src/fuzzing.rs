//! What must hold for all bytes, however hostile (G16). Called by the fuzz targets and by a test; panics where it does
//! not hold.

use std::borrow::Cow;

use closedbook_policy::{Evidence, Refusal, Request};

use crate::control::hostile;
use crate::evidence::client_hello::{self, HelloReader};
use crate::evidence::dns::{self, Answer, Question, Ruling, Transport};
use crate::evidence::http::{self, Gate, Step};
use crate::evidence::packet::{self, Packet};
use crate::evidence::{FirstBytes, Sniff};

/// No cut changes what a hello says, and what was decided stays decided.
pub fn client_hello(bytes: &[u8]) {
    let whole = client_hello::sniff(bytes);
    let mut bytewise = HelloReader::default();
    for byte in bytes {
        bytewise.push(std::slice::from_ref(byte));
    }
    assert_eq!(bytewise.push(&[]), whole);
    let (front, back) = bytes.split_at(some_cut(bytes));
    let mut halves = HelloReader::default();
    let early = halves.push(front);
    assert!(early == Sniff::Incomplete || early == whole);
    assert_eq!(halves.push(back), whole);

    let mut first = FirstBytes::default();
    first.read(front);
    match first.read(bytes) {
        Sniff::Found(Evidence::Tls(hello)) => assert_eq!(whole, Sniff::Found(hello)),
        Sniff::Found(_) => assert!(matches!(whole, Sniff::Refused(_))),
        _ => {}
    }
}

/// No cut changes what the gate lets pass, and each head that it announces is one by itself.
pub fn http_head(bytes: &[u8]) {
    let whole = drive(&[bytes]);
    let (front, back) = bytes.split_at(some_cut(bytes));
    assert_eq!(drive(&[front, back]), whole);
    if bytes.len() < 4_096 {
        assert_eq!(drive(&bytes.chunks(1).collect::<Vec<_>>()), whole);
    }
    assert!(whole.handed_on <= bytes.len());
    for (start, length, request) in whole.heads {
        let head = bytes.get(start..start + length).unwrap_or_default();
        assert_eq!(http::sniff_head(head), Sniff::Found(request));
        assert!(head.ends_with(b"\r\n\r\n"));
    }
}

/// A question that was read is repeated in every answer, within the size that its client takes; what could not be read
/// gets nothing or a short error.
pub fn dns_question(bytes: &[u8]) {
    match Question::parse(bytes) {
        Ok(question) => {
            let limit = question.edns().map_or(512, |edns| edns.udp_size.clamp(512, dns::MAX_UDP));
            let asked = bytes.get(12..12 + wire_length(bytes)).unwrap_or_default();
            for answer in answers() {
                let message = answer.message(&question, Transport::Udp);
                assert!(message.len() <= limit.into());
                assert_eq!(message.get(..2), bytes.get(..2));
                assert!(message.get(12..).is_some_and(|rest| rest.starts_with(asked)));
            }
            assert!(question.text().bytes().all(|byte| byte.is_ascii_graphic()));
            assert!(matches!(dns::ruling(&question, false), Ruling::NoName | Ruling::Refused));
        }
        Err(malformed) => {
            let reply = malformed.reply();
            assert!(reply.is_none_or(|reply| reply.len() <= 23 && reply.get(..2) == bytes.get(..2)));
            assert!(reply.is_none() || bytes.get(2).is_some_and(|flags| flags & 0x80 == 0));
        }
    }
    match dns::frame(bytes) {
        Sniff::Found(message) => assert!(bytes.starts_with(&dns::framed(message))),
        Sniff::Incomplete => assert!(bytes.len() < 2 + dns::MAX_QUESTION),
        Sniff::Refused(_) => assert!(bytes.len() >= 2),
    }
}

/// What the kernel tells of refused packets: each copy takes the octets of a message, and its description is a line of
/// plain text.
pub fn packet_log(bytes: &[u8]) {
    let copies: Vec<_> = packet::copies(bytes).collect();
    assert!(copies.len() <= bytes.len() / 16);
    let parsed = copies.iter().map(|copy| copy.packet).chain([Packet::parse(bytes)]);
    for packet in parsed {
        let text = packet.to_string();
        assert!(text.len() < 100 && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '));
        assert!(packet.port().is_none() || packet.destination().is_some());
        let canonical = packet.destination().is_none_or(|to| to.ip() == to.ip().to_canonical());
        assert!(canonical);
    }
}

/// No cut changes what lines of the control socket are taken for, and each answer is one line of JSON.
pub fn control_lines(bytes: &[u8]) {
    let whole = hostile::answers(&[bytes]);
    let (front, back) = bytes.split_at(some_cut(bytes));
    assert_eq!(hostile::answers(&[front, back]), whole);
    if bytes.len() < 4_096 {
        assert_eq!(hostile::answers(&bytes.chunks(1).collect::<Vec<_>>()), whole);
    }
    for answer in whole.into_iter().flatten() {
        let line = answer.strip_suffix(b"\n").expect("an answer is a line");
        assert!(!line.contains(&b'\n'));
        let value: serde_json::Value = serde_json::from_slice(line).expect("an answer is JSON");
        assert!(value.pointer("/error/data/word").is_some_and(serde_json::Value::is_string));
    }
}

fn answers() -> [Answer; 6] {
    let addresses = vec![[198, 18, 0, 1].into(); 40];
    let explanation: Cow<'_, str> = "\u{1f4d5}".repeat(40).into();
    [
        Answer::Addresses { addresses, ttl: 60 },
        Answer::NoData,
        Answer::NoName { explanation: Cow::clone(&explanation) },
        Answer::TooMany { explanation },
        Answer::Refused,
        Answer::ServerFailure,
    ]
}

/// Octets of the name, type and class of a question that is known to be in order.
fn wire_length(message: &[u8]) -> usize {
    let mut length = 0;
    while let Some(&label) = message.get(12 + length).filter(|label| **label != 0) {
        length += 1 + usize::from(label);
    }
    length + 5
}

#[derive(Debug, PartialEq, Eq)]
struct Passage {
    /// Start, length and meaning.
    heads: Vec<(usize, usize, Request)>,
    handed_on: usize,
    refused: Option<Refusal>,
}

/// A caller that permits everything and is never told that an upgrade was answered.
fn drive(segments: &[&[u8]]) -> Passage {
    let mut gate = Gate::default();
    let mut passage = Passage { heads: Vec::new(), handed_on: 0, refused: None };
    let mut kept = Vec::new();
    for segment in segments {
        kept.extend_from_slice(segment);
        loop {
            let length = match gate.next(&kept) {
                Ok(Step::Head { request, length }) => {
                    passage.heads.push((passage.handed_on, length, request));
                    length
                }
                Ok(Step::Body { length } | Step::Tunnel { length }) => length,
                Ok(Step::More | Step::Held) => break,
                Err(refusal) => {
                    passage.refused = Some(refusal);
                    break;
                }
            };
            assert!(length > 0 && length <= kept.len());
            kept.drain(..length);
            passage.handed_on += length;
        }
    }
    passage
}

/// A place to cut that depends on the bytes, so that a fuzzer can move it.
fn some_cut(bytes: &[u8]) -> usize {
    let sum: usize = bytes.iter().map(|byte| usize::from(*byte)).sum();
    sum % (bytes.len() + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            super::client_hello(&bytes);
            super::http_head(&bytes);
            super::dns_question(&bytes);
            super::packet_log(&bytes);
        }
    }
}
