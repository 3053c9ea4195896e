//! Requests that are not plain requests to one host: forms for proxies, tunnels, upgrades, HTTP/2, and the second
//! request of a connection.
//!
//! Steps: connect to port 80; send a request that a proxy would carry elsewhere (a whole URL, CONNECT, an upgrade), or
//! a permitted request and then one for another host on the same connection.
//!
//! Guarantees: G4, G5 (each request, not only the first; h2c, CONNECT and absolute form are refused), G11.

use crate::battery::{Attack, attack, attempt};

const fn form(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 400"]).logged("http-form")
}

const fn method(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 405"]).logged("http-method")
}

const fn upgrade(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["status 403"]).logged("http-upgrade")
}

const FORMS: &[Attack] = &[
    form("whole URL, other host inside", "web(v4, 80, get(GOOD, path='http://' + host + '/' + nonce))"),
    form(
        "whole URL, permitted host inside",
        "web(v4, 80, get(host, path='http://api.anthropic.com/' + nonce))",
    ),
    form(
        "whole URL, permitted host twice",
        "web(v4, 80, get(GOOD, path='http://api.anthropic.com/' + nonce))",
    ),
    form("whole URL of https", "web(v4, 80, get(GOOD, path='https://' + host + '/' + nonce))"),
    form("whole URL of ftp", "web(v4, 80, get(GOOD, path='ftp://' + host + '/' + nonce))"),
    form("whole URL without a scheme's slashes", "web(v4, 80, get(GOOD, path='http:' + host + '/' + nonce))"),
    form("host and port", "web(v4, 80, get(GOOD, path=host + ':80'))"),
    form("asterisk", "web(v4, 80, get(GOOD, 'X: ' + nonce, method='OPTIONS', path='*'))"),
    form("no leading slash", "web(v4, 80, get(GOOD, path=nonce))"),
    attack(
        "at-sign instead of a slash",
        "web(v4, 80, get(GOOD, path='@' + host + '/' + nonce))",
        &["status 400"],
    ),
    attack(
        "two slashes first",
        "web(v4, 80, get(host, path='//api.anthropic.com/' + nonce))",
        &["status 403"],
    ),
    attack("a control octet in the target", "web(v4, 80, get(GOOD, path='/\\x0b' + nonce))", &["status 400"])
        .logged("http-malformed"),
    attack(
        "two blanks before the version",
        "web(v4, 80, get(GOOD, path='/' + nonce + ' '))",
        &["status 400"],
    )
    .logged("http-malformed"),
    attack(
        "a version from the future",
        "web(v4, 80, get(GOOD, version='HTTP/1.2'))",
        &["status 400", "status 505"],
    )
    .logged("http-malformed"),
    attack("a version that is none", "web(v4, 80, get(GOOD, version='HTTX/1.1'))", &["status 400"])
        .logged("http-malformed"),
    attack("an empty line first", "tcp(v4, 80, b'\\r\\n' + get(host))", &["ECONNRESET"])
        .logged("not-tls-or-http"),
    attack("a method of 40 letters", "tcp(v4, 80, get(host, method='A' * 40))", &["ECONNRESET"])
        .logged("not-tls-or-http"),
];

