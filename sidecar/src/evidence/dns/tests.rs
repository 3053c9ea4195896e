//! Questions and answers, checked against another implementation of DNS.

use hickory_proto::op::{Edns as HickoryEdns, Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::opt::{EdnsCode, EdnsOption};
use hickory_proto::rr::{DNSClass, Name as HickoryName, RData, RecordType};
use proptest::prelude::*;

use super::*;
use closedbook_policy::Reason;
use std::net::IpAddr;

const NAME: &[u8] = b"\x03api\x09anthropic\x03com\0";

/// id, RD, one question of class IN.
fn query(name: &[u8], kind: u16) -> Vec<u8> {
    let mut message = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0".to_vec();
    message.extend(name);
    message.extend(kind.to_be_bytes());
    message.extend(IN.to_be_bytes());
    message
}

fn with_opt(mut query: Vec<u8>, udp_size: u16, ttl: [u8; 4], options: &[u8]) -> Vec<u8> {
    query[11] += 1;
    query.extend(b"\0\0\x29");
    query.extend(udp_size.to_be_bytes());
    query.extend(ttl);
    query.extend(u16::try_from(options.len()).unwrap().to_be_bytes());
    query.extend(options);
    query
}

fn parse(message: &[u8]) -> Question {
    Question::parse(message).unwrap_or_else(|malformed| panic!("{}", malformed.error()))
}

fn addresses(addresses: &[&str]) -> Answer {
    Answer::Addresses { addresses: addresses.iter().map(|a| a.parse().unwrap()).collect(), ttl: 60 }
}

/// Decoded by the other implementation, with what every answer must have.
fn decoded(answer: &Answer, question: &Question, transport: Transport) -> Message {
    let bytes = answer.message(question, transport);
    let message = Message::from_vec(&bytes).unwrap();
    assert_eq!(message.id, question.id());
    assert_eq!(message.message_type, MessageType::Response);
    assert_eq!(message.op_code, OpCode::Query);
    assert!(message.recursion_available && !message.authoritative);
    assert_eq!(message.queries.len(), 1);
    // 0x20: the question comes back octet by octet.
    assert!(bytes[12..].starts_with(question.asked.as_bytes()));
    assert_eq!(message.edns.is_some(), question.edns().is_some());
    message
}

/// What stub resolvers send, made by the other implementation.
#[test]
fn questions_of_another_implementation() {
    for (text, kind, edns) in [
        ("api.anthropic.com.", RecordType::A, None),
        ("API.Anthropic.COM.", RecordType::AAAA, Some((1232, false))),
        ("api.anthropic.com.", RecordType::HTTPS, Some((4096, true))),
        ("a-b.xn--bcher-kva.example.", RecordType::TXT, Some((512, false))),
    ] {
        let mut message = Message::new(0xbeef, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(HickoryName::from_ascii(text).unwrap(), kind));
        if let Some((size, dnssec_ok)) = edns {
            let mut record = HickoryEdns::new();
            record.set_max_payload(size).set_version(0).set_dnssec_ok(dnssec_ok);
            // A cookie, which is read over.
            record.options_mut().insert(EdnsOption::Unknown(10, vec![1; 8]));
            message.set_edns(record);
        }
        let question = parse(&message.to_vec().unwrap());
        assert_eq!(question.id(), 0xbeef);
        assert_eq!(question.name().unwrap().as_str(), text.trim_end_matches('.').to_ascii_lowercase());
        assert_eq!(question.text(), text.trim_end_matches('.'));
        assert_eq!((question.kind(), question.class()), (kind.into(), 1));
        assert_eq!(question.edns(), edns.map(|(udp_size, dnssec_ok)| Edns { udp_size, dnssec_ok }));
        assert!(question.recursion_desired && !question.checking_disabled);
    }
}

/// G9: names that no host has are questions, but not for a host.
#[test]
fn names_that_are_no_host() {
    for (wire, text) in [
        (&b"\0"[..], "."),
        (b"\x05_http\x04_tcp\x01a\x07example\0", "_http._tcp.a.example"),
        // One label with a dot in it is not two labels.
        (b"\x11api.anthropic.com\0", "api\\.anthropic\\.com"),
        (b"\x0dapi.anthropic\x03com\0", "api\\.anthropic.com"),
        (b"\x03a\0b\x03com\0", "a\\000b.com"),
        (b"\x02\xc3\xbc\x03com\0", "\\195\\188.com"),
        (b"\x03a b\x01\n\0", "a\\032b.\\010"),
        (b"\x011\x010\x03127\0", "1.0.127"),
    ] {
        let question = parse(&query(wire, A));
        assert_eq!(question.name(), None, "{text}");
        assert_eq!(question.text(), text);
        assert_eq!(ruling(&question, true), Ruling::NoName, "{text}");
        decoded(&Answer::NoName { explanation: "no".into() }, &question, Transport::Udp);
    }
    let longest = [&[63; 64][..], &[63; 64], &[63; 64], &[61; 62], &[0]].concat();
    assert_eq!(longest.len(), 255);
    parse(&query(&longest, A));
}

/// G16: every malformed form by its error and by what its sender is told: FORMERR (1), NOTIMP (4), BADVERS (16) or
/// nothing.
#[test]
fn malformed() {
    let good = query(NAME, A);
    let bent = |place: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place] = value;
        bytes
    };
    let edns = |ttl, options: &[u8]| with_opt(good.clone(), 1232, ttl, options);
    let mut two_opts = edns([0; 4], &[]);
    two_opts[11] = 2;
    two_opts.extend(b"\0\0\x29\x04\xd0\0\0\0\0\0\0");
    let mut signed = good.clone();
    signed[11] = 1;
    signed.extend(b"\x03key\0\0\xfa\0\xff\0\0\0\0\0\0");
    let mut not_opt = good.clone();
    not_opt[11] = 1;
    not_opt.extend(b"\0\0\x01\0\x01\0\0\0\0\0\x04\x7f\0\0\x01");
    let named = |name: &[u8]| query(name, A);
    let long = [&[63; 64][..], &[63; 64], &[63; 64], &[62; 63], &[0]].concat();

    let cases = [
        (good[..11].to_vec(), DnsError::Short, None),
        (Vec::new(), DnsError::Short, None),
        (bent(2, 0x81), DnsError::Response, None),
        (good[..12].to_vec(), DnsError::QuestionEnds, Some(1)),
        (good[..20].to_vec(), DnsError::QuestionEnds, Some(1)),
        (good[..good.len() - 1].to_vec(), DnsError::QuestionEnds, Some(1)),
        (good[..good.len() - 3].to_vec(), DnsError::QuestionEnds, Some(1)),
        (bent(2, 0x09), DnsError::Opcode(1), Some(4)),
        (bent(2, 0x29), DnsError::Opcode(5), Some(4)),
        (bent(2, 0x31), DnsError::Opcode(6), Some(4)),
        (bent(5, 0), DnsError::Questions(0), Some(1)),
        (bent(5, 2), DnsError::Questions(2), Some(1)),
        (bent(4, 1), DnsError::Questions(257), Some(1)),
        (bent(7, 1), DnsError::Records, Some(1)),
        (bent(9, 1), DnsError::Records, Some(1)),
        (bent(11, 1), DnsError::Opt, Some(1)),
        (two_opts, DnsError::Records, Some(1)),
        (signed, DnsError::Records, Some(1)),
        (not_opt, DnsError::Records, Some(1)),
        (named(b"\xc0\x0c"), DnsError::Pointer, Some(1)),
        (named(b"\x03api\xc0\x0c"), DnsError::Pointer, Some(1)),
        (named(b"\x41a\0"), DnsError::LabelType, Some(1)),
        (named(b"\x80\0"), DnsError::LabelType, Some(1)),
        (named(&long), DnsError::LongName, Some(1)),
        ([good.clone(), vec![0]].concat(), DnsError::Trailing, Some(1)),
        ([edns([0; 4], &[]), vec![0]].concat(), DnsError::Trailing, Some(1)),
        (edns([0; 4], &[0]), DnsError::Opt, Some(1)),
        (edns([0; 4], &[0, 10, 0, 2, 1]), DnsError::Opt, Some(1)),
        (edns([0; 4], &[])[..good.len() + 5].to_vec(), DnsError::Opt, Some(1)),
        (edns([0, 1, 0, 0], &[]), DnsError::EdnsVersion(1), Some(16)),
        (edns([0, 255, 0x80, 0], &[1, 2, 3]), DnsError::EdnsVersion(255), Some(16)),
    ];
    for (message, error, rcode) in cases {
        let malformed = Question::parse(&message).unwrap_err();
        assert_eq!(malformed.error(), error);
        assert_eq!(closedbook_policy::Refusal::from(&malformed).reason, Reason::DnsMalformed);
        let reply = malformed.reply().map(|reply| Message::from_vec(reply).unwrap());
        let told = reply.as_ref().map(|reply| {
            assert_eq!((reply.id, reply.message_type), (0x1234, MessageType::Response), "{error}");
            assert!(reply.queries.is_empty() && reply.recursion_desired);
            u16::from(reply.response_code)
        });
        assert_eq!(told, rcode, "{error}");
        if let DnsError::Opcode(opcode) = error {
            assert_eq!(malformed.reply().unwrap()[2] >> 3 & 15, opcode);
        }
    }
}

