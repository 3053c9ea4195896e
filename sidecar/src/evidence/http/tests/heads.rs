//! Heads, one rule at a time.

use std::collections::BTreeMap;

use closedbook_policy::{Host, Name, Reason, Request, Upgrade};

use super::super::{MAX_FIELDS, MAX_HEAD};
use super::{accepted, drive, refused};

fn host(name: &str) -> Host {
    Host::Name(Name::parse(name).unwrap())
}

fn request(line: &str) -> Vec<u8> {
    format!("{line}\r\nHost: a.example\r\n\r\n").into_bytes()
}

fn with_host(value: &str) -> Vec<u8> {
    format!("GET / HTTP/1.1\r\nHost: {value}\r\n\r\n").into_bytes()
}

fn with_fields(fields: &str) -> Vec<u8> {
    format!("GET / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n").into_bytes()
}

/// G12: what clients send.
#[test]
fn ordinary_requests() {
    for line in [
        "GET / HTTP/1.1",
        "GET / HTTP/1.0",
        "get / HTTP/1.1",
        "PROPFIND /calendar/ HTTP/1.1",
        "REPORT /svn HTTP/1.1",
        "M-SEARCH / HTTP/1.1",
        "OPTIONS /v1/messages HTTP/1.1",
        "DELETE /a%20b?q=1&r=%00 HTTP/1.1",
        "GET /{\"a\"}|?b={c}|^`\\[e]?? HTTP/1.1",
        "GET //b.example/ HTTP/1.1",
        "GET /http://b.example/ HTTP/1.1",
        "GET /?u=http://b.example/ HTTP/1.1",
    ] {
        let expected = Request { host: host("a.example"), port: None, upgrade: Upgrade::None };
        assert_eq!(accepted(&request(line)), [expected]);
    }
    accepted(&with_fields("Accept: */*\r\nX-Empty:\r\nX-Tab:\t a\tb \r\nX-Text: na\u{ef}ve\r\nHost2: b\r\n"));
    accepted(&with_fields("Connection: keep-alive, TE\r\nTE: trailers\r\nExpect: 100-continue\r\n"));
    accepted(b"GET / HTTP/1.1\r\nhOST:a.example\r\n\r\n");
}