const TUNNELS: &[Attack] = &[
    method("CONNECT", "web(v4, 80, get(host, method='CONNECT', path=host + ':443'))"),
    method(
        "CONNECT in the permitted host's name",
        "web(v4, 80, get(GOOD, 'X: ' + nonce, method='CONNECT', path='api.anthropic.com:443'))",
    ),
    method(
        "CONNECT with early bytes",
        "tcp(v4, 80, get(GOOD, method='CONNECT', path=host + ':443') + hello(sni(host)))",
    ),
    method("CONNECT to a path", "web(v4, 80, get(GOOD, method='CONNECT'))"),
    method("TRACE", "web(v4, 80, get(GOOD, 'X: ' + nonce, method='TRACE'))"),
    attack(
        "CONNECT to port 443",
        "web(v4, 443, get(host, method='CONNECT', path=host + ':443'))",
        &["status 405"],
    )
    .logged("http-method"),
    attack(
        "CONNECT to port 3128",
        "web(v4, 3128, get(host, method='CONNECT', path=host + ':443'))",
        &["status 403"],
    )
    .logged("port-not-allowed"),
    attack("HTTP/2 with prior knowledge", "tcp(v4, 80, h2_request(host))", &["status 505"])
        .logged("http-method"),
    attack(
        "HTTP/2 with prior knowledge, permitted host",
        "tcp(v4, 80, h2_request('api.anthropic.com'))",
        &["status 505"],
    )
    .logged("http-method"),
    attack("HTTP/2 with prior knowledge, port 443", "tcp(v4, 443, h2_request(host))", &["status 505"])
        .logged("http-method"),
    upgrade(
        "upgrade to h2c",
        "web(v4, 80, get(GOOD, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'))",
    ),
    upgrade(
        "upgrade to h2c without settings",
        "web(v4, 80, get(GOOD, 'Connection: Upgrade', 'Upgrade: h2c'))",
    ),
    upgrade("upgrade to TLS", "web(v4, 80, get(GOOD, 'Connection: Upgrade', 'Upgrade: TLS/1.0'))"),
    upgrade(
        "upgrade to two things",
        "web(v4, 80, get(GOOD, 'Connection: Upgrade', 'Upgrade: websocket, h2c'))",
    ),
    upgrade("WebSocket that no entry permits", "web(v4, 80, get(GOOD, 'Upgrade: websocket', *UPGRADE))"),
    upgrade(
        "WebSocket with early bytes",
        "tcp(v4, 80, *segments(get(GOOD, 'Upgrade: websocket', *UPGRADE, path='/ws') + hidden()))",
    )
    .control("tcp(v4, 80, *segments(hidden()))"),
    attack(
        "WebSocket to another host",
        "web(v4, 80, get(host, 'Upgrade: websocket', *UPGRADE))",
        &["status 403"],
    ),
    attack("Connection that names Host", "web(v4, 80, get(GOOD, 'Connection: Host'))", &["status 400"])
        .logged("http-malformed"),
];

/// The nonce is in the second request only; the first is permitted.
const SECOND: &[Attack] = &[
    attack("another host on a kept connection", "after(get(GOOD, path='/'), hidden())", &["200 then 403"])
        .logged("name-not-allowed").control("web(v4, 80, hidden())"),
    attack("another host, pipelined", "at_once(get(GOOD, path='/'), hidden())", &["200 403"])
        .logged("name-not-allowed").control("web(v4, 80, hidden())"),
    attack("another host, third of three", "at_once(get(GOOD, path='/'), get(GOOD, path='/b'), hidden())", &["200 200 403"])
        .logged("name-not-allowed").control("web(v4, 80, hidden())"),
    attack("a hello on a kept connection", "after(get(GOOD, path='/'), hello(sni(host)))", &["200 then 400"])
        .control("tcp(v4, 443, hello(sni(host)))"),
    attack("raw bytes on a kept connection", "after(get(GOOD, path='/'), N)", &["200 then 408"]).patient()
        .control("tcp(v4, 80, N)"),
    attack("CONNECT on a kept connection", "after(get(GOOD, path='/'), get(GOOD, method='CONNECT', path=host + ':443'))", &["200 then 405"])
        .logged("http-method").control("web(v4, 80, hidden())"),
    attack("HTTP/2 on a kept connection", "after(get(GOOD, path='/'), h2_request(host))", &["200 then 505"])
        .logged("http-method").control("tcp(v4, 80, h2_request(host))"),
    attack("after a request that says close", "at_once(get(GOOD, 'Connection: close', path='/'), hidden())", &["200"])
        .control("web(v4, 80, hidden())"),
    attack("after a body", "at_once(get(GOOD, 'Content-Length: 3', method='POST', path='/upload', body=b'abc'), hidden())", &["200 403"])
        .logged("name-not-allowed").control("web(v4, 80, hidden())"),
    attack("after chunks", "at_once(get(GOOD, 'Transfer-Encoding: chunked', method='POST', path='/upload', body=chunks(b'abc')), hidden())", &["200 403"])
        .logged("name-not-allowed").control("web(v4, 80, hidden())"),
    attack("after HEAD", "at_once(get(GOOD, method='HEAD', path='/'), hidden())", &["200 403"])
        .logged("name-not-allowed").control("web(v4, 80, hidden())"),
    attack("after a body that was announced and refused", "at_once(get(GOOD, 'Expect: 100-continue', 'Content-Length: 3', method='POST', path='/expect?refuse'), hidden())", &["417 400"])
        .control("web(v4, 80, hidden())"),
];

#[test]
fn targets_that_are_no_paths() {
    attempt("targets that are no paths", FORMS);
}

#[test]
fn tunnels_and_upgrades() {
    attempt("tunnels and upgrades", TUNNELS);
}

#[test]
fn second_requests() {
    attempt("second requests", SECOND);
}
