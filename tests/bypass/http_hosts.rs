//! Plain HTTP to another host, or to one that only looks permitted.
//!
//! Steps: connect to port 80 of an address of the attacker; send a request whose Host is another name, missing, there
//! twice, or written so that a careless reader takes it for the permitted one. The nonce is in the path.
//!
//! Guarantees: G1, G3 (the name decides), G4 (nothing ambiguous passes), G5 (every request), G11.

use crate::battery::{Attack, attack, attempt};

const fn denied(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 403"]).logged("name-not-allowed")
}

const fn malformed(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 400"]).logged("http-malformed")
}

const fn missing(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 400"]).logged("host-missing")
}

const fn twice(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 400"]).logged("host-duplicate")
}

const fn mismatch(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 421"]).logged("host-mismatch")
}

const OTHER_HOSTS: &[Attack] = &[
    denied("another", "web(v4, 80, get(host))"),
    denied("another, by IPv6", "web(v6, 80, get(host))"),
    denied("another, with its port", "web(v4, 80, get(host + ':80'))"),
    denied("another, in capitals", "web(v4, 80, get(host.upper()))"),
    denied("another, with a trailing dot", "web(v4, 80, get(host + '.'))"),
    denied("permitted name as prefix", "web(v4, 80, get('api.anthropic.com.evil.test'))"),
    denied("permitted name as suffix", "web(v4, 80, get('xapi.anthropic.com'))"),
    denied("below the permitted name", "web(v4, 80, get('sub.api.anthropic.com'))"),
    denied("above the permitted name", "web(v4, 80, get('anthropic.com'))"),
    denied("by HTTP/1.0", "web(v4, 80, get(host, version='HTTP/1.0'))"),
    denied("by POST", "web(v4, 80, get(host, 'Content-Length: 22', method='POST', path='/', body=N))"),
    denied("by a method nobody knows", "web(v4, 80, get(host, method='PROPFIND'))"),
    denied("by a method in small letters", "web(v4, 80, get(host, method='get'))"),
    denied("other host in X-Forwarded-Host", "web(v4, 80, get(host, 'X-Forwarded-Host: api.anthropic.com'))"),
    attack("an IPv4 address", "web(v4, 80, get(v4))", &["status 403"]).logged("address-not-allowed"),
    attack("an IPv6 address", "web(v6, 80, get('[' + v6 + ']'))", &["status 403"])
        .logged("address-not-allowed"),
    attack("a mapped IPv4 address", "web(v4, 80, get('[::ffff:' + v4 + ']'))", &["status 403"])
        .logged("address-not-allowed"),
    mismatch("permitted name, another port", "web(v4, 80, get('api.anthropic.com:22'))"),
    mismatch("permitted name, port of TLS", "web(v4, 80, get('api.anthropic.com:443'))"),
    attack("a port that is not permitted", "web(v4, 8080, get('api.anthropic.com:8080'))", &["status 403"])
        .logged("port-not-allowed"),
    attack("permitted name at another address", "web(v4, 80, get(GOOD))", &["status 200 open"]).rewritten(),
    attack("permitted name in capitals", "web(v4, 80, get('API.ANTHROPIC.COM'))", &["status 200 open"])
        .rewritten(),
    attack(
        "permitted name at the metadata address",
        "web('169.254.169.254', 80, get(GOOD))",
        &["status 200 open"],
    )
    .rewritten(),
    denied("where a permitted host redirects to", "follow()").control("web(v4, 80, get(host))"),
];

