//! ClientHellos that are cut, late, oversized, hidden or not the first thing that is said.
//!
//! Steps: begin a connection to port 443 with bytes that an inspector may give up on: a hello in many records and
//! segments, one that never ends, an older protocol, another record first. An inspector that then forwards leaks.
//!
//! Guarantees: G4 (nothing falls back to "other protocol" or to the original destination), G11, G16.

use crate::battery::{Attack, attack, attempt, attempt_in};

const RESET: &[&str] = &["ECONNRESET"];

const fn denied(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["alert 49"]).logged("name-not-allowed")
}

const fn malformed(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["alert 50"]).logged("malformed-hello")
}

const fn neither(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, RESET).logged("not-tls-or-http")
}

const CUT: &[Attack] = &[
    denied("two segments", "tcp(v4, 443, *at_nonce(hello(sni(host))))"),
    denied("a segment for each octet", "tcp(v4, 443, *bytewise(hello(sni(host))))")
        .control("tcp(v4, 443, *at_nonce(hello(sni(host))))"),
    denied("two records", "tcp(v4, 443, *segments(b''.join(record(part) for part in at_nonce(message(sni(host))))))"),
    denied("a record for each octet", "tcp(v4, 443, b''.join(in_records(message(sni(host)), 1)))")
        .control("tcp(v4, 443, *at_nonce(hello(sni(host))))"),
    denied("40 KiB of padding", "tcp(v4, 443, *segments(b''.join(in_records(message(extension(21, bytes(40000)), sni(host)), 16000))))")
        .control("tcp(v4, 443, *at_nonce(hello(sni(host))))"),
    attack("70 KiB of padding", "tcp(v4, 443, *segments(b''.join(in_records(message(extension(21, bytes(60000)), \
        extension(22, bytes(5300)), sni(host)), 1000))))", &["alert 50"])
        .logged("hello-too-large")
        .control("tcp(v4, 443, *at_nonce(hello(sni(host))))"),
];

const OTHER_RECORDS: &[Attack] = &[
    neither("an SSL 2.0 hello", "tcp(v4, 443, ssl2(b'\\x03\\x01'))"),
    neither("an SSL 2.0 hello of version 2", "tcp(v4, 443, ssl2(b'\\x00\\x02'))"),
    neither("an alert first", "tcp(v4, 443, record(b'\\x01\\x00', kind=21) + hello(sni(host)))"),
    neither("change cipher spec first", "tcp(v4, 443, record(b'\\x01', kind=20) + hello(sni(host)))"),
    neither("application data first", "tcp(v4, 443, record(N, kind=23))"),
    neither("a heartbeat first", "tcp(v4, 443, record(b'\\x01' + vector(2, N), kind=24))"),
    malformed("an unknown record version", "tcp(v4, 443, record(message(sni(host)), version=0x7f01))"),
    malformed("DTLS", "tcp(v4, 443, record(message(sni(host)), version=0xfefd))"),
    malformed("an empty record first", "tcp(v4, 443, record(b'') + hello(sni(host)))"),
    malformed(
        "a record over the limit",
        "tcp(v4, 443, *segments(record(message(sni(host), extension(21, bytes(20000))))))",
    ),
    malformed("a ServerHello", "tcp(v4, 443, record(b'\\x02' + vector(3, N)))"),
    malformed("a hello in which a part ends too late", "tcp(v4, 443, hello(session=N + bytes(40)))"),
    malformed(
        "a hello with something behind it",
        "tcp(v4, 443, record(message(sni('api.anthropic.com')) + message(sni(host))))",
    ),
    malformed(
        "two hellos in two records, cut",
        "tcp(v4, 443, *segments(\
        record(message(sni('api.anthropic.com'))[:50]) + record(N) + record(message(sni('api.anthropic.com'))[50:])))",
    ),
    attack("plain HTTP to port 443", "web(v4, 443, get(host + ':443'))", &["status 403"])
        .logged("name-not-allowed"),
    attack("half a hello and the end", "half(hello(sni(host)))", &["eof", "ECONNRESET", "alert 50"])
        .logged("hello-timeout")
        .control("tcp(v4, 443, hello(sni(host)))"),
];

/// G4: a deadline from accept, which no drip moves; then refused, not forwarded.
const LATE: &[Attack] = &[
    attack("nothing is said", "tcp_server_first(v4, 443)", RESET)
        .patient()
        .logged("hello-timeout")
        .control("tcp(v4, 443, N)"),
    attack("nothing is said, port 80", "tcp_server_first(v4, 80)", RESET)
        .patient()
        .logged("hello-timeout")
        .control("tcp(v4, 80, N)"),
    attack("half a hello", "tcp(v4, 443, hello(sni(host))[:60])", &["alert 50"])
        .patient()
        .logged("hello-timeout")
        .control("tcp(v4, 443, hello(sni(host)))"),
    attack("a drip", "drip(hello(sni(host)), 0.5)", &["alert 50", "ECONNRESET", "EPIPE"])
        .patient()
        .logged("hello-timeout")
        .control("tcp(v4, 443, hello(sni(host)))"),
    attack("a dripping request", "drip(get(host), 0.5, 80)", &["status 408", "ECONNRESET", "EPIPE"])
        .patient()
        .logged("hello-timeout")
        .control("tcp(v4, 80, get(host))"),
    attack(
        "the permitted name, dripped",
        "drip(inside('api.anthropic.com'), 0.5)",
        &["alert 50", "ECONNRESET", "EPIPE"],
    )
    .patient()
    .logged("hello-timeout")
    .control("tcp(v4, 443, inside('api.anthropic.com'))"),
];

const ECH: &[Attack] = &[
    attack(
        "encrypted hello below the permitted name",
        "tcp(v4, 443, hello(sni('api.anthropic.com'), ech()))",
        &["alert 49"],
    )
    .logged("ech-refused"),
    attack("encrypted hello below another name", "tcp(v4, 443, hello(sni(host), ech()))", &["alert 49"])
        .logged("ech-refused"),
];

/// The outer name is dialled, so that an inner name for another host ends at the permitted one.
const ECH_BY_OUTER_NAME: &[Attack] = &[
    attack(
        "encrypted hello below the permitted name",
        "tcp(v4, 443, hello(sni('api.anthropic.com'), ech()))",
        &["reached open"],
    )
    .rewritten(),
    denied("encrypted hello below another name", "tcp(v4, 443, hello(sni(host), ech()))"),
];

#[test]
fn hellos_that_are_cut() {
    attempt("hellos that are cut", CUT);
}

#[test]
fn what_is_no_hello() {
    attempt("what is no hello", OTHER_RECORDS);
}

#[test]
fn hellos_that_are_late() {
    attempt("hellos that are late", LATE);
}

#[test]
fn encrypted_hellos() {
    attempt("encrypted hellos", ECH_BY_OUTER_NAME);
    let refusing = |run: crate::support::Run| {
        let policy = run.file("policy.toml");
        let text = "schema = 1\nname = \"test\"\n[phase.agent]\nallow = [\"api.anthropic.com\"]\n[tls]\nech = \"refuse\"\n";
        std::fs::write(&policy, text).unwrap();
        run.flag("--policy").flag(&policy.to_string_lossy())
    };
    attempt_in("encrypted hellos, refused", refusing, ECH);
}
