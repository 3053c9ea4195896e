//! Every malformed form by its own error, and what cuts and sizes do. Recorded hellos: `tests/hellos.rs`.

use closedbook_policy::{Hello, InvalidName, Name, Reason, Refusal};
use proptest::prelude::*;

use super::*;

/// The pieces of a hello, to be bent one by one.
#[derive(Clone)]
struct Parts {
    version: u16,
    session_id: Vec<u8>,
    suites: Vec<u8>,
    compression: Vec<u8>,
    extensions: Option<Vec<u8>>,
    after: Vec<u8>,
}

impl Default for Parts {
    fn default() -> Self {
        let extensions =
            Some([extension(0, &server_name("example.org")), extension(43, &[2, 3, 4])].concat());
        let (session_id, compression) = (vec![7; 32], vec![0]);
        Self {
            version: 0x0303,
            session_id,
            suites: vec![0x13, 1],
            compression,
            extensions,
            after: Vec::new(),
        }
    }
}

impl Parts {
    fn with_extensions(extensions: &[Vec<u8>]) -> Self {
        Self { extensions: Some(extensions.concat()), ..Self::default() }
    }

    fn body(&self) -> Vec<u8> {
        let mut body = self.version.to_be_bytes().to_vec();
        body.extend([9; 32]);
        body.extend(vector8(&self.session_id));
        body.extend(vector16(&self.suites));
        body.extend(vector8(&self.compression));
        body.extend(self.extensions.iter().flat_map(|list| vector16(list)));
        body.extend(&self.after);
        body
    }

    fn wire(&self) -> Vec<u8> {
        record(&message(&self.body()))
    }
}

fn vector8(content: &[u8]) -> Vec<u8> {
    [&[u8::try_from(content.len()).unwrap()], content].concat()
}

fn vector16(content: &[u8]) -> Vec<u8> {
    [&u16::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [kind.to_be_bytes().to_vec(), vector16(content)].concat()
}

fn server_name(name: impl AsRef<[u8]>) -> Vec<u8> {
    vector16(&[&[0], vector16(name.as_ref()).as_slice()].concat())
}

fn message(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[1], &length[1..], body].concat()
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[22, 3, 1], vector16(fragment).as_slice()].concat()
}

/// Whole, byte by byte, and in every two-way split: one outcome.
fn read(wire: &[u8]) -> Option<Result<Hello, HelloError>> {
    let whole = HelloReader::default().read(wire);
    let mut reader = HelloReader::default();
    let mut bytewise = None;
    for byte in wire {
        bytewise = reader.read(&[*byte]);
    }
    assert_eq!(whole, bytewise, "byte by byte");
    for cut in (0..wire.len()).step_by(1 + wire.len() / 500) {
        let mut reader = HelloReader::default();
        reader.read(&wire[..cut]);
        assert_eq!(whole, reader.read(&wire[cut..]), "cut at {cut}");
    }
    whole
}

#[track_caller]
fn refused(wire: &[u8], error: HelloError) {
    assert_eq!(read(wire), Some(Err(error)));
}

#[track_caller]
fn named(wire: &[u8], name: Option<&str>) {
    let server_name = name.map(|name| Name::parse(name).unwrap());
    assert_eq!(read(wire), Some(Ok(Hello { server_name, ech: false })));
}

#[test]
fn accepted_forms() {
    named(&Parts::default().wire(), Some("example.org"));
    named(&Parts { extensions: None, ..Parts::default() }.wire(), None);
    named(&Parts::with_extensions(&[]).wire(), None);
    named(&Parts::with_extensions(&[extension(43, &[2, 3, 4])]).wire(), None);
    named(&Parts { version: 0x0301, session_id: Vec::new(), ..Parts::default() }.wire(), Some("example.org"));
    for spelt in ["EXAMPLE.org", "example.org."] {
        named(&Parts::with_extensions(&[extension(0, &server_name(spelt))]).wire(), Some("example.org"));
    }
    // break-15: a large key share in front of the name.
    let late = [extension(51, &[0; 1300]), extension(0, &server_name("example.org"))];
    named(&Parts::with_extensions(&late).wire(), Some("example.org"));
    // What follows in records of their own (early data, a change of cipher spec) is not read.
    let wire = [Parts::default().wire(), vec![20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 2, 0, 0]].concat();
    named(&wire, Some("example.org"));
}

