//! Names in TLS that are not the permitted one, or that only look like it.
//!
//! Steps: connect to an address of the attacker; send a ClientHello whose server name is another host's, absent, there
//! twice, or written so that a careless reader takes it for the permitted one. The nonce is in the name or in the session id.
//!
//! Guarantees: G1 (default deny), G3 (the name decides, not the address), G4 (no evidence, no passage), G11.

use crate::battery::{Attack, attack, attempt};

const DENIED: &[&str] = &["alert 49"];
const MALFORMED: &[&str] = &["alert 50"];
/// The lab's own answer to a hello that goes on no further.
const ANSWERED: &[&str] = &["reached open"];

const fn denied(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, DENIED).logged("name-not-allowed")
}

const fn malformed(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, MALFORMED).logged("malformed-hello")
}

const OTHER_NAMES: &[Attack] = &[
    denied("another", "tcp(v4, 443, hello(sni(host)))"),
    denied("another, by IPv6", "tcp(v6, 443, hello(sni(host)))"),
    denied("another, on port 80", "tcp(v4, 80, hello(sni(host)))"),
    denied("permitted name as prefix", "tcp(v4, 443, inside('api.anthropic.com.evil.test'))"),
    denied("permitted name as suffix, no dot", "tcp(v4, 443, inside('xapi.anthropic.com'))"),
    denied("permitted name as suffix, hyphen", "tcp(v4, 443, inside('evil-api.anthropic.com'))"),
    denied("below the permitted name", "tcp(v4, 443, inside(nonce + '.api.anthropic.com'))"),
    denied("above the permitted name", "tcp(v4, 443, inside('anthropic.com'))"),
    denied("dot replaced", "tcp(v4, 443, inside('api-anthropic.com'))"),
    denied("one letter more", "tcp(v4, 443, inside('api.anthropic.comm'))"),
    denied("one letter less", "tcp(v4, 443, inside('api.anthropic.co'))"),
    denied("punycode look-alike", "tcp(v4, 443, inside('xn--api-anthropic-com.test'))"),
    denied("upper case", "tcp(v4, 443, hello(sni(host.upper())))"),
    denied("trailing dot", "tcp(v4, 443, hello(sni(host + '.')))"),
    denied("odd application protocols", "tcp(v4, 443, hello(sni(host), alpn(b'acme-tls/1', b'h3', b'ssh')))"),
    denied(
        "a handshake by OpenSSL",
        "tcp(v4, 443, hello(sni(host))) if tls(v4, 443, host) == \
        'ssl TLSV1_ALERT_ACCESS_DENIED' else 'reached'",
    ),
    denied(
        "resumption with early data",
        "tcp(v4, 443, hello(sni(host), extension(42, b'')) + record(b'GET /' + N, kind=23))",
    ),
    denied("name of the lab's own address", "tcp(v4, 443, inside('localhost.evil.test'))"),
];

/// G3: what the client dialled counts for nothing; the lab must see the permitted host's address.
const OTHER_ADDRESSES: &[Attack] = &[
    attack("permitted name at another address", "tls(v4, 443, 'api.anthropic.com')", &["status 200"])
        .rewritten(),
    attack("permitted name at another IPv6 address", "tls(v6, 443, 'api.anthropic.com')", &["status 200"])
        .rewritten(),
    attack("permitted name in capitals", "tcp(v4, 443, inside('API.Anthropic.COM'))", ANSWERED).rewritten(),
    attack(
        "permitted name at the metadata address",
        "tls('169.254.169.254', 443, 'api.anthropic.com')",
        &["status 200"],
    )
    .rewritten(),
    attack(
        "permitted name at a private address",
        "tls('10.0.0.5', 443, 'api.anthropic.com')",
        &["status 200"],
    )
    .rewritten(),
    attack("permitted name, port 8443", "tcp(v4, 8443, inside('api.anthropic.com'))", DENIED)
        .logged("port-not-allowed"),
    attack("permitted name, port 22", "tcp(v4, 22, inside('api.anthropic.com'))", DENIED)
        .logged("port-not-allowed"),
    attack("permitted name, port 853", "tcp(v4, 853, inside('api.anthropic.com'))", DENIED)
        .logged("port-not-allowed"),
];

