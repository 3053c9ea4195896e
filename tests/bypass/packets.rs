//! Packets and frames made by hand: ICMP, other IP protocols, TCP that no stack sends, fragments, the device itself.
//!
//! Steps: open a raw socket, a packet socket or a ping socket; send the nonce in a packet that connection tracking or
//! the ruleset may not know what to do with, or below all rules.
//!
//! Guarantees: G2 (with every capability and the rules flushed, nothing leaves), G9 (ICMP, other IP protocols, raw and
//! packet sockets), G11 (EPERM at once). The command itself, also as root, lacks the capability over its network.

use crate::battery::{Attack, attack, attempt};

const fn denied(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["EPERM"])
}

/// Not the task's privilege but the rules refuse these: any user may open such sockets.
const PINGS: &[Attack] = &[
    denied("a ping socket", "echo(socket.SOCK_DGRAM)").control("echo(socket.SOCK_RAW)"),
    attack("a ping socket of IPv6", "echo(socket.SOCK_DGRAM, v6=True)", &["EACCES"])
        .control("echo(socket.SOCK_RAW, v6=True)"),
    denied("ICMP by a raw socket", "echo(socket.SOCK_RAW)"),
    denied("ICMPv6 by a raw socket", "echo(socket.SOCK_RAW, v6=True)"),
    denied(
        "an ICMP error",
        "raw(1, b'\\x03\\x03' + u16(checksum(b'\\x03\\x03' + bytes(6) + N)) + bytes(4) + N)",
    ),
    denied(
        "a router solicitation",
        "raw(58, b'\\x85\\0' + bytes(6) + N, to='ff02::2', family=socket.AF_INET6)",
    )
    .without_control("the lab joins no group"),
    denied(
        "a neighbour solicitation",
        "raw(58, b'\\x87\\0' + bytes(6) + socket.inet_pton(10, v6) + N, family=socket.AF_INET6)",
    ),
    denied(
        "ICMP by a header of its own",
        "raw(255, ip(b'\\x08\\0' + u16(checksum(b'\\x08\\0' + bytes(6) + N)) + bytes(4) + N, 1))",
    ),
];

const PROTOCOLS: &[Attack] = &[
    denied("IP in IP", "raw(4, ip(datagram(N), 17))"),
    denied("IPv6 in IP", "raw(41, ip6(datagram(N), 17))"),
    denied("GRE", "raw(47, b'\\0\\0\\x08\\0' + N)"),
    denied("ESP", "raw(50, bytes(8) + N)"),
    denied("AH", "raw(51, b'\\x11\\x04' + bytes(10) + N)"),
    denied("EtherIP", "raw(97, b'\\x30\\0' + N)"),
    denied("OSPF", "raw(89, b'\\x02\\x01' + N)"),
    denied("IGMP", "raw(2, b'\\x16\\0' + N)"),
    denied("SCTP by hand", "raw(132, struct.pack('>HHII', 40123, 9, 0, 0) + N)"),
    denied("DCCP by hand", "raw(33, struct.pack('>HHBBHI', 40123, 9, 4, 0, 0, 1) + N)"),
    denied("UDP-Lite by hand", "raw(136, struct.pack('>HHHH', 40123, 9, 8, 0) + N)"),
    denied("protocol 253", "raw(253, N)"),
    denied("protocol 255", "raw(255, ip(N, 254))"),
    denied("MPLS in IP", "raw(137, b'\\0\\0\\x11\\xff' + N)"),
    denied("protocol 253 by IPv6", "raw(253, N, family=socket.AF_INET6)"),
    denied("IPv6 without a next header", "raw(59, N, family=socket.AF_INET6)"),
    denied("IPv6 destination options", "raw(60, b'\\x3b\\x03\\x01\\x16' + N, family=socket.AF_INET6)"),
    denied(
        "an IPv6 fragment",
        "raw(44, b'\\x11\\0\\0\\x01' + bytes(4) + datagram(N), family=socket.AF_INET6)",
    ),
    denied(
        "IPv6 routing header",
        "raw(43, b'\\x3b\\x02\\0\\x01' + bytes(4) + socket.inet_pton(10, v6) + N, family=socket.AF_INET6)",
    ),
];