/// G4: ECH is seen under both of its numbers; the outer name is the one reported.
#[test]
fn ech() {
    for kind in [0xfe0d, 0xffce] {
        let parts =
            Parts::with_extensions(&[extension(kind, &[0; 40]), extension(0, &server_name("outer.example"))]);
        let server_name = Some(Name::parse("outer.example").unwrap());
        assert_eq!(read(&parts.wire()), Some(Ok(Hello { server_name, ech: true })));
    }
}

/// G4: the record layer.
#[test]
fn malformed_records() {
    let good = message(&Parts::default().body());
    for kind in [0, 20, 21, 23, 24, b'G'] {
        refused(&[kind, 3, 1, 0, 2, 1, 0], HelloError::RecordType(kind));
        // The same in the midst of a hello.
        let wire = [record(&good[..9]), vec![kind, 3, 3, 0, 1, 1]].concat();
        refused(&wire, HelloError::RecordType(kind));
    }
    refused(&[22, 0x7f, 1, 0, 9], HelloError::RecordVersion(0x7f));
    refused(&[22, 2, 0, 0, 9], HelloError::RecordVersion(2));
    refused(&[22, 3, 1, 0, 0], HelloError::EmptyRecord);
    refused(
        &[record(&good[..9]), vec![22, 3, 1, 0, 0], record(&good[9..])].concat(),
        HelloError::EmptyRecord,
    );
    refused(&[22, 3, 1, 0x40, 1], HelloError::LongRecord(16_385));
    refused(&[0x80, 46, 1, 0, 2, 0, 21], HelloError::Ssl2);
    refused(&[0x80, 46, 1, 3, 1, 0, 21], HelloError::Ssl2);
    refused(&[0x80, 46, 4, 3, 1, 0, 21], HelloError::RecordType(0x80));
    // After a beginning in TLS it is no SSL 2.0 any more.
    refused(&[record(&good[..9]), vec![0x80, 46, 1, 3, 1]].concat(), HelloError::RecordType(0x80));
}

/// G4: the handshake layer, and the fields before the extensions.
#[test]
fn malformed_messages() {
    let good = message(&Parts::default().body());
    for kind in [0, 2, 11, 22] {
        refused(&record(&[&[kind], &good[1..]].concat()), HelloError::MessageType(kind));
    }
    refused(&record(&[good.as_slice(), &[1]].concat()), HelloError::Coalesced);
    refused(&record(&[good.as_slice(), &good].concat()), HelloError::Coalesced);

    refused(&Parts { version: 0xfefd, ..Parts::default() }.wire(), HelloError::Version(0xfefd));
    refused(&Parts { version: 0x0200, ..Parts::default() }.wire(), HelloError::Version(0x0200));
    refused(&Parts { session_id: vec![0; 33], ..Parts::default() }.wire(), HelloError::LongSessionId(33));
    refused(&Parts { suites: Vec::new(), ..Parts::default() }.wire(), HelloError::NoCipherSuites);
    refused(&Parts { suites: vec![1, 2, 3], ..Parts::default() }.wire(), HelloError::OddCipherSuites);
    refused(&Parts { compression: Vec::new(), ..Parts::default() }.wire(), HelloError::NoCompression);
    refused(&Parts { after: vec![0], ..Parts::default() }.wire(), HelloError::Trailing);
    let after = vec![0];
    refused(
        &Parts { extensions: None, after, ..Parts::default() }.wire(),
        HelloError::Ends(Part::Extensions),
    );
}

/// G4: a message cut short at every octet says in which part it ends.
#[test]
fn short_messages() {
    let body = Parts::default().body();
    let ends = [
        (0..2, Part::Version),
        (2..34, Part::Random),
        (34..67, Part::SessionId),
        (67..71, Part::CipherSuites),
        (71..73, Part::Compression),
        (74..body.len(), Part::Extensions),
    ];
    for (range, part) in ends {
        for end in range {
            refused(&record(&message(&body[..end])), HelloError::Ends(part));
        }
    }
}

