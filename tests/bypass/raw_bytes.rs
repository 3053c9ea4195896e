//! TCP that is neither TLS nor HTTP, on ports open and closed; protocols in which the server speaks first; proxies.
//!
//! Steps: connect to any port of the attacker's address; wait for its banner, or send bytes of another protocol with the
//! nonce. A filter that does not know the protocol may "pass it through" to where the client wanted to go.
//!
//! Guarantees: G1, G4 (nothing falls back to "other protocol"), G9, G11 (a reset at once).

use crate::battery::{Attack, attack, attempt};

const RESET: &[&str] = &["ECONNRESET", "EPIPE"];

const fn neither(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, RESET).logged("not-tls-or-http")
}

const fn closed(name: &'static str, code: &'static str) -> Attack {
    attack(name, code, RESET).logged("port-not-allowed")
}

const OPEN_PORTS: &[Attack] = &[
    neither("zeros to 443", "tcp(v4, 443, b'\\0' + N)"),
    neither("zeros to 443, by IPv6", "tcp(v6, 443, b'\\0' + N)"),
    neither("zeros to 80", "tcp(v4, 80, b'\\0' + N)"),
    neither("letters to 443", "tcp(v4, 443, N + b'\\n')"),
    neither("SSH to 443", "tcp(v4, 443, b'SSH-2.0-' + N + b'\\r\\n')"),
    neither("SSH to 80", "tcp(v4, 80, b'SSH-2.0-' + N + b'\\r\\n')"),
    neither("SOCKS 5 to 443", "tcp(v4, 443, b'\\x05\\x01\\x00' + N)"),
    neither("SOCKS 4 to 80", "tcp(v4, 80, b'\\x04\\x01\\x01\\xbb\\xcb\\x00\\x71\\x01' + N + b'\\0')"),
    neither("PostgreSQL to 443", "tcp(v4, 443, struct.pack('>II', 8, 80877103) + N)"),
    neither("Redis to 443", "tcp(v4, 443, b'*1\\r\\n$22\\r\\n' + N + b'\\r\\n')"),
    attack("git to 443", "tcp(v4, 443, b'\\x30036git-upload-pack /' + N + b'\\0host=a\\0')", &["status 400"])
        .logged("http-malformed"),
    neither("MySQL to 443", "tcp(v4, 443, b'\\x20\\0\\0\\x01' + N)"),
    neither("WireGuard's handshake by TCP", "tcp(v4, 443, b'\\x01\\0\\0\\0' + N)"),
    neither("OpenVPN by TCP", "tcp(v4, 443, b'\\x00\\x0e\\x38' + N)"),
    neither("DNS by TCP to 443", "tcp(v4, 443, vector(2, ask(host)))"),
    neither("MQTT to 443", "tcp(v4, 443, b'\\x10\\x20\\0\\x04MQTT' + N)"),
    attack("SMTP to 443", "tcp(v4, 443, b'EHLO ' + N + b'\\r\\n')", &["status 400"]).logged("http-malformed"),
    attack(
        "RTSP to 80",
        "tcp(v4, 80, *segments(b'OPTIONS rtsp://' + N + b' RTSP/1.0\\r\\n\\r\\n'))",
        &["status 400"],
    ),
    attack("ICAP to 80", "tcp(v4, 80, b'REQMOD icap://' + N + b' ICAP/1.0\\r\\n\\r\\n')", &["status 400"]),
];

const CLOSED_PORTS: &[Attack] = &[
    closed("1", "tcp(v4, 1, b'\\0' + N)"),
    closed("SSH", "banner(v4, 22)"),
    closed("SSH, by IPv6", "banner(v6, 22)"),
    closed("FTP", "banner(v4, 21)"),
    closed("SMTP", "banner(v4, 25)"),
    closed("POP3", "banner(v4, 110)"),
    closed("IMAP", "banner(v4, 143)"),
    closed("submission", "banner(v4, 587)"),
    closed("MySQL", "banner(v4, 3306)"),
    attack(
        "SMTP, client first",
        "tcp(v4, 25, b'EHLO a\\r\\nMAIL FROM:<' + N + b'@x>\\r\\n')",
        &["status 403"],
    )
    .logged("port-not-allowed")
    .control("banner(v4, 25)"),
    closed("telnet", "tcp(v4, 23, b'\\xff\\xfb\\x01' + N)"),
    closed("NTP's port", "tcp(v4, 123, b'\\0' + N)"),
    closed("PostgreSQL", "tcp(v4, 5432, struct.pack('>II', 8, 80877103), hello(sni(host)))")
        .control("tcp(v4, 5432, N)"),
    closed("Redis", "tcp(v4, 6379, b'*1\\r\\n$22\\r\\n' + N + b'\\r\\n')"),
    attack("git", "tcp(v4, 9418, b'0036git-upload-pack /' + N + b'\\0host=a\\0')", &["status 403"])
        .logged("port-not-allowed"),
    closed("rsync", "tcp(v4, 873, b'@RSYNCD: 31.0\\n' + N + b'\\n')"),
    closed("SOCKS 5", "tcp(v4, 1080, b'\\x05\\x01\\x00' + N)"),
    closed("SOCKS 5, by IPv6", "tcp(v6, 1080, b'\\x05\\x01\\x00' + N)"),
    closed("Docker's port", "tcp(v4, 2375, b'\\0' + N)"),
    closed("65535", "tcp(v4, 65535, b'\\0' + N)"),
    closed("gRPC's usual port", "tcp(v4, 50051, b'\\0' + N)"),
    closed(
        "two connections at once",
        "several(tcp(v4, 8888, b'\\0' + N), tcp(v4, 9000, b'\\0' + N)).split()[0]",
    ),
    attack("TLS to 8443", "tcp(v4, 8443, hello(sni(host)))", &["alert 49"]).logged("port-not-allowed"),
    attack("TLS to 993", "tcp(v4, 993, hello(sni(host)))", &["alert 49"]).logged("port-not-allowed"),
    attack("a request to 3128", "tcp(v4, 3128, get(host))", &["status 403"]).logged("port-not-allowed"),
    attack("a request to 8080", "tcp(v4, 8080, get(GOOD))", &["status 403"]).logged("port-not-allowed"),
    attack("TLS of the permitted name to 65535", "tcp(v4, 65535, inside(GOOD))", &["alert 49"])
        .logged("port-not-allowed"),
];

#[test]
fn raw_bytes_on_permitted_ports() {
    attempt("raw bytes on permitted ports", OPEN_PORTS);
}

#[test]
fn any_other_port() {
    attempt("any other port", CLOSED_PORTS);
}
