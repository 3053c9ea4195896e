//! IPv6 in all its forms, and IPv4 inside it.
//!
//! Steps: connect or send to an IPv6 address: global, local, link-local with a scope, a group, or one that stands for an
//! IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP). A filter for IPv4 alone sees none of them.
//!
//! Guarantees: G1, G3 (an address has one form), G9 (IPv6 in all forms), G11.

use crate::battery::{Attack, attack, attempt};

const fn denied(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["alert 49"]).logged("name-not-allowed")
}

const fn refused(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["EPERM", "EACCES"])
}

const TCP: &[Attack] = &[
    denied("global", "tcp(v6, 443, hello(sni(host)))"),
    denied("another global", "tcp('2606:4700:4700::1111', 443, hello(sni(host)))"),
    denied("unique local", "tcp('fd12:3456::1', 443, hello(sni(host)))"),
    denied("site-local", "tcp('fec0::1', 443, hello(sni(host)))"),
    denied("mapped IPv4", "tcp('::ffff:' + v4, 443, hello(sni(host)))"),
    denied("compatible IPv4", "tcp('::' + v4, 443, hello(sni(host)))"),
    denied("NAT64", "tcp('64:ff9b::' + v4, 443, hello(sni(host)))"),
    denied("NAT64 of a private network", "tcp('64:ff9b:1::' + v4, 443, hello(sni(host)))"),
    denied("6to4", "tcp('2002:cb00:7101::1', 443, hello(sni(host)))"),
    denied("Teredo", "tcp('2001:0:cb00:7101::1', 443, hello(sni(host)))"),
    denied("ISATAP", "tcp('2001:db8::5efe:' + v4, 443, hello(sni(host)))"),
    denied("ORCHID", "tcp('2001:20::1', 443, hello(sni(host)))"),
    denied("documentation, new", "tcp('3fff::1', 443, hello(sni(host)))"),
    denied("discard", "tcp('100::1', 443, hello(sni(host)))"),
    attack(
        "link-local with a scope",
        "tcp('fe80::1', 443, hello(sni(host)), scope=LO)",
        &["alert 49", "ENETUNREACH", "EHOSTUNREACH", "EINVAL"],
    ),
    attack("link-local without a scope", "tcp('fe80::1', 443, hello(sni(host)))", &["EINVAL"])
        .control("tcp('fe80::1', 443, hello(sni(host)), scope=LO)"),
    attack("the metadata address of IPv6", "tcp('fd00:ec2::254', 80, get(host))", &["status 403"])
        .logged("name-not-allowed"),
    attack(
        "the address of IPv6 for IPv4 metadata",
        "tcp('::ffff:169.254.169.254', 80, get('169.254.169.254'))",
        &["status 403"],
    )
    .control("web('::ffff:169.254.169.254', 80, get('169.254.169.254'))"),
    attack("permitted name by a mapped address", "tls('::ffff:' + v4, 443, GOOD)", &["status 200"])
        .rewritten(),
    attack("raw bytes", "tcp(v6, 443, b'\\0' + N)", &["ECONNRESET"]).logged("not-tls-or-http"),
    attack("another port", "tcp(v6, 8888, b'\\0' + N)", &["ECONNRESET"]).logged("port-not-allowed"),
];

const OTHERS: &[Attack] = &[
    refused("UDP", "udp(v6, 4444, N)"),
    refused("UDP to a mapped address", "udp('::ffff:' + v4, 4444, N)"),
    refused("UDP to NAT64", "udp('64:ff9b::' + v4, 4444, N)"),
    refused("UDP to a unique local address", "udp('fd12:3456::1', 4444, N)"),
    attack(
        "UDP to a link-local address",
        "udp('fe80::1', 4444, N, scope=LO)",
        &["EPERM", "ENETUNREACH", "EHOSTUNREACH"],
    ),
    refused("UDP to all nodes", "udp('ff02::1', 4444, N, connected=False, scope=LO)")
        .without_control("the lab joins no group"),
    refused("UDP to all nodes of the site", "udp('ff05::1', 4444, N, connected=False, scope=LO)")
        .without_control("the lab joins no group"),
    refused("UDP with a chosen source", "udp6_from('::1', v6)"),
    refused("UDP with a flow label", "udp(v6, 4444, N, (socket.IPPROTO_IPV6, 33, 1))"),
    refused("UDP with destination options", "with_options(v6, 59)"),
    refused("a ping", "echo(socket.SOCK_DGRAM, v6=True)").control("echo(socket.SOCK_RAW, v6=True)"),
    attack("UDP with hop-by-hop options", "with_options(v6, 54)", &["EPERM"]),
    attack(
        "a routing header on TCP",
        "tcp(v6, 443, hello(sni(host)), options=[(socket.IPPROTO_IPV6, 57, \
        b'\\0\\x02\\0\\x01' + bytes(4) + socket.inet_pton(10, v6))])",
        &["EPERM", "EINVAL", "alert 49"],
    )
    .control("tcp(v6, 443, hello(sni(host)))"),
];

#[test]
fn tcp_by_ipv6() {
    attempt("TCP by IPv6", TCP);
}

#[test]
fn the_rest_by_ipv6() {
    attempt("the rest by IPv6", OTHERS);
}