/// G5: the request line.
#[test]
fn request_lines() {
    for (line, reason) in [
        ("", Reason::HttpMalformed),
        ("GET", Reason::HttpMalformed),
        ("GET /", Reason::HttpMalformed),
        ("GET ", Reason::HttpMalformed),
        ("GET  HTTP/1.1", Reason::HttpMalformed),
        ("GET  / HTTP/1.1", Reason::HttpMalformed),
        ("GET / HTTP/1.1 ", Reason::HttpMalformed),
        ("GET /  HTTP/1.1", Reason::HttpMalformed),
        (" GET / HTTP/1.1", Reason::HttpMalformed),
        ("GET\t/\tHTTP/1.1", Reason::HttpMalformed),
        ("GET /a b HTTP/1.1", Reason::HttpMalformed),
        ("GET / HTTP/1.2", Reason::HttpMalformed),
        ("GET / HTTP/0.9", Reason::HttpMalformed),
        ("GET / HTTP/2.0", Reason::HttpMalformed),
        ("GET / HTTP/2", Reason::HttpMalformed),
        ("GET / HTTP/1.10", Reason::HttpMalformed),
        ("GET / HTTP/01.1", Reason::HttpMalformed),
        ("GET / http/1.1", Reason::HttpMalformed),
        ("GET / HTTP 1.1", Reason::HttpMalformed),
        ("GE\u{fc}T / HTTP/1.1", Reason::HttpMalformed),
        ("GET:/ / HTTP/1.1", Reason::HttpMalformed),
        ("GET / RTSP/1.0", Reason::HttpMalformed),
        ("GET /#b HTTP/1.1", Reason::HttpMalformed),
        ("GET /<b> HTTP/1.1", Reason::HttpMalformed),
        ("GET /`b` HTTP/1.1", Reason::HttpMalformed),
        ("GET /?\"b\" HTTP/1.1", Reason::HttpMalformed),
        ("GET /\u{fc} HTTP/1.1", Reason::HttpMalformed),
        ("GET /\t HTTP/1.1", Reason::HttpMalformed),
        ("A23456789012345678901234567890123 / HTTP/1.1", Reason::HttpMalformed),
        ("EHLO client.example", Reason::HttpMalformed),
        ("CONNECT b.example:443 HTTP/1.1", Reason::HttpMethod),
        ("connect b.example:443 HTTP/1.1", Reason::HttpMethod),
        ("CONNECT / HTTP/1.1", Reason::HttpMethod),
        ("TRACE / HTTP/1.1", Reason::HttpMethod),
        ("Trace / HTTP/1.1", Reason::HttpMethod),
        ("PRI * HTTP/2.0", Reason::HttpMethod),
        ("OPTIONS * HTTP/1.1", Reason::HttpForm),
        ("GET http://a.example/ HTTP/1.1", Reason::HttpForm),
        ("GET HTTP://b.example HTTP/1.1", Reason::HttpForm),
        ("GET https://b.example/ HTTP/1.1", Reason::HttpForm),
        ("GET b.example:80 HTTP/1.1", Reason::HttpForm),
        ("GET b.example/ HTTP/1.1", Reason::HttpForm),
        ("GET ?q HTTP/1.1", Reason::HttpForm),
        ("GET \\ HTTP/1.1", Reason::HttpForm),
    ] {
        refused(&request(line), 0, reason);
    }
    // The whole preface of HTTP/2 with prior knowledge.
    refused(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", 0, Reason::HttpMethod);
    // HTTP/0.9 is refused with its first line, not at the deadline.
    refused(b"GET /\r\n", 0, Reason::HttpMalformed);
}

/// G5: line ends, control octets and the form of field lines; each said where it stands, not when the head ends.
#[test]
fn lines() {
    for head in [
        "GET / HTTP/1.1\n",
        "GET / HTTP/1.1\r\nHost: a.example\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\n\n",
        "GET / HTTP/1.1\r\r",
        "GET / HTTP/1.1\r\nHost: a.example\r\r",
        "GET / HTTP/1.1\r\nHost: a\rb",
        "\r\nGET / HTTP/1.1\r\n",
        "\n",
        "GET / HTTP/1.1\r\nA: \0",
        "GET / HTTP/1.1\r\nA: \x7f",
        "GET / HTTP/1.1\r\nA: \x0b",
        "GET / HTTP/1.1\r\n\x01",
        "GET /\0",
        "\0",
        "GET / HTTP/1.1\r\nHost: a.example\r\n b: c\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\n\tb\r\n",
        "GET / HTTP/1.1\r\n Host: a.example\r\n",
        "GET / HTTP/1.1\r\nA: b\r\n \r\n",
        "GET / HTTP/1.1\r\nHost : a.example\r\n",
        "GET / HTTP/1.1\r\nHost\t: a.example\r\n",
        "GET / HTTP/1.1\r\nA b: c\r\n",
        "GET / HTTP/1.1\r\nHost\r\n",
        "GET / HTTP/1.1\r\n: a.example\r\n",
        "GET / HTTP/1.1\r\nH\u{f6}st: a.example\r\n",
        "GET / HTTP/1.1\r\nHost;: a.example\r\n",
        "GET / HTTP/1.1\r\n(Host): a.example\r\n",
        "GET / HTTP/1.1\r\nContent_Length: 5\r\n",
        "GET / HTTP/1.1\r\nTransfer_Encoding: chunked\r\n",
        "GET / HTTP/1.1\r\nTransfer-encoding_: chunked\r\nHost_: a\r\nHTTP2_Settings: b\r\n",
    ] {
        refused(head.as_bytes(), 0, Reason::HttpMalformed);
    }
}

/// G5: exactly one Host, read in the one form that everybody reads alike.
#[test]
fn hosts() {
    let address = |text: &str| Host::Address(text.parse().unwrap());
    for (value, expected, port) in [
        ("a.example", host("a.example"), None),
        ("A.Example", host("a.example"), None),
        ("a.example.", host("a.example"), None),
        ("a.example:80", host("a.example"), Some(80)),
        ("a.example.:65535", host("a.example"), Some(65535)),
        ("localhost", host("localhost"), None),
        ("xn--bcher-kva.example", host("xn--bcher-kva.example"), None),
        ("192.0.2.1", address("192.0.2.1"), None),
        ("192.0.2.1:8080", address("192.0.2.1"), Some(8080)),
        ("[2001:db8::1]", address("2001:db8::1"), None),
        ("[2001:DB8::1]:443", address("2001:db8::1"), Some(443)),
        ("[::ffff:192.0.2.1]", address("::ffff:192.0.2.1"), None),
    ] {
        assert_eq!(
            accepted(&with_host(value)),
            [Request { host: expected, port, upgrade: Upgrade::None }],
            "{value}"
        );
    }
    for value in [
        " a.example",
        "a.example ",
        "\ta.example",
        "a.example\t",
        "a.example b",
        "a.example,b.example",
        "a.example, b.example",
        "u@a.example",
        "a.example@b.example",
        "u:p@a.example",
        "a.example:",
        "a.example:0",
        "a.example:080",
        "a.example:+80",
        "a.example:65536",
        "a.example:80:80",
        "a.example:8o",
        "a.example: 80",
        ":80",
        "a..example",
        ".a.example",
        "a.example..",
        ".",
        "*.example",
        "a_b.example",
        "-a.example",
        "a.example/",
        "a.example?b",
        "a.example#b",
        "http://a.example",
        "a%2eexample",
        "%61.example",
        "a.example%00",
        "b\u{fc}cher.example",
        "a\u{ff0e}example",
        "a\u{3002}example",
        "[a.example]",
        "[192.0.2.1]",
        "[2001:db8::1",
        "2001:db8::1",
        "[2001:db8::1]80",
        "[2001:db8::1]:",
        "[2001:db8::1].",
        "[fe80::1%25eth0]",
        "[v1.a]",
        "[]",
        "192.0.2.1.",
        "192.0.2",
        "192.0.2.01",
        "192.0.2.256",
        "0x7f.0.0.1",
        "0x7f000001",
        "2130706433",
        "127.1",
        "192.0.2.1.5",
        "a.example;b",
        "a.example\\b",
        "\"a.example\"",
        "a.1",
    ] {
        refused(&with_host(value), 0, Reason::HttpMalformed);
    }
    refused(b"GET / HTTP/1.1\r\n\r\n", 0, Reason::HostMissing);
    refused(b"GET / HTTP/1.0\r\n\r\n", 0, Reason::HostMissing);
    refused(b"GET / HTTP/1.1\r\nX-Host: a.example\r\n\r\n", 0, Reason::HostMissing);
    refused(&with_host(""), 0, Reason::HostMissing);
    refused(b"GET / HTTP/1.1\r\nHost:\r\n\r\n", 0, Reason::HostMissing);
    for second in ["Host: a.example", "Host: b.example", "HOST: a.example", "host:", "Host: ?"] {
        refused(&with_fields(&format!("{second}\r\n")), 0, Reason::HostDuplicate);
    }
}

/// G5: h2c and everything else that would leave HTTP, but a websocket.
#[test]
fn upgrades() {
    const SWITCH: &str = "Connection: Upgrade\r\n";
    for fields in [
        "Upgrade: h2c\r\n",
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "HTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Connection: HTTP2-Settings\r\n",
        "Upgrade: websocket, h2c\r\n",
        "Upgrade: h2c, websocket\r\n",
        "Upgrade: websocket\r\nUpgrade: websocket\r\n",
        "Upgrade: websocket/13\r\n",
        "Upgrade:\r\n",
        "Upgrade: TLS/1.0\r\n",
        "Upgrade: websocket\r\nContent-Length: 5\r\n",
        "Upgrade: websocket\r\nTransfer-Encoding: chunked\r\n",
        "Upgrade: websocket\r\nExpect: 100-continue\r\n",
    ] {
        refused(&with_fields(&format!("{SWITCH}{fields}")), 0, Reason::HttpUpgrade);
    }
    refused(&with_fields("Upgrade: websocket\r\n"), 0, Reason::HttpUpgrade);
    refused(&with_fields("Connection: keep-alive\r\nUpgrade: websocket\r\n"), 0, Reason::HttpUpgrade);
    for line in ["POST / HTTP/1.1", "GET / HTTP/1.0", "get / HTTP/1.1"] {
        let head = format!("{line}\r\nHost: a.example\r\n{SWITCH}Upgrade: websocket\r\n\r\n");
        refused(head.as_bytes(), 0, Reason::HttpUpgrade);
    }
    for fields in [
        "Connection: Upgrade\r\nUpgrade: websocket\r\n",
        "Upgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\n",
        "Connection: upgrade\r\nUpgrade:  websocket \r\nContent-Length: 0\r\n",
    ] {
        let expected = Request { host: host("a.example"), port: None, upgrade: Upgrade::WebSocket };
        assert_eq!(drive(&[&with_fields(fields)]).requests, [(0, expected)]);
    }
    // An offer without an Upgrade offers nothing.
    accepted(&with_fields(SWITCH));
}

/// G5: Expect and Connection.
#[test]
fn expectations_and_options() {
    for fields in [
        "Expect: 200-ok\r\n",
        "Expect:\r\n",
        "Expect: 100-continue, x\r\n",
        "Expect: 100-continue\r\nExpect: 100-continue\r\n",
        "Connection: host\r\n",
        "Connection: close, Content-Length\r\n",
        "Connection: transfer-encoding\r\n",
        "Connection: keep-alive,transfer_encoding\r\n",
    ] {
        refused(&with_fields(fields), 0, Reason::HttpMalformed);
    }
    accepted(&with_fields("Connection: close\r\nConnection: ,,\r\nExpect:  100-Continue\r\n"));
}

/// G16: bounds.
#[test]
fn sizes() {
    let fields = |count: usize| with_fields(&"A: b\r\n".repeat(count - 1));
    accepted(&fields(MAX_FIELDS));
    refused(&fields(MAX_FIELDS + 1), 0, Reason::HttpMalformed);

    let sized = |size: usize| {
        let rest = with_fields("A: \r\n").len();
        with_fields(&format!("A: {}\r\n", "a".repeat(size - rest)))
    };
    assert_eq!(accepted(&sized(MAX_HEAD)).len(), 1);
    refused(&sized(MAX_HEAD + 1), 0, Reason::HelloTooLarge);
    // Said when the last octet that fits is there, so that a full buffer never waits.
    refused(&sized(MAX_HEAD + 1)[..MAX_HEAD], 0, Reason::HelloTooLarge);
    refused(&[b'A'; MAX_HEAD], 0, Reason::HelloTooLarge);
}

/// G11: a text tells one form from another.
#[test]
fn texts() {
    let mut texts = BTreeMap::new();
    for bytes in [
        with_host("u@a.example"),
        with_host("[a.example]"),
        with_host("a.example:0"),
        with_host("0x7f000001"),
        with_host("a_b.example"),
        with_host("a..example"),
        with_host("a.example\t"),
        request("GET /"),
        request("GET"),
        request("GET / HTTP/3.0"),
        request("GET /# HTTP/1.1"),
        b"GET / HTTP/1.1\n".to_vec(),
        b"GET / HTTP/1.1\ra".to_vec(),
        b"GET /\0".to_vec(),
        b"\r\n".to_vec(),
        with_fields(" a\r\n"),
        with_fields("a\r\n"),
        with_fields(": a\r\n"),
        with_fields("a : b\r\n"),
        with_fields("a@b: c\r\n"),
        with_fields("Content_Length: 1\r\n"),
        with_fields("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
        with_fields("Content-Length: 1\r\nContent-Length: 1\r\n"),
        with_fields("Content-Length: +1\r\n"),
        with_fields("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        with_fields("Transfer-Encoding: gzip\r\n"),
        with_fields("Expect: a\r\n"),
        with_fields("Connection: host\r\n"),
    ] {
        let refusal = refused(&bytes, 0, Reason::HttpMalformed);
        if let Some(other) = texts.insert(refusal.detail.clone(), bytes.clone()) {
            panic!("{}: {} and {}", refusal.detail, other.escape_ascii(), bytes.escape_ascii());
        }
    }
}