/// G9: the table of rulings.
#[test]
fn rulings() {
    const TXT: u16 = 16;
    const PTR: u16 = 12;
    const HTTPS: u16 = 65;
    const ANY: u16 = 255;
    for kind in [A, AAAA, SOA, TXT, PTR, HTTPS, 64, 2, 5, 33, ANY, 252, 0xffff] {
        let question = parse(&query(NAME, kind));
        let permitted = if kind == A { Ruling::Address } else { Ruling::NoData };
        assert_eq!(ruling(&question, true), permitted, "type {kind}");
        assert_eq!(permitted.reason(), None);
        assert_eq!(ruling(&question, false), Ruling::NoName, "type {kind}");
    }
    assert_eq!(Ruling::NoName.reason(), Some(Reason::DnsName));
    let reverse = parse(&query(b"\x011\x010\x03200\x0210\x07in-addr\x04arpa\0", PTR));
    assert_eq!(ruling(&reverse, false), Ruling::NoName);
    for class in [3u16, 4, 254, 255, 0] {
        let mut chaos = query(b"\x07version\x04bind\0", TXT);
        let end = chaos.len() - 2;
        chaos[end..].copy_from_slice(&class.to_be_bytes());
        for permitted in [false, true] {
            assert_eq!(ruling(&parse(&chaos), permitted), Ruling::Refused, "class {class}");
        }
        let message = decoded(&Answer::Refused, &parse(&chaos), Transport::Udp);
        assert_eq!(message.response_code, ResponseCode::Refused);
    }
    assert_eq!(Ruling::Refused.reason(), Some(Reason::DnsType));
}