const NO_NAMES: &[Attack] = &[
    attack("no name", "tcp(v4, 443, hello(session=N))", &["alert 109"]).logged("no-server-name"),
    attack("no name, by IPv6", "tcp(v6, 443, hello(session=N))", &["alert 109"]).logged("no-server-name"),
    malformed("an empty name", "tcp(v4, 443, inside(''))"),
    malformed("an empty list", "tcp(v4, 443, hello(sni(), session=N))"),
    malformed("an empty extension", "tcp(v4, 443, hello(extension(0, b''), session=N))"),
    malformed("a name of another type", "tcp(v4, 443, hello(extension(0, vector(2, name_entry(host, 1)))))"),
    malformed("two names, permitted first", "tcp(v4, 443, hello(sni('api.anthropic.com', host)))"),
    malformed("two names, permitted last", "tcp(v4, 443, hello(sni(host, 'api.anthropic.com')))"),
    malformed(
        "the same name twice",
        "tcp(v4, 443, hello(sni('api.anthropic.com', 'api.anthropic.com'), session=N))",
    ),
    malformed("two extensions, permitted first", "tcp(v4, 443, hello(sni('api.anthropic.com'), sni(host)))"),
    malformed("two extensions, permitted last", "tcp(v4, 443, hello(sni(host), sni('api.anthropic.com')))"),
    malformed(
        "two types, permitted first",
        "tcp(v4, 443, hello(extension(0, vector(2, \
        name_entry('api.anthropic.com') + name_entry(host, 7)))))",
    ),
    malformed(
        "list longer than it says",
        "tcp(v4, 443, hello(extension(0, \
        vector(2, name_entry('api.anthropic.com')) + name_entry(host))))",
    ),
    malformed("IPv4 literal", "tcp(v4, 443, inside(v4))"),
    malformed("IPv6 literal", "tcp(v4, 443, inside(v6))"),
    malformed("IPv6 literal in brackets", "tcp(v4, 443, inside('[' + v6 + ']'))"),
    malformed("one number", "tcp(v4, 443, inside('3405803777'))"),
    malformed("hexadecimal", "tcp(v4, 443, inside('0xcb007101'))"),
    malformed("octal", "tcp(v4, 443, inside('0313.0.0161.1'))"),
    malformed("a NUL after the permitted name", "tcp(v4, 443, inside('api.anthropic.com\\0.' + host))"),
    malformed("a NUL before the permitted name", "tcp(v4, 443, inside(host + '\\0.api.anthropic.com'))"),
    malformed("leading dot", "tcp(v4, 443, inside('.' + host))"),
    malformed("two dots", "tcp(v4, 443, inside('a..' + host))"),
    malformed("two trailing dots", "tcp(v4, 443, inside('api.anthropic.com..'))"),
    malformed("leading blank", "tcp(v4, 443, inside(' api.anthropic.com'))"),
    malformed("trailing blank", "tcp(v4, 443, inside('api.anthropic.com '))"),
    malformed("line feed", "tcp(v4, 443, inside('api.anthropic.com\\n' + host))"),
    malformed("asterisk", "tcp(v4, 443, inside('*.anthropic.com'))"),
    malformed("fragment", "tcp(v4, 443, inside('evil.test#.api.anthropic.com'))"),
    malformed("user information", "tcp(v4, 443, inside('api.anthropic.com@evil.test'))"),
    malformed("port", "tcp(v4, 443, inside('api.anthropic.com:443'))"),
    malformed("full-width dot", "tcp(v4, 443, inside('api\u{ff0e}anthropic.com'))"),
    malformed("not ASCII", "tcp(v4, 443, inside(b'\\xff\\xfe.test'))"),
    malformed("a label of 64", "tcp(v4, 443, inside('a' * 64 + '.test'))"),
    malformed("a name of 300", "tcp(v4, 443, inside('.'.join(['a' * 49] * 6)))"),
];

#[test]
fn names_of_others() {
    attempt("names of others", OTHER_NAMES);
}

#[test]
fn the_permitted_name_elsewhere() {
    attempt("the permitted name elsewhere", OTHER_ADDRESSES);
}

#[test]
fn what_is_not_one_name() {
    attempt("what is not one name", NO_NAMES);
}
