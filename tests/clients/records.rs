//! The decision log after real clients: one line an attempt, and every attempt.

use serde_json::{Value, json};

use crate::support::{Run, modes};
use crate::{python, run};

/// G13: what was tried, in the order in which it was tried, each with its verdict and its reason.
#[test]
fn one_record_an_attempt() {
    const ATTEMPTS: &str = r#"
def attempt(first, port, address='198.51.100.9', end=False):
    try:
        talk = Talk(address, port).say(first)
        if end:
            talk.wire.shutdown(socket.SHUT_WR)
        talk.file.read()
    except OSError:
        pass

def hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()

close = 'Connection: close\r\n'
attempt(head('/one', more=close) , 80)
attempt(head('/two', host='example.com'), 80)
attempt(head('/three') + head('/four', host='example.com'), 80)
attempt(head('/five', more='Host: example.com\r\n'), 80)
attempt(hello('example.org'), 443)
attempt(hello('192.0.2.7'), 443)
attempt(b'', 8443)
attempt(hello('api.anthropic.com')[:100], 443, end=True)
attempt(b'\x16\x03\x01\x00\x05hello', 443)
attempt(b'SSH-2.0-client\r\n', 443)
attempt(b'', 443, end=True)
"#;
    let expected = [
        json!(["http", "api.anthropic.com", 80, "allow", null]),
        json!(["http", "example.com", 80, "deny", "name-not-allowed"]),
        json!(["http", "api.anthropic.com", 80, "allow", null]),
        json!(["http", "example.com", 80, "deny", "name-not-allowed"]),
        json!(["http", null, 80, "deny", "host-duplicate"]),
        json!(["tls", "example.org", 443, "deny", "name-not-allowed"]),
        json!(["tls", null, 443, "deny", "no-server-name"]),
        json!(["tcp", null, 8443, "deny", "port-not-allowed"]),
        json!(["tls", null, 443, "deny", "hello-timeout"]),
        json!(["tls", null, 443, "deny", "malformed-hello"]),
        json!(["tcp", null, 443, "deny", "not-tls-or-http"]),
        json!(["tcp", null, 443, "deny", "hello-timeout"]),
    ];
    for &mode in modes() {
        let run = python(run(mode), ATTEMPTS).must_succeed();
        let mut records: Vec<&Value> = run.log.iter().collect();
        records.sort_by_key(|record| record["id"].as_u64());
        let told = ["kind", "name", "port", "verdict", "reason"];
        let found: Vec<Value> =
            records.iter().map(|record| told.iter().map(|field| record[*field].clone()).collect()).collect();
        assert_eq!(found, expected, "{run:#?}");
        for record in records {
            assert_eq!(record["phase"], "agent", "{run:#?}");
            assert_eq!(record["policy"].as_str().map(str::len), Some(64), "{run:#?}");
            assert_eq!(record["dialled"].is_null(), record["verdict"] == "deny", "{run:#?}");
            assert_eq!(record["detail"].is_null(), record["verdict"] == "allow", "{run:#?}");
        }
    }
}

/// G12, G13: a command that ends right behind its last words has said them: what was permitted arrives, what was
/// refused is recorded.
#[test]
fn last_words() {
    const LAST_WORDS: &str = r#"
held = Talk(tls=True)
held.ask('/held')
allowed = [Talk() for _ in range(5)]
refused = [Talk() for _ in range(5)]
for number, talk in enumerate(allowed):
    talk.say(head(f'/last-{number}.'))
for talk in refused:
    talk.say(head('/', host='example.com'))
upload = Talk().say(head('/upload', method='PUT', more='Content-Length: 2000000\r\n') + b'x' * 2_000_000)
os._exit(0)
"#;
    for &mode in modes() {
        let run = python(run(mode), LAST_WORDS).must_succeed();
        for number in 0..5 {
            assert!(run.arrived(&format!("/last-{number}.")), "{number}: {run:#?}");
        }
        let upload = run.log.iter().any(|record| record["bytes_up"].as_u64() > Some(2_000_000));
        assert!(upload, "{run:#?}");
        run.must_record(5, "deny", "name-not-allowed");
    }
}

/// G13: without `--log` nothing is written, with it each run adds to what is there.
#[test]
fn a_log_is_added_to() {
    for &mode in modes() {
        let run = Run::in_lab(mode);
        for _ in 0..2 {
            let output = run.command(&["getent", "hosts", "example.com"]).output().unwrap();
            assert_eq!(output.status.code(), Some(2));
        }
        let output = run.command(&["true"]).output().unwrap();
        let run = run.outcome(output);
        assert_eq!(run.of_kind("dns").len(), 4, "{run:#?}");
        assert_eq!(run.log.iter().filter(|record| record["id"] == 1).count(), 2, "{run:#?}");
    }
}