#[test]
fn address_answers() {
    let question = parse(&query(b"\x03aPi\x09AnthropiC\x03com\0", A));
    let message =
        decoded(&addresses(&["198.18.0.7", "2001:db8::7", "198.18.0.8"]), &question, Transport::Udp);
    assert_eq!(message.response_code, ResponseCode::NoError);
    assert!(message.authorities.is_empty() && !message.truncation);
    let answers: Vec<_> = message
        .answers
        .iter()
        .map(|record| {
            assert_eq!((record.ttl, record.dns_class), (60, DNSClass::IN));
            assert_eq!(record.name.to_string(), "aPi.AnthropiC.com.");
            record.data.ip_addr().unwrap()
        })
        .collect();
    assert_eq!(answers, ["198.18.0.7", "198.18.0.8"].map(|a| a.parse::<IpAddr>().unwrap()));

    let question = parse(&with_opt(query(NAME, AAAA), 4096, [0, 0, 0x80, 0], &[]));
    let message = decoded(&addresses(&["198.18.0.7", "2001:db8::7"]), &question, Transport::Udp);
    assert_eq!(message.answers.len(), 1);
    assert_eq!(message.answers[0].data.ip_addr(), Some("2001:db8::7".parse().unwrap()));
    let edns = message.edns.unwrap();
    assert!(edns.flags().dnssec_ok && edns.max_payload() == MAX_UDP && edns.version() == 0);

    let nothing = decoded(&addresses(&["198.18.0.7"]), &question, Transport::Udp);
    assert_eq!(nothing.answers.len(), 0);
    assert_eq!(nothing, decoded(&Answer::NoData, &question, Transport::Udp));
}

/// break-03: a *no* comes with an SOA, so that clients take it for one; RFC 8914: *Blocked*, to those who understand.
#[test]
fn negative_answers() {
    let answer = Answer::NoName { explanation: "not in phase agent".into() };
    for (plain, refused, code) in
        [(true, &Answer::NoData, ResponseCode::NoError), (false, &answer, ResponseCode::NXDomain)]
    {
        for edns in [false, true] {
            let bytes = query(NAME, 65);
            let bytes = if edns { with_opt(bytes, 1232, [0; 4], &[]) } else { bytes };
            let question = parse(&bytes);
            let message = decoded(refused, &question, Transport::Udp);
            assert_eq!(message.response_code, code);
            assert!(message.answers.is_empty());
            let [soa] = message.authorities.as_slice() else { panic!("one SOA") };
            assert!(soa.name.is_root() && soa.ttl == 0);
            assert!(matches!(&soa.data, RData::SOA(soa) if soa.minimum == 0));
            let blocked = message.edns.as_ref().and_then(|edns| edns.option(EdnsCode::from(15)).cloned());
            match blocked {
                None => assert!(plain || !edns),
                Some(option) => {
                    assert!(!plain && edns);
                    assert_eq!(Vec::try_from(&option).unwrap(), b"\0\x0fnot in phase agent");
                }
            }
        }
    }
    let message = decoded(&Answer::ServerFailure, &parse(&query(NAME, A)), Transport::Udp);
    assert_eq!(message.response_code, ResponseCode::ServFail);
}

