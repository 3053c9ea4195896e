//! UDP and QUIC.
//!
//! Steps: send a datagram with the nonce to any port of the attacker's address, in each way that a socket can send.
//!
//! Guarantees: G1, G9 (QUIC and all UDP), G11: the sender is told at once (EPERM), so that clients of HTTP/3 go to TCP.

use crate::battery::{Attack, attack, attempt};

const fn refused(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, &["EPERM"])
}

const PORTS: &[Attack] = &[
    refused("QUIC", "udp(v4, 443, quic())"),
    refused("QUIC, by IPv6", "udp(v6, 443, quic())"),
    refused("QUIC to the permitted host's address", "udp('198.51.100.1', 443, quic())"),
    refused("QUIC to port 80", "udp(v4, 80, quic())"),
    refused("port 1", "udp(v4, 1, N)"),
    refused("TFTP", "udp(v4, 69, N)"),
    refused("NTP", "udp(v4, 123, b'\\x23' + N)"),
    refused("SNMP", "udp(v4, 161, N)"),
    refused("IKE", "udp(v4, 500, N)"),
    refused("syslog", "udp(v4, 514, N)"),
    refused("OpenVPN", "udp(v4, 1194, N)"),
    refused("SSDP", "udp(v4, 1900, N)"),
    refused("STUN", "udp(v4, 3478, b'\\0\\x01\\0\\0\\x21\\x12\\xa4\\x42' + N)"),
    refused("IKE behind NAT", "udp(v4, 4500, N)"),
    refused("traceroute", "udp(v4, 33434, N)"),
    refused("WireGuard", "udp(v4, 51820, b'\\x01\\0\\0\\0' + N)"),
    refused("a high port", "udp(v4, 65535, N)"),
];

const WAYS: &[Attack] = &[
    refused("unconnected", "udp(v4, 4444, N, connected=False)"),
    refused("unconnected, by IPv6", "udp(v6, 4444, N, connected=False)"),
    refused("larger than a packet", "udp(v4, 4444, N + bytes(40000), connected=False)"),
    refused("in parts by the kernel", "udp(v4, 4444, N + bytes(3000), (SOL_UDP, UDP_SEGMENT, 1000))"),
    refused("from port 53", "udp(v4, 4444, N, (socket.SOL_SOCKET, socket.SO_REUSEADDR, 1))"),
    refused("without route", "udp(v4, 4444, N, (socket.SOL_SOCKET, socket.SO_DONTROUTE, 1))"),
    refused("by UDP-Lite", "udp_lite(v4)"),
    refused("by UDP-Lite, IPv6", "udp_lite(v6)"),
    refused("from an address of its own choice", "udp_from('127.0.0.9', v4)")
        .control("udp_from('10.9.9.9', v4)"),
    refused("with an answer's shape from the DNS port's redirection", "after_dns(v4)"),
    refused(
        "a limited broadcast",
        "udp('255.255.255.255', 4444, N, (socket.SOL_SOCKET, socket.SO_BROADCAST, 1))",
    )
    .without_control("the lab's one interface knows no broadcast"),
    refused(
        "a broadcast of a private network",
        "udp('10.255.255.255', 4444, N, (socket.SOL_SOCKET, socket.SO_BROADCAST, 1))",
    ),
    refused("the metadata address", "udp('169.254.169.254', 80, N)"),
    refused("a private address", "udp('10.0.0.5', 4444, N)"),
    refused("a Docker bridge", "udp('172.17.0.1', 4444, N)"),
];

#[test]
fn any_port() {
    attempt("any UDP port", PORTS);
}

#[test]
fn any_way_of_sending() {
    attempt("any way of sending UDP", WAYS);
}