const ODD_HOSTS: &[Attack] = &[
    missing("no Host", "web(v4, 80, get(None))"),
    missing("no Host, HTTP/1.0", "web(v4, 80, get(None, version='HTTP/1.0'))"),
    missing("an empty Host", "web(v4, 80, get(''))"),
    malformed("HTTP/0.9", "web(v4, 80, b'GET /' + N + b'\\r\\n')"),
    malformed("HTTP/0.9 with a blank", "web(v4, 80, b'GET /' + N + b' \\r\\n\\r\\n')"),
    twice("twice, permitted first", "web(v4, 80, get(GOOD, 'Host: ' + host))"),
    twice("twice, permitted last", "web(v4, 80, get(host, 'Host: api.anthropic.com'))"),
    twice("twice, the same", "web(v4, 80, get(GOOD, 'Host: api.anthropic.com'))"),
    twice("twice, in other letters", "web(v4, 80, get(GOOD, 'hOST: ' + host))"),
    malformed("a blank before the colon", "web(v4, 80, get(GOOD, 'Host : ' + host))"),
    malformed("a tab before the colon", "web(v4, 80, get(GOOD, 'Host\\t: ' + host))"),
    malformed("folded", "web(v4, 80, get('api.anthropic.com\\r\\n .' + host))"),
    malformed("folded first", "web(v4, 80, get(None, ' Host: api.anthropic.com', 'Host: ' + host))"),
    malformed("user information, permitted first", "web(v4, 80, get('api.anthropic.com@' + host))"),
    malformed("user information, permitted last", "web(v4, 80, get(host + '@api.anthropic.com'))"),
    malformed("a list", "web(v4, 80, get('api.anthropic.com, ' + host))"),
    malformed("a path", "web(v4, 80, get('api.anthropic.com/' + host))"),
    malformed("a fragment", "web(v4, 80, get(host + '#api.anthropic.com'))"),
    malformed("a query", "web(v4, 80, get(host + '?api.anthropic.com'))"),
    malformed("a backslash", "web(v4, 80, get(host + '\\\\api.anthropic.com'))"),
    malformed("an escaped NUL", "web(v4, 80, get('api.anthropic.com%00.' + host))"),
    malformed("a NUL", "web(v4, 80, get('api.anthropic.com\\0.' + host))"),
    malformed("a bare carriage return", "web(v4, 80, get('api.anthropic.com\\r' + host))"),
    malformed("a tab inside", "web(v4, 80, get('api.anthropic.com\\t' + host))"),
    malformed("a blank inside", "web(v4, 80, get('api.anthropic.com ' + host))"),
    malformed("trailing blanks", "web(v4, 80, get('api.anthropic.com  '))"),
    malformed("no port after the colon", "web(v4, 80, get('api.anthropic.com:'))"),
    malformed("a port with a zero before", "web(v4, 80, get('api.anthropic.com:080'))"),
    malformed("a port with a sign", "web(v4, 80, get('api.anthropic.com:+80'))"),
    malformed("a port beyond 65535", "web(v4, 80, get('api.anthropic.com:65616'))"),
    malformed("two ports", "web(v4, 80, get('api.anthropic.com:80:80'))"),
    malformed("a name in brackets", "web(v4, 80, get('[api.anthropic.com]'))"),
    malformed("brackets that do not end", "web(v4, 80, get('[' + v6))"),
    malformed("an IPv6 address with a zone", "web(v6, 80, get('[fe80::1%25lo]'))"),
    malformed("one number", "web(v4, 80, get('3405803777'))"),
    malformed("hexadecimal", "web(v4, 80, get('0xcb007101'))"),
    malformed("octal", "web(v4, 80, get('0313.0.0161.1'))"),
    malformed("three numbers", "web(v4, 80, get('203.0.28929'))"),
    malformed("two dots", "web(v4, 80, get('api.anthropic.com..'))"),
    malformed("a leading dot", "web(v4, 80, get('.api.anthropic.com'))"),
    malformed("an asterisk", "web(v4, 80, get('*.anthropic.com'))"),
    malformed(
        "a full-width dot",
        "web(v4, 80, get('api.anthropic.com').replace(b'.a', b'\\xef\\xbc\\x8ea'))",
    ),
    malformed("an octet beyond ASCII", "web(v4, 80, get('api.anthropic.com\\xff'))"),
];

#[test]
fn hosts_of_others() {
    attempt("hosts of others", OTHER_HOSTS);
}

#[test]
fn hosts_that_are_not_one_host() {
    attempt("hosts that are not one host", ODD_HOSTS);
}
