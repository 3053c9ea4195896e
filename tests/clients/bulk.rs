//! Much at once: long bodies and many connections.

use crate::run;
use crate::support::{Mode, modes};

/// G12: 200 MB down and up, inside TLS and in the clear, equal to the last octet; as root. A tenth of it otherwise.
/// G13: the record counts all of it.
#[test]
fn long_bodies() {
    for &mode in modes() {
        let count: u64 = if mode == Mode::Root { 200_000_000 } else { 20_000_000 };
        let script = format!(
            r#"
            set -e
            for way in "https --http1.1" "http --http1.1"; do
                set -- $way
                curl -sS --fail $2 -o got -D head $1://api.anthropic.com/bytes/{count}
                sent=$(sed -n 's/^x-lab-sha256: \([0-9a-f]*\).*/\1/p' head)
                got=$(sha256sum got | cut -d' ' -f1)
                echo "$1 down: $([ "$sent" = "$got" ] && echo equal)"
                curl -sS --fail $2 -T got $1://api.anthropic.com/upload |
                    grep -q "{{\"bytes\":{count},\"sha256\":\"$got\"}}" && echo "$1 up: equal"
            done
            head -c 20000000 got | curl -sS --fail --http2 -T - https://api.anthropic.com/upload
            "#
        );
        let run = run(mode)
            .script(&script)
            .must_succeed()
            .must_print("https down: equal\nhttps up: equal\nhttp down: equal\nhttp up: equal\n")
            .must_print(r#"{"bytes":20000000,"#);
        for (kind, overhead) in [("http", 1000), ("tls", count / 100)] {
            let records = run.of_kind(kind);
            let counted = |record: usize, field: &str| {
                let bytes = records[record][field].as_u64().unwrap();
                (count..=count + overhead).contains(&bytes)
            };
            assert!(counted(0, "bytes_down") && counted(1, "bytes_up"), "{kind}: {run:#?}");
        }
    }
}

/// G12, G16: two thousand connections, all open at the same time, and every one answered; in the clear and inside TLS.
#[test]
fn many_connections_at_once() {
    for &mode in modes() {
        let scheme = if mode == Mode::Root { "tls" } else { "plain" };
        let program = format!("SCHEME = {scheme:?}\n{}", include_str!("programs/parallel.py"));
        let run = run(mode)
            .python(&program)
            .must_succeed()
            .must_print("open at once: 2000\nanswered: 2000 twice\n");
        let (kind, attempts) = if mode == Mode::Root { ("tls", 2000) } else { ("http", 4000) };
        let records = run.of_kind(kind);
        assert_eq!(records.len(), attempts, "a record each");
        assert!(records.iter().all(|record| record["verdict"] == "allow"), "all allowed");
    }
}