/// Flags of the question that an answer repeats, and that it does not.
#[test]
fn flags() {
    for (flags, expected) in
        [([0x00, 0x00], [0x80, 0x80]), ([0x01, 0x30], [0x81, 0x90]), ([0x07, 0x4f], [0x81, 0x80])]
    {
        let mut bytes = query(NAME, A);
        bytes[2..4].copy_from_slice(&flags);
        let answer = addresses(&["198.18.0.7"]).message(&parse(&bytes), Transport::Udp);
        assert_eq!(answer[2..4], expected);
    }
}

/// Every answer stays within what the client takes over UDP, and says so when something is missing.
#[test]
fn truncation() {
    let many = Answer::Addresses { addresses: vec!["198.18.0.7".parse().unwrap(); 60], ttl: 1 };
    let bare = query(NAME, A);
    for (bytes, limit) in [
        (bare.clone(), 512),
        (with_opt(bare.clone(), 0, [0; 4], &[]), 512),
        (with_opt(bare.clone(), 600, [0; 4], &[]), 600),
        (with_opt(bare.clone(), 65_535, [0; 4], &[]), 1232),
    ] {
        let question = parse(&bytes);
        let whole = decoded(&many, &question, Transport::Tcp);
        assert!(!whole.truncation && whole.answers.len() == 60);
        let fits = whole.to_vec().unwrap().len() <= limit;
        let message = decoded(&many, &question, Transport::Udp);
        assert!(many.message(&question, Transport::Udp).len() <= limit);
        assert_eq!(message.truncation, !fits, "limit {limit}");
        assert_eq!(message.answers.len(), if fits { 60 } else { 0 });
    }
    // A refusal of the longest name with the longest explanation needs no second try.
    let longest = [&[63; 64][..], &[63; 64], &[63; 64], &[61; 62], &[0]].concat();
    let question = parse(&with_opt(query(&longest, A), 512, [0; 4], &[]));
    let refusal = Answer::NoName { explanation: "\u{1f4d5}".repeat(100).into() };
    let message = decoded(&refusal, &question, Transport::Udp);
    assert!(
        !message.truncation && message.edns.is_some_and(|edns| edns.option(EdnsCode::from(15)).is_some())
    );
    // However many there are, a message has its limit.
    let absurd = Answer::Addresses { addresses: vec!["198.18.0.7".parse().unwrap(); 10_000], ttl: 1 };
    assert!(absurd.message(&parse(&bare), Transport::Tcp).len() <= 65_535);
}

/// DNS over TCP, whose messages come in pieces.
#[test]
fn frames() {
    use super::super::Sniff;
    let message = query(NAME, A);
    let wire = framed(&message);
    for end in 0..wire.len() {
        assert_eq!(frame(&wire[..end]), Sniff::Incomplete);
    }
    assert_eq!(frame(&wire), Sniff::Found(message.as_slice()));
    assert_eq!(frame(&[wire.as_slice(), &wire].concat()), Sniff::Found(message.as_slice()));
    assert!(matches!(frame(&[0, 0, 1]), Sniff::Refused(refusal) if refusal.reason == Reason::DnsMalformed));
    assert!(matches!(frame(&[0x10, 1]), Sniff::Refused(refusal) if refusal.reason == Reason::DnsMalformed));
    assert_eq!(frame(&[0x10, 0]), Sniff::Incomplete);
    assert_eq!(framed(&vec![0; 70_000]).len(), 65_537);
}

proptest! {
    /// G16: no bytes panic; what is read is read alike by the other implementation; every answer can be decoded.
    #[test]
    fn hostile_bytes(
        good in any::<bool>(),
        noise in proptest::collection::vec(any::<u8>(), 0..80),
        changes in proptest::collection::vec((0..60usize, any::<u8>()), 0..3),
    ) {
        let mut bytes = if good { with_opt(query(NAME, A), 1232, [0; 4], &[]) } else { noise };
        for (place, value) in changes {
            if let Some(byte) = bytes.get_mut(place) {
                *byte = value;
            }
        }
        match Question::parse(&bytes) {
            Ok(question) => {
                let theirs = Message::from_vec(&bytes).unwrap();
                prop_assert_eq!(theirs.queries.len(), 1);
                prop_assert_eq!(u16::from(theirs.queries[0].query_type()), question.kind());
                if let Some(name) = question.name() {
                    let text = theirs.queries[0].name().to_ascii().to_ascii_lowercase();
                    prop_assert_eq!(text.trim_end_matches('.'), name.as_str());
                }
                for answer in [addresses(&["198.18.0.7"]), Answer::NoData, Answer::NoName { explanation: "x".into() }] {
                    decoded(&answer, &question, Transport::Udp);
                }
            }
            Err(malformed) => {
                if let Some(reply) = malformed.reply() {
                    prop_assert!(Message::from_vec(reply).is_ok());
                }
            }
        }
    }
}
