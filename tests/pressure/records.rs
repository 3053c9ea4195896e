//! A thousand attempts of all kinds, and a record of each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::modes;
use crate::{python, run};

/// Each attempt has a name or an address of its own, by which its record is found.
const ATTEMPTS: &str = r#"
context = ssl.create_default_context()

def address(number):
    return f'203.0.113.{number % 250}', f'198.51.100.{number % 250}'

def hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()

def attempt(first, port, at, end=False):
    try:
        with connect(at, port) as wire:
            wire.sendall(first)
            if end:
                wire.shutdown(socket.SHUT_WR)
            while wire.recv(65536):
                pass
    except OSError:
        pass

def question(name):
    labels = b''.join(bytes([len(label)]) + label.encode() for label in name.split('.'))
    wire = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    wire.settimeout(30)
    wire.connect(('192.0.2.1', 53))
    wire.send(struct.pack('>6H', 7, 256, 1, 0, 0, 0) + labels + b'\0\0\1\0\1')
    wire.recv(512)
    wire.close()

def tls_exchange(at, path):
    """A request over TLS, with the octets that went over the wire each way."""
    wire = connect(at, 443)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=HOST)
    up = down = 0
    def until(step):
        nonlocal up, down
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                result = None
            except ssl.SSLZeroReturnError:
                result = b''
            if (octets := outgoing.read()):
                wire.sendall(octets)
                up += len(octets)
            if result is not None:
                return result
            octets = wire.recv(65536)
            down += len(octets)
            incoming.write(octets) if octets else incoming.write_eof()
    until(lambda: tls.do_handshake() or b'')
    until(lambda: tls.write(f'GET {path} HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n'.encode()))
    while True:
        try:
            if not until(lambda: tls.read(65536)):
                break
        except (ssl.SSLError, OSError):
            break
    # To the end of the wire, so that all of it is counted.
    wire.shutdown(socket.SHUT_WR)
    while (octets := wire.recv(65536)):
        down += len(octets)
    return up, down

expected = []
def note(key, kind, verdict, reason, moved=None):
    expected.append([key, kind, verdict, reason, moved])

def one(number):
    refused, reached = f'n{number}.example.com', f'203.0.113.{number % 250}'
    at = f'10.{number // 250}.{number % 250}.7'
    match number % 10:
        case 0:
            moved = tls_exchange(at, f'/bytes/{number * 10}')
            note(at, 'tls', 'allow', None, moved)
        case 1:
            assert get(f'/number-{number}', address=at) == 200
            note(at, 'http', 'allow', None)
        case 2:
            assert get('/', host=refused, address=at) == 403
            note(at, 'http', 'deny', 'name-not-allowed')
        case 3:
            attempt(hello(refused), 443, at)
            note(at, 'tls', 'deny', 'name-not-allowed')
        case 4:
            attempt(hello('192.0.2.9'), 443, at)
            note(at, 'tls', 'deny', 'no-server-name')
        case 5:
            attempt(hello(HOST), 8443, at)
            note(at, 'tls', 'deny', 'port-not-allowed')
        case 6:
            attempt(b'SSH-2.0-client\r\n', 443, at)
            note(at, 'tcp', 'deny', 'not-tls-or-http')
        case 7:
            attempt(hello(HOST)[:90], 443, at, end=True)
            note(at, 'tls', 'deny', 'hello-timeout')
        case 8:
            question(refused)
            note(refused, 'dns', 'deny', 'dns-name')
        case 9:
            attempt(f'GET / HTTP/1.1\r\nHost: {HOST}\r\nHost: {refused}\r\n\r\n'.encode(), 80, at)
            note(at, 'http', 'deny', 'host-duplicate')

faults = []
def some(numbers):
    for number in numbers:
        try:
            one(number)
        except BaseException as fault:
            faults.append((number, repr(fault)))
threads = [threading.Thread(target=some, args=(range(first, 1000, 8),)) for first in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not faults, faults
print(json.dumps(expected))
"#;

/// G13: a thousand attempts, eight at a time, have a record each, with the right reason; what went over the wire of
/// permitted ones is what the records say, octet for octet; and exactly the permitted ones arrived.
#[test]
fn one_record_for_each_of_a_thousand() {
    for &mode in modes() {
        let run = run(mode);
        let words = python(ATTEMPTS);
        let output = run.command(&words.each_ref().map(String::as_str)).output().unwrap();
        let outcome = run.outcome(output);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let expected: Vec<Value> = serde_json::from_str(&outcome.stdout).unwrap();
        let expected: BTreeMap<String, Value> = expected
            .into_iter()
            .map(|line| (line[0].as_str().unwrap().to_owned(), json!([line[1], line[2], line[3], line[4]])))
            .collect();
        assert_eq!(expected.len(), 1000);
        let mut found: BTreeMap<String, Value> = BTreeMap::new();
        for record in &outcome.log {
            let original = record["original"].as_str().and_then(|address| address.rsplit_once(':'));
            let key = original.map_or_else(|| record["name"].as_str().unwrap(), |(address, _)| address);
            let moved = match (&record["kind"], &record["verdict"]) {
                (kind, verdict) if kind == "tls" && verdict == "allow" => {
                    json!([record["bytes_up"], record["bytes_down"]])
                }
                _ => Value::Null,
            };
            let told = json!([record["kind"], record["verdict"], record["reason"], moved]);
            assert_eq!(found.insert(key.to_owned(), told), None, "a second record: {record}");
        }
        for (key, told) in &expected {
            assert_eq!(found.get(key), Some(told), "{key}");
        }
        assert_eq!(found.len(), expected.len());
        // The lab saw each permitted request once, and nothing of the others.
        for kind in ["/bytes/", "/number-"] {
            let arrived = outcome.witness.iter().filter(|arrival| {
                arrival["proto"] == "http"
                    && arrival["detail"].as_str().is_some_and(|line| line.contains(kind))
            });
            assert_eq!(arrived.count(), 100, "{kind}");
        }
        assert!(!outcome.arrived("example.com"));
    }
}
