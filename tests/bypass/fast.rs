//! G11: how long each kind of refusal takes. The figures are printed, not judged: a machine that runs tests is busy.
//! What is judged is that nothing hangs.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::json;

use crate::program::Sealed;
use crate::support::{Mode, Run, modes};

const TIMES: usize = 20;
const HANG_MS: f64 = 2_000.0;

const KINDS: [(&str, &str); 22] = [
    ("TLS, another name", "tcp(v4, 443, hello(sni(host)))"),
    ("TLS, another name, IPv6", "tcp(v6, 443, hello(sni(host)))"),
    ("TLS, no name", "tcp(v4, 443, hello(session=N))"),
    ("TLS, malformed", "tcp(v4, 443, inside('a..b'))"),
    ("TLS, another port", "tcp(v4, 8443, hello(sni(host)))"),
    ("HTTP, another host", "web(v4, 80, get(host))"),
    ("HTTP, no host", "web(v4, 80, get(None))"),
    ("HTTP, two lengths", "smuggle('Content-Length: 3', 'Transfer-Encoding: chunked', body=b'abc')"),
    ("HTTP, CONNECT", "web(v4, 80, get(host, method='CONNECT', path=host + ':443'))"),
    ("HTTP/2 in the clear", "tcp(v4, 80, h2_request(host))"),
    ("raw bytes, open port", "tcp(v4, 443, b'\\0' + N)"),
    ("raw bytes, closed port", "tcp(v4, 9999, b'\\0' + N)"),
    ("nothing said, closed port", "tcp_server_first(v4, 22)"),
    ("data in the SYN", "fast_open(v4, hello(sni(host)))"),
    ("Multipath TCP", "tcp(v4, 443, hello(sni(host)), protocol=IPPROTO_MPTCP)"),
    ("DNS, another name, UDP", "dns(v4, ask(host))"),
    ("DNS, another name, TCP", "dns_tcp(v4, ask(host))"),
    ("DNS, another type", "dns(v4, ask(host, 'TXT'))"),
    ("UDP", "udp(v4, 4444, N)"),
    ("QUIC", "udp(v4, 443, quic())"),
    ("ping", "echo(socket.SOCK_DGRAM)"),
    ("the proxy's own port", "tcp('127.0.0.1', 12345, hello(sni(host)))"),
];

#[test]
fn refusals_are_fast() {
    for &mode in modes() {
        let run = Run::in_lab(mode).allow("api.anthropic.com");
        let mut task = Sealed::start(&run).program;
        let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for round in 0..TIMES {
            for (kind, code) in KINDS {
                let nonce = format!("N0NCE-fast{round}");
                let attack = json!({"name": kind, "code": code, "nonce": nonce, "v4": "203.0.113.9", "v6": "2001:db8:0:bad::9"});
                let result = task.order(&json!({"attacks": [attack], "together": false, "wait": 10.0}));
                let ms = result[kind]["ms"].as_f64().unwrap();
                assert!(ms < HANG_MS, "{kind}: {result:?}");
                assert!(!result[kind]["outcome"].as_str().unwrap().contains("reached"), "{kind}: {result:?}");
                times.entry(kind).or_default().push(ms);
            }
        }
        assert_eq!(task.end().status.code(), Some(0));
        print(mode, times);
    }
}

/// Past the harness, which keeps what tests print that pass.
fn print(mode: Mode, times: BTreeMap<&str, Vec<f64>>) {
    let mut table =
        format!("=== G11: time to a refusal, median and longest of {TIMES}, in ms, {mode:?} ===\n");
    for (kind, mut times) in times {
        times.sort_by(f64::total_cmp);
        table.push_str(&format!(
            "{kind:<28}{:>8.1}{:>8.1}\n",
            times[times.len() / 2],
            times[times.len() - 1]
        ));
    }
    let _ = std::io::stderr().write_all(table.as_bytes());
}
