//! Other transports, and TCP in unusual dress.
//!
//! Steps: open a socket of SCTP, DCCP, UDP-Lite or Multipath TCP; send data in the SYN; set the options that choose a
//! device, a mark, a source or a route; send to groups. Each has been a way round some filter.
//!
//! Guarantees: G1, G2, G3 (whatever the socket, TCP lands in the proxy, which sees the true destination), G9, G11.

use crate::battery::{Attack, attack, attempt};

const RESET: &[&str] = &["ECONNRESET", "EPIPE"];
/// A kernel without the protocol answers as well as one that is kept from it.
const NO_PROTOCOL: &[&str] = &["EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EPERM", "EHOSTUNREACH"];

const fn neither(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, RESET).logged("not-tls-or-http")
}

const fn denied(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["alert 49"]).logged("name-not-allowed")
}

const KINDS: &[Attack] = &[
    attack("SCTP", "stream_of(SCTP)", NO_PROTOCOL)
        .without_control("few kernels have it; packets by hand have a control"),
    attack("SCTP, one to many", "stream_of(SCTP, socket.SOCK_SEQPACKET)", NO_PROTOCOL)
        .without_control("few kernels have it; packets by hand have a control"),
    attack("DCCP", "stream_of(DCCP, 6)", NO_PROTOCOL)
        .without_control("Linux 6.16 dropped it; packets by hand have a control"),
    attack("UDP-Lite", "udp_lite(v4)", &["EPERM", "EPROTONOSUPPORT"]),
    denied("Multipath TCP, TLS", "tcp(v4, 443, hello(sni(host)), protocol=IPPROTO_MPTCP)"),
    denied("Multipath TCP by IPv6", "tcp(v6, 443, hello(sni(host)), protocol=IPPROTO_MPTCP)"),
    neither("Multipath TCP, raw bytes", "tcp(v4, 443, b'\\0' + N, protocol=IPPROTO_MPTCP)"),
    attack("Multipath TCP to another port", "tcp(v4, 8888, b'\\0' + N, protocol=IPPROTO_MPTCP)", RESET)
        .logged("port-not-allowed"),
    attack(
        "Multipath TCP, permitted name",
        "tcp(v4, 443, inside(GOOD), protocol=IPPROTO_MPTCP)",
        &["reached open"],
    )
    .rewritten(),
];

const FAST_OPEN: &[Attack] = &[
    denied("sendto", "fast_open(v4, hello(sni(host)))"),
    denied("sendto, by IPv6", "fast_open(v6, hello(sni(host)))"),
    denied("connect", "fast_open(v4, hello(sni(host)), by='connect')"),
    neither("raw bytes", "fast_open(v4, b'\\0' + N)"),
    attack("another port", "fast_open(v4, b'\\0' + N, port=8888)", RESET).logged("port-not-allowed"),
    denied("with a device", "fast_open(v4, hello(sni(host)), (socket.SOL_SOCKET, SO_BINDTODEVICE, b'lo'))"),
];

const OPTIONS: &[Attack] = &[
    denied(
        "bound to the device",
        "tcp(v4, 443, hello(sni(host)), options=[(socket.SOL_SOCKET, SO_BINDTODEVICE, b'lo')])",
    ),
    attack(
        "bound to a device that is not there",
        "tcp(v4, 443, hello(sni(host)), options=[(socket.SOL_SOCKET, SO_BINDTODEVICE, b'eth0')])",
        &["ENODEV"],
    )
    .control("tcp(v4, 443, hello(sni(host)))"),
    attack(
        "UDP bound to the device",
        "udp(v4, 4444, N, (socket.SOL_SOCKET, SO_BINDTODEVICE, b'lo'))",
        &["EPERM"],
    ),
    attack(
        "a mark",
        "tcp(v4, 443, hello(sni(host)), options=[(socket.SOL_SOCKET, SO_MARK, 114514)])",
        &["EPERM"],
    ),
    attack("a mark on UDP", "udp(v4, 4444, N, (socket.SOL_SOCKET, SO_MARK, 1))", &["EPERM"]),
    attack("a mark in a control message", "marked(v4)", &["EPERM"]),
    attack(
        "transparent",
        "tcp(v4, 443, hello(sni(host)), options=[(socket.IPPROTO_IP, IP_TRANSPARENT, 1)])",
        &["EPERM"],
    ),
    denied("free to bind", "bound_to('127.7.7.7', v4)").control("bound_to('10.9.9.9', v4)"),
    denied("a priority", "tcp(v4, 443, hello(sni(host)), options=[(socket.SOL_SOCKET, SO_PRIORITY, 6)])"),
    denied(
        "an interface for unicast",
        "tcp(v4, 443, hello(sni(host)), \
        options=[(socket.IPPROTO_IP, IP_UNICAST_IF, struct.pack('>I', LO))])",
    ),
    attack(
        "loose source route",
        "tcp(v4, 443, hello(sni(host)), \
        options=[(socket.IPPROTO_IP, IP_OPTIONS, b'\\x83\\x07\\x04' + socket.inet_aton(v4) + b'\\0')])",
        &["alert 49", "EPERM", "EINVAL", "ECONNRESET"],
    )
    .control("tcp(v4, 443, hello(sni(host)))"),
    attack(
        "strict source route",
        "tcp(v4, 443, hello(sni(host)), \
        options=[(socket.IPPROTO_IP, IP_OPTIONS, b'\\x89\\x07\\x04' + socket.inet_aton(v4) + b'\\0')])",
        &["alert 49", "EPERM", "EINVAL", "ENETUNREACH", "ECONNRESET"],
    )
    .control("tcp(v4, 443, hello(sni(host)))"),
    denied(
        "record route",
        "tcp(v4, 443, hello(sni(host)), \
        options=[(socket.IPPROTO_IP, IP_OPTIONS, b'\\x07\\x07\\x04' + bytes(4) + b'\\0')])",
    ),
    attack("urgent data", "urgent(v4)", RESET).logged("not-tls-or-http").control("tcp(v4, 443, b'\\0' + N)"),
    denied("two connections from one port", "again_from_same_port(v4)")
        .control("tcp(v4, 443, hello(sni(host)))"),
    attack("multicast", "udp('224.0.0.1', 4444, N, connected=False)", &["EPERM"])
        .without_control("the lab joins no group"),
    attack("multicast of IPv6", "udp('ff02::1', 4444, N, connected=False, scope=LO)", &["EPERM"])
        .without_control("the lab joins no group"),
    attack("joining a group", "join('239.1.2.3')", &["EPERM"]).without_control("the lab joins no group"),
    attack(
        "to the network's own address",
        "udp('10.200.0.0', 4444, N, (socket.SOL_SOCKET, socket.SO_BROADCAST, 1))",
        &["EPERM"],
    ),
];

#[test]
fn other_transports() {
    attempt("other transports", KINDS);
}

#[test]
fn data_in_the_syn() {
    attempt("data in the SYN", FAST_OPEN);
}

#[test]
fn socket_options() {
    attempt("socket options", OPTIONS);
}
