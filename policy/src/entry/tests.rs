use proptest::prelude::*;

use super::*;
use crate::{InvalidCidr, InvalidName, InvalidPorts};

fn canonical(text: &str) -> String {
    Entry::parse(text).unwrap().to_string()
}

fn fault(text: &str) -> EntryFault {
    Entry::parse(text).unwrap_err().fault().clone()
}

#[test]
fn canonical_forms() {
    for (text, expected) in [
        ("api.example.com", "api.example.com"),
        ("API.Example.COM.", "api.example.com"),
        ("api.example.com:443,80", "api.example.com"),
        ("api.example.com:80", "api.example.com:80"),
        ("api.example.com:*", "api.example.com:*"),
        ("*.Example.com:8000-8100", "*.example.com:8000-8100"),
        ("gateway:4000", "gateway:4000"),
        ("b\u{fc}cher.example", "xn--bcher-kva.example"),
        ("*.b\u{fc}cher.example:80", "*.xn--bcher-kva.example:80"),
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7/32:8443", "192.0.2.7:8443"),
        ("192.0.2.0/24:8443", "192.0.2.0/24:8443"),
        ("2001:DB8::1", "2001:db8::1"),
        ("2001:db8::/32", "2001:db8::/32"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("[2001:db8::1]:80,443", "2001:db8::1"),
        ("[2001:db8::/32]:8443", "[2001:db8::/32]:8443"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("[::ffff:192.0.2.0/120]:90", "192.0.2.0/24:90"),
        ("tcp://git.example.com:22", "tcp://git.example.com:22"),
        ("TCP://git.example.com:443,80", "tcp://git.example.com:80,443"),
        ("ws://api.example.com", "ws://api.example.com"),
        ("ws://[2001:db8::1]:8080", "ws://[2001:db8::1]:8080"),
        ("ws://*.example.com", "ws://*.example.com"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
        assert_eq!(Entry::parse(expected).unwrap(), Entry::parse(text).unwrap());
    }
}

#[test]
fn each_mistake_has_its_own_fault() {
    use EntryFault::*;
    for (text, expected) in [
        ("", Empty),
        (" api.example.com", Blank),
        ("a.example\n", Blank),
        ("a.example\0", Blank),
        ("https://api.example.com", Scheme("https".into())),
        ("udp://api.example.com:53", Scheme("udp".into())),
        ("://api.example.com", Scheme("".into())),
        ("wss://api.example.com", SecureWebSocket),
        ("user@api.example.com", UserInfo),
        ("api.example.com/v1", Path),
        ("api.example.com:443/v1", Path),
        ("api.example.com?x", Path),
        ("api.example.com#x", Path),
        ("10.0.0.0\\8", Path),
        (":443", NoHost),
        ("tcp://", NoHost),
        ("ws://:80", NoHost),
        (".example.com", LeadingDot),
        ("*", AnyHost),
        ("*.*", AnyHost),
        ("*:443", AnyHost),
        ("*.com", TooWide),
        ("*.com:443", TooWide),
        ("api.*.com", Wildcard),
        ("*api.example.com", Wildcard),
        ("*.*.example.com", Wildcard),
        ("example.*", Wildcard),
        ("[192.0.2.7]:80", Bracket),
        ("[2001:db8::1", Bracket),
        ("[2001:db8::1]443", Bracket),
        ("[2001:db8::]/32", Bracket),
        ("[api.example.com]:443", Bracket),
        ("api.example.com:80:443", Colons),
        ("127.0.0.1:8080", NeverDialled("loopback (RFC 1122 section 3.2.1.3)")),
        ("tcp://*.example.com:22", TcpHost),
        ("tcp://192.0.2.7:22", TcpHost),
        ("tcp://git.example.com", TcpPorts),
        ("tcp://git.example.com:*", TcpPorts),
        ("2001:db8::g", Colons),
        ("2001:db8:::1", Address(InvalidCidr::Address)),
        ("192.0.2.0/33", Address(InvalidCidr::TooLong { max: 32 })),
        ("192.0.2.0/x", Address(InvalidCidr::Length)),
        ("api_1.example.com", Name(InvalidName::Byte(b'_'))),
        ("1.2.3", Name(InvalidName::Address)),
        ("010.0.0.1", Name(InvalidName::Address)),
        ("api..example.com", Name(InvalidName::EmptyLabel)),
        ("api.example.com:https", Ports(InvalidPorts::NotANumber("https".into()))),
        ("api.example.com:", Ports(InvalidPorts::Empty)),
        ("api.example.com:0", Ports(InvalidPorts::OutOfRange("0".into()))),
    ] {
        assert_eq!(fault(text), expected, "{text:?}");
    }
}

#[test]
fn the_remedy_is_the_entry_that_was_meant() {
    for (text, expected) in [
        ("https://api.example.com", Some("api.example.com")),
        ("https://user:pass@API.example.com:8443/v1?x=y#z", Some("api.example.com:8443")),
        ("wss://api.example.com/socket", Some("api.example.com")),
        ("api.example.com/v1", Some("api.example.com")),
        ("user@api.example.com", Some("api.example.com")),
        (" api.example.com ", Some("api.example.com")),
        (".example.com", Some("*.example.com")),
        ("10.1.2.3/8", Some("10.0.0.0/8")),
        ("10.1.2.3/8:8443", Some("10.0.0.0/8:8443")),
        ("[2001:db8::1/32]:8443", Some("[2001:db8::/32]:8443")),
        ("2001:db8::1/32", Some("2001:db8::/32")),
        ("ws://10.1.2.3/8", Some("ws://10.0.0.0/8")),
        ("api.example.com:443-80", Some("api.example.com:80-443")),
        ("api.example.com:443,", Some("api.example.com:443")),
        ("api.example.com:", Some("api.example.com")),
        ("https://*", None),
        ("*.com", None),
        ("https://127.0.0.1/", None),
        ("", None),
    ] {
        assert_eq!(Entry::parse(text).unwrap_err().remedy(), expected, "{text:?}");
    }
}

#[test]
fn the_message_is_one_short_line_whatever_the_text() {
    let error = Entry::parse("https://api.example.com").unwrap_err().to_string();
    assert_eq!(
        error,
        r#""https://api.example.com": an entry is a host, not a URL: the scheme "https" does not belong; write "api.example.com""#
    );
    let hostile = format!("\x1b[2J\n{}", "x".repeat(100_000));
    let error = Entry::parse(&hostile).unwrap_err().to_string();
    assert!(error.len() < 400 && !error.contains(['\x1b', '\n']), "{error}");
}

#[test]
fn specific_entries_come_first() {
    let texts = [
        "10.0.0.0/8",
        "*.example.com",
        "10.1.0.0/16",
        "z.example.com",
        "*.a.example.com",
        "a.example.com:80",
    ];
    let mut entries = texts.map(|text| Entry::parse(text).unwrap());
    entries.sort_by(|a, b| a.precedence().cmp(&b.precedence()));
    assert_eq!(
        entries.each_ref().map(Entry::as_str),
        [
            "a.example.com:80",
            "z.example.com",
            "*.a.example.com",
            "*.example.com",
            "10.1.0.0/16",
            "10.0.0.0/8"
        ]
    );
}

/// Texts that are entries, and texts that are nearly so.
fn text() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        "(\\*\\.)?[a-z0-9-]{1,8}(\\.[a-z0-9A-Z-]{1,8}){0,3}\\.?",
        any::<std::net::Ipv4Addr>().prop_map(|address| address.to_string()),
        any::<std::net::Ipv6Addr>().prop_map(|address| format!("[{address}]")),
        any::<std::net::Ipv6Addr>().prop_map(|address| address.to_string()),
        (any::<u32>(), 0u32..=32).prop_map(|(bits, length)| {
            let bits = bits & u32::MAX.checked_shl(32 - length).unwrap_or(0);
            format!("{}/{length}", std::net::Ipv4Addr::from_bits(bits))
        }),
        (any::<u128>(), 0u32..=128).prop_map(|(bits, length)| {
            let bits = bits & u128::MAX.checked_shl(128 - length).unwrap_or(0);
            format!("[{}/{length}]", std::net::Ipv6Addr::from_bits(bits))
        }),
    ];
    let ports = prop_oneof![
        Just(String::new()),
        Just(":*".into()),
        "(:[1-9][0-9]{0,4}(-[0-9]{1,5})?(,[0-9]{1,5}){0,3})"
    ];
    ("(tcp://|ws://|)", host, ports).prop_map(|(scheme, host, ports)| scheme + &host + &ports)
}

proptest! {
    #[test]
    fn what_parses_prints_to_what_parses_to_the_same(text in text()) {
        if let Ok(entry) = Entry::parse(&text) {
            prop_assert_eq!(Entry::parse(entry.as_str()), Ok(entry.clone()), "{}", text);
            let again = Entry::parse(entry.as_str()).unwrap();
            prop_assert_eq!(again.as_str(), entry.as_str());
        }
    }

    /// G16: no text panics, and a remedy is always an entry.
    #[test]
    fn any_text_is_read_or_refused(text in prop_oneof![any::<String>(), text(), "[\\[\\]:/.*@0-9a-f]{0,20}"]) {
        if let Err(invalid) = Entry::parse(&text)
            && let Some(remedy) = invalid.remedy()
        {
            let entry = Entry::parse(remedy).unwrap();
            prop_assert_eq!(entry.as_str(), remedy);
        }
    }
}
