//! What the kernel's rules refuse is recorded like what the proxy refuses.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use support::{Run, modes};

/// G13: one record for each refused packet, with where it was to go.
#[test]
fn refused_packets_are_recorded() {
    let program = r#"
import socket
def refused(family, kind, protocol, address, message):
    s = socket.socket(family, kind, protocol)
    try: s.sendto(message, address)
    except OSError: return
    raise SystemExit(f"{address} was not refused")
refused(socket.AF_INET, socket.SOCK_DGRAM, 0, ("192.0.2.1", 123), b"time")
refused(socket.AF_INET6, socket.SOCK_DGRAM, 0, ("2001:db8::7", 443), b"quic")
refused(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP, ("192.0.2.1", 0), bytes([8, 0, 0, 0, 0, 1, 0, 1]))
"#;
    for &mode in modes() {
        let run = Run::in_lab(mode).python(program).must_succeed();
        let told: Vec<_> = run
            .of_kind("packet")
            .iter()
            .map(|record| {
                assert_eq!(
                    (&record["verdict"], &record["reason"]),
                    (&"deny".into(), &"packet".into()),
                    "{run:?}"
                );
                assert!(record["name"].is_null(), "{run:?}");
                (record["detail"].to_string(), record["original"].to_string(), record["port"].to_string())
            })
            .collect();
        let expected = [
            (r#""udp to 192.0.2.1:123""#, r#""192.0.2.1:123""#, "123"),
            (r#""udp to [2001:db8::7]:443""#, r#""[2001:db8::7]:443""#, "443"),
            (r#""icmp echo request to 192.0.2.1""#, r#""192.0.2.1:0""#, "null"),
        ];
        let expected = expected.map(|(detail, original, port)| (detail.into(), original.into(), port.into()));
        assert_eq!(told, expected, "{run:?}");
        assert!(run.stderr.contains("192.0.2.1:123 (packet)"), "{run:?}");
        assert_eq!(run.log.len(), 3, "closedbook's own test is not in the log: {run:?}");
    }
}

/// G13, G16: a flood gets a few records, and what has none is counted.
#[test]
fn a_flood_is_counted() {
    let program = r#"
import errno, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def send():
    try: s.sendto(b"x", ("192.0.2.1", 9))
    except PermissionError: return
    raise SystemExit("not refused")
for _ in range(1000): send()
# As long as the kernel needs to have a record to spare again.
for _ in range(10):
    time.sleep(0.1)
    send()
"#;
    for &mode in modes() {
        let run = Run::in_lab(mode).python(program).must_succeed();
        let records = run.of_kind("packet").len();
        assert!((20..200).contains(&records), "{records} records");
        let missed: usize = run
            .of_kind("packet")
            .iter()
            .filter_map(|record| {
                record["detail"].as_str()?.split_once("; ")?.1.split_once(' ')?.0.parse::<usize>().ok()
            })
            .sum();
        // The last few may have come after the last record.
        assert!(
            (1000..=1010).contains(&(records + missed)),
            "{records} records, {missed} missed: {}",
            run.stderr
        );
        let said = format!("{missed} more packets were refused, too many at once to record each");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
    }
}