/// G4: extensions, whose lengths must agree exactly and which come once each.
#[test]
fn malformed_extensions() {
    let name = extension(0, &server_name("example.org"));
    refused(&Parts::with_extensions(&[name.clone(), vec![0]]).wire(), HelloError::Ends(Part::Extension));
    refused(
        &Parts::with_extensions(&[name.clone(), vec![0, 1, 0]]).wire(),
        HelloError::Ends(Part::Extension),
    );
    refused(&Parts::with_extensions(&[vec![0, 1, 0, 9, 0]]).wire(), HelloError::Ends(Part::Extension));
    let twice = [name.clone(), extension(43, &[]), name.clone()];
    refused(&Parts::with_extensions(&twice).wire(), HelloError::DuplicateExtension(0));
    let twice = [extension(0xaaaa, &[]), name.clone(), extension(0xaaaa, &[1])];
    refused(&Parts::with_extensions(&twice).wire(), HelloError::DuplicateExtension(0xaaaa));
    // Two names, allowed first and blocked first, in two extensions or one.
    for (first, second) in [("a.example", "b.example"), ("b.example", "a.example")] {
        let entry = |name: &str| [&[0], vector16(name.as_bytes()).as_slice()].concat();
        let list = vector16(&[entry(first), entry(second)].concat());
        refused(&Parts::with_extensions(&[extension(0, &list)]).wire(), HelloError::ManyServerNames);
        let both = [extension(0, &server_name(first)), extension(0, &server_name(second))];
        refused(&Parts::with_extensions(&both).wire(), HelloError::DuplicateExtension(0));
    }
}

/// G4: the server name, in every form that is none.
#[test]
fn malformed_names() {
    let sni = |content: &[u8]| Parts::with_extensions(&[extension(0, content)]).wire();
    refused(&sni(&[]), HelloError::ServerNameList);
    refused(&sni(&[0]), HelloError::ServerNameList);
    refused(&sni(&[0, 9, 0]), HelloError::ServerNameList);
    refused(&sni(&[server_name("a.example"), vec![0]].concat()), HelloError::ServerNameList);
    refused(&sni(&[0, 0]), HelloError::NoServerNames);
    refused(&sni(&vector16(&[1, 0, 1, b'a'])), HelloError::ServerNameType(1));
    refused(&sni(&vector16(&[0, 0])), HelloError::Ends(Part::ServerName));
    refused(&sni(&vector16(&[0, 0, 9, b'a'])), HelloError::Ends(Part::ServerName));

    let name = |name: &[u8]| sni(&server_name(name));
    refused(&name(b""), HelloError::EmptyServerName);
    for address in
        ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "[2001:db8::1]", "1.2.3", "0x7f000001", "2130706433"]
    {
        refused(&name(address.as_bytes()), HelloError::ServerNameAddress);
    }
    refused(&name(b"blocked.example\0.allowed.example"), HelloError::ServerNameNul);
    refused(&name("b\u{fc}cher.example".as_bytes()), HelloError::ServerNameNotAscii);
    refused(&name(b"b\xfccher.example"), HelloError::ServerNameNotAscii);
    let long_label = "a".repeat(64) + ".example";
    // 253 octets are the longest name there is; the trailing dot is not counted.
    let long_name = "a.".repeat(127);
    named(&name(long_name.as_bytes()), Some(&long_name));
    let long_name = "a.".repeat(128);
    for (text, invalid) in [
        ("_a.example", InvalidName::Byte(b'_')),
        ("*.example", InvalidName::Byte(b'*')),
        ("a b.example", InvalidName::Byte(b' ')),
        ("blocked#.allowed.example", InvalidName::Byte(b'#')),
        ("a.example:443", InvalidName::Byte(b':')),
        (".example", InvalidName::EmptyLabel),
        ("a..example", InvalidName::EmptyLabel),
        ("a.example..", InvalidName::EmptyLabel),
        (".", InvalidName::Empty),
        ("-a.example", InvalidName::Hyphen),
        (long_label.as_str(), InvalidName::LongLabel),
        (long_name.as_str(), InvalidName::TooLong),
    ] {
        refused(&name(text.as_bytes()), HelloError::ServerName(invalid));
    }
}

/// G16: 64 KiB are enough for any hello and the end of what is read for one.
#[test]
fn sizes() {
    let sized = |total: usize| {
        let pad = total - Parts::default().body().len() - 4 - 4;
        let mut extensions = Parts::default().extensions.unwrap();
        // Lists of extensions reach 65535 octets; a hello near the limit needs no more.
        extensions.extend(extension(21, &vec![0; pad]));
        message(&Parts { extensions: Some(extensions), ..Parts::default() }.body())
    };
    let records = |message: &[u8], size: usize| message.chunks(size).flat_map(record).collect::<Vec<u8>>();
    for total in [8 << 10, (16 << 10) + 1, 32 << 10, 60 << 10] {
        named(&records(&sized(total), 1 << 14), Some("example.org"));
    }
    // One octet per record: six on the wire for one of hello.
    named(&records(&sized(9_000), 1), Some("example.org"));
    refused(&records(&sized(12_000), 1), HelloError::TooLarge);
    // The last octet that fits, and one more.
    let headers = 4 * 5;
    let fits = records(&sized(MAX_HELLO - headers), 1 << 14);
    assert_eq!(fits.len(), MAX_HELLO);
    assert!(matches!(HelloReader::default().read(&fits), Some(Ok(_))));
    let over = records(&sized(MAX_HELLO - headers + 1), 1 << 14);
    refused(&over, HelloError::TooLarge);
    // Said as soon as the length is known.
    refused(&record(&[1, 1, 0, 1]), HelloError::TooLarge);
    refused(&record(&[1, 0xff, 0xff, 0xff]), HelloError::TooLarge);
}