const SEGMENTS: &[Attack] = &[
    denied("UDP by hand", "raw(17, datagram(N))"),
    denied("UDP with a header of its own", "raw(255, ip(datagram(N), 17))"),
    denied("UDP with another's address", "raw(255, ip(datagram(N), 17, source='127.0.0.1'))")
        .control("raw(255, ip(datagram(N), 17, source='10.9.9.9'))"),
    denied(
        "UDP with a loose source route",
        "raw(255, ip(datagram(N), 17, options=b'\\x83\\x07\\x04' + socket.inet_aton(v4) + b'\\0'))",
    )
    .control("raw(255, ip(datagram(N), 17))"),
    denied("UDP in a first fragment", "raw(255, ip(datagram(N + bytes(2)), 17, fragment=0x2000))")
        .control("raw(255, ip(datagram(N), 17))"),
    denied("UDP in a later fragment", "raw(255, ip(N + bytes(2), 17, fragment=8))")
        .control("raw(255, ip(datagram(N), 17))"),
    denied("a SYN with data", "raw(255, ip(segment(0x02, N), 6))"),
    denied("a segment of no connection", "raw(255, ip(segment(0x18, N), 6))"),
    denied("SYN and FIN", "raw(255, ip(segment(0x03, N), 6))"),
    denied("no flag", "raw(255, ip(segment(0x00, N), 6))"),
    denied("all flags", "raw(255, ip(segment(0x3f, N), 6))"),
    denied("FIN", "raw(255, ip(segment(0x11, N), 6))"),
    denied("RST with data", "raw(255, ip(segment(0x14, N), 6))"),
    denied(
        "a segment without its sum",
        "raw(255, ip(segment(0x18, N)[:16] + b'\\0\\0' + segment(0x18, N)[18:], 6))",
    ),
    denied("TCP in a tiny fragment", "raw(255, ip(segment(0x02, N)[:8], 6, fragment=0x2000))")
        .control("raw(255, ip(segment(0x02, N), 6))"),
    denied("TCP to port 53", "raw(255, ip(segment(0x02, N, port=53), 6))"),
    denied("TCP by a raw socket of TCP", "raw(6, segment(0x18, N))"),
];

const FRAMES: &[Attack] = &[
    denied("UDP given to the device", "frame(0x0800, ip(datagram(N, 4444), 17))"),
    denied("UDP of IPv6 given to the device", "frame(0x86dd, ip6(datagram(N, 4444), 17))"),
    denied("TCP given to the device", "frame(0x0800, ip(segment(0x18, N), 6))"),
    denied("a frame of no known kind", "frame(0x88b5, N)"),
    denied(
        "past the queue",
        "frame(0x0800, ip(datagram(N, 4444), 17), (SOL_PACKET, PACKET_QDISC_BYPASS, 1))",
    ),
    denied(
        "a whole frame",
        "frame(0x0800, bytes(12) + b'\\x08\\0' + ip(datagram(N, 4444), 17), kind=socket.SOCK_RAW)",
    ),
    denied("ARP", "frame(0x0806, b'\\0\\x01\\x08\\0\\x06\\x04\\0\\x01' + bytes(20) + N)"),
    denied("a VLAN", "frame(0x8100, b'\\0\\x01\\x08\\0' + ip(datagram(N, 4444), 17))"),
];

#[test]
fn pings() {
    attempt("pings", PINGS);
}

#[test]
fn other_ip_protocols() {
    attempt("other IP protocols", PROTOCOLS);
}

#[test]
fn segments_by_hand() {
    attempt("segments by hand", SEGMENTS);
}

#[test]
fn frames() {
    attempt("frames", FRAMES);
}
