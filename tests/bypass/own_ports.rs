//! closedbook's own listeners, taken directly, taken over, or reached in a circle; and names that point back inside.
//!
//! Steps: connect to the proxy's and the resolver's ports by every address that is the task's own, without the
//! redirection that tells them where a flow was aimed at; bind the same ports; make a permitted name resolve to an
//! address of the machine, of its network, or of the cloud's metadata.
//!
//! Guarantees: G3, G4 (no destination, no passage), G9 (the sidecar's own ports; metadata and private addresses), G16.

use crate::battery::{Attack, attack, attempt, attempt_in};

/// The rules answer the SYN.
const REFUSED: &[&str] = &["ECONNREFUSED"];

const fn direct(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, REFUSED).control("tcp(v4, 443, hello(sni(host)))")
}

const DIRECT: &[Attack] = &[
    direct("TLS", "tcp('127.0.0.1', 12345, hello(sni(host)))"),
    direct("TLS, permitted name", "tcp('127.0.0.1', 12345, inside(GOOD))"),
    direct("TLS by IPv6", "tcp('::1', 12345, hello(sni(host)))"),
    direct("by a mapped address", "tcp('::ffff:127.0.0.1', 12345, hello(sni(host)))"),
    direct("by the unspecified address", "tcp('0.0.0.0', 12345, hello(sni(host)))"),
    direct("by the unspecified address of IPv6", "tcp('::', 12345, hello(sni(host)))"),
    direct("by another loopback address", "tcp('127.7.7.7', 12345, hello(sni(host)))"),
    direct("by the task's own address", "tcp('10.200.0.1', 12345, hello(sni(host)))"),
    direct("by the task's own address of IPv6", "tcp('fd00:5a::1', 12345, hello(sni(host)))"),
    direct("a whole URL", "tcp('127.0.0.1', 12345, get(host, path='http://' + host + '/' + nonce))"),
    direct("CONNECT", "tcp('127.0.0.1', 12345, get(host, method='CONNECT', path=host + ':443'))"),
    direct("SOCKS 5", "tcp('127.0.0.1', 12345, b'\\x05\\x01\\x00' + N)"),
    direct("Multipath TCP", "tcp('127.0.0.1', 12345, hello(sni(host)), protocol=IPPROTO_MPTCP)"),
    direct("data in the SYN", "fast_open('127.0.0.1', hello(sni(host)), port=12345)"),
    direct("the resolver's port, TCP", "dns_tcp('127.0.0.1', ask(host), port=15053)"),
    direct("the resolver's port by IPv6", "dns_tcp('::1', ask(host), port=15053)"),
    attack("the resolver's port, UDP", "dns('127.0.0.1', ask(host), port=15053)", &["EPERM"])
        .control("dns(v4, ask(host))"),
    attack("the resolver's port, UDP by IPv6", "dns('::1', ask(host), port=15053)", &["EPERM"])
        .control("dns(v6, ask(host))"),
    attack("the proxy's port of another address", "tcp(v4, 12345, hello(sni(host)))", &["alert 49"])
        .logged("port-not-allowed")
        .control("tcp(v4, 443, hello(sni(host)))"),
    attack("the resolver's port of another address", "dns(v4, ask(host), port=15053)", &["EPERM"])
        .control("dns(v4, ask(host))"),
    attack("nobody's port of its own", "tcp('127.0.0.1', 443, hello(sni(host)))", REFUSED),
    attack("nobody's port of its own address", "tcp('10.200.0.1', 443, hello(sni(host)))", REFUSED),
    attack("itself", "itself()", REFUSED).without_control("it would have to reach itself"),
];

const fn taken(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["EADDRINUSE"]).without_control("there is no such port in the lab").sealed_only()
}

const TAKEN_OVER: &[Attack] = &[
    taken("the proxy's port", "bound('127.0.0.1', 12345, socket.SOCK_STREAM)"),
    taken("the proxy's port, all addresses", "bound('0.0.0.0', 12345, socket.SOCK_STREAM)"),
    taken("the proxy's port of IPv6", "bound('::1', 12345, socket.SOCK_STREAM)"),
    taken("the proxy's port of IPv6, all addresses", "bound('::', 12345, socket.SOCK_STREAM)"),
    taken("the resolver's port", "bound('127.0.0.1', 15053, socket.SOCK_DGRAM)"),
    taken("the resolver's port, all addresses", "bound('0.0.0.0', 15053, socket.SOCK_DGRAM)"),
    taken("the resolver's port of IPv6", "bound('::1', 15053, socket.SOCK_DGRAM)"),
    taken("the resolver's port of IPv6, all addresses", "bound('::', 15053, socket.SOCK_DGRAM)"),
    taken("the resolver's port, TCP", "bound('127.0.0.1', 15053, socket.SOCK_STREAM)"),
];

const fn inward(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["ssl TLSV1_ALERT_ACCESS_DENIED", "status 403"]).logged("private-address")
}

/// All of these are permitted by name.
const INWARD: &[Attack] = &[
    inward("private", "tls(v4, 443, 'private.test')"),
    inward("private, by HTTP", "web(v4, 80, get('private.test'))"),
    inward("metadata", "tls(v4, 443, 'metadata.test')"),
    inward("metadata, by HTTP", "web(v4, 80, get('metadata.test'))"),
    inward("loopback", "tls(v4, 443, 'loopback.test')"),
    inward("unspecified", "tls(v4, 443, 'unspecified.test')"),
    inward("link-local", "tls(v4, 443, 'linklocal.test')"),
    inward("mapped", "tls(v4, 443, 'mapped.test')"),
    inward("synthetic", "tls(v4, 443, 'synthetic.test')"),
    inward("an alias of a private name", "tls(v4, 443, 'alias-private.test')"),
];

const INWARD_NAMES: [&str; 8] = [
    "private.test",
    "metadata.test",
    "loopback.test",
    "unspecified.test",
    "linklocal.test",
    "mapped.test",
    "synthetic.test",
    "alias-private.test",
];

#[test]
fn listeners_without_redirection() {
    attempt("listeners without redirection", DIRECT);
}

#[test]
fn listeners_taken_over() {
    attempt("listeners taken over", TAKEN_OVER);
}

#[test]
fn names_that_point_inside() {
    attempt_in(
        "names that point inside",
        |run| INWARD_NAMES.iter().fold(run, |run, name| run.allow(name)),
        INWARD,
    );
}