/// G11: each form has a text of its own, and its reason.
#[test]
fn texts() {
    let forms = [
        HelloError::Ssl2,
        HelloError::RecordType(1),
        HelloError::RecordVersion(1),
        HelloError::EmptyRecord,
        HelloError::LongRecord(1),
        HelloError::MessageType(1),
        HelloError::TooLarge,
        HelloError::Coalesced,
        HelloError::Version(1),
        HelloError::Ends(Part::Version),
        HelloError::Ends(Part::Random),
        HelloError::Ends(Part::SessionId),
        HelloError::Ends(Part::CipherSuites),
        HelloError::Ends(Part::Compression),
        HelloError::Ends(Part::Extensions),
        HelloError::Ends(Part::Extension),
        HelloError::Ends(Part::ServerName),
        HelloError::LongSessionId(1),
        HelloError::NoCipherSuites,
        HelloError::OddCipherSuites,
        HelloError::NoCompression,
        HelloError::Trailing,
        HelloError::DuplicateExtension(1),
        HelloError::ServerNameList,
        HelloError::NoServerNames,
        HelloError::ServerNameType(1),
        HelloError::ManyServerNames,
        HelloError::EmptyServerName,
        HelloError::ServerNameAddress,
        HelloError::ServerNameNul,
        HelloError::ServerNameNotAscii,
        HelloError::ServerName(InvalidName::Hyphen),
        HelloError::ServerName(InvalidName::EmptyLabel),
    ];
    let refusals = forms.map(Refusal::from);
    let mut texts: Vec<_> = refusals.iter().map(|refusal| refusal.detail.clone()).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), forms.len());
    for (form, refusal) in forms.iter().zip(&refusals) {
        let reason = match form {
            HelloError::Ssl2 => Reason::NotTlsOrHttp,
            HelloError::TooLarge => Reason::HelloTooLarge,
            _ => Reason::MalformedHello,
        };
        assert_eq!(refusal.reason, reason, "{refusal}");
    }
}

/// G4: once decided, it stays decided.
#[test]
fn outcome_stays() {
    let mut reader = HelloReader::default();
    let found = reader.push(&Parts::default().wire());
    assert!(matches!(found, Sniff::Found(_)));
    assert_eq!(reader.push(&[22, 9, 9]), found);
    let mut reader = HelloReader::default();
    let refused = reader.push(b"GET / HTTP/1.1\r\n");
    assert!(matches!(refused, Sniff::Refused(_)));
    assert_eq!(reader.push(&Parts::default().wire()), refused);
}

proptest! {
    /// G16: no bytes panic, and no cut changes the outcome.
    #[test]
    fn hostile_bytes(wire in proptest::collection::vec(any::<u8>(), 0..400), cut in 0..400usize) {
        let cut = cut.min(wire.len());
        let mut reader = HelloReader::default();
        reader.read(&wire[..cut]);
        prop_assert_eq!(HelloReader::default().read(&wire), reader.read(&wire[cut..]));
    }

    /// G4: a valid hello with some octets changed never names anybody but whom its bytes name.
    #[test]
    fn bent_hellos(changes in proptest::collection::vec((0..120usize, any::<u8>()), 1..4), cut in 0..120usize) {
        let mut wire = Parts::default().wire();
        for (place, value) in changes {
            let length = wire.len();
            wire[place % length] = value;
        }
        let mut reader = HelloReader::default();
        reader.read(&wire[..cut.min(wire.len())]);
        let whole = HelloReader::default().read(&wire);
        prop_assert_eq!(&whole, &reader.read(&wire[cut.min(wire.len())..]));
        if let Some(Ok(Hello { server_name: Some(name), .. })) = whole {
            let lower = wire.to_ascii_lowercase();
            prop_assert!(lower.windows(name.as_str().len()).any(|window| window == name.as_str().as_bytes()));
        }
    }
}
