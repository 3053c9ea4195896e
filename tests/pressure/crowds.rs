//! Too many clients, and too slow ones.

use std::time::Duration;

use serde_json::Value;

use crate::support::live::{Live, private_folder};
use crate::support::{Run, as_mode, modes};
use crate::{Spoken, by_way_of, metric, metrics_at, python, run, with_metrics};

/// G16: a thousand clients that never finish their hello keep nobody out: who knows what it wants is served while they
/// are all there, whatever the limit on descriptors is.
#[test]
fn a_thousand_slow_hellos() {
    const PROGRAM: &str = r#"
def slow():
    for number in range(125):
        try:
            wire = connect(port=443 if number % 2 else 80)
            wire.sendall([b'\x16\x03\x01', b'GET / HT'][number % 2])
            held.append(wire)
        except OSError:
            pass
held = []
threads = [threading.Thread(target=slow) for _ in range(8)]
for thread in threads: thread.start()
# While they come, and when they are there.
answers = [get(f'/while-{number}') for number in range(10)]
for thread in threads: thread.join()
answers += [get(f'/then-{number}') for number in range(10)]
assert answers == [200] * 20, answers
"#;
    for &mode in modes() {
        for descriptors in [1100, 20_000] {
            let run = run(mode);
            let limit = format!("--nofile={descriptors}:{descriptors}");
            let words = python(PROGRAM);
            let command = run.command(&words.each_ref().map(String::as_str));
            let output = by_way_of(&["prlimit", &limit], &command).output().unwrap();
            let outcome = run.outcome(output).must_succeed();
            assert_eq!(outcome.log.len(), 1020, "{outcome:#?}");
            assert_eq!(outcome.log.iter().filter(|record| record["verdict"] == "allow").count(), 20);
            // With few descriptors the slowest made way before their time.
            assert_eq!(outcome.records("deny", "limit") > 0, descriptors == 1100, "{outcome:#?}");
        }
    }
}

/// G6, G16: with 256 descriptors, five crowds of four hundred connections at once leave nothing behind: who comes
/// afterwards is served, and as many descriptors are open as before.
#[test]
fn few_descriptors() {
    const PROGRAM: &str = r#"
def storm():
    held = []
    for number in range(100):
        try:
            wire = connect()
            wire.sendall(f'GET /silent/10 HTTP/1.1\r\nHost: {HOST}\r\n\r\n'.encode())
            held.append(wire)
        except OSError:
            pass
assert all(served(f'/before-{number}') for number in range(5))
say('before')
for wave in range(5):
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            storm()
            os._exit(0)
        children.append(child)
    for child in children: os.waitpid(child, 0)
say('after')
assert all(served(f'/after-{number}') for number in range(20))
"#;
    for &mode in modes() {
        let (run, metrics) = with_metrics(run(mode));
        let words = python(PROGRAM);
        let command = run.command(&words.each_ref().map(String::as_str));
        let mut spoken = Spoken::start(by_way_of(&["prlimit", "--nofile=256:256"], &command));
        spoken.hear("before");
        let open = |at| metric(&settled(at), "process_open_fds");
        let before = open(&metrics);
        spoken.tell();
        spoken.hear("after");
        let text = settled(&metrics);
        assert_eq!(metric(&text, "process_max_fds"), 256.0);
        assert!(metric(&text, "process_open_fds") <= before + 8.0, "{before}: {text}");
        let limits = ["flows", "hellos"]
            .map(|limit| metric(&text, &format!("closedbook_limit_hits_total{{limit=\"{limit}\"}}")));
        assert!(limits.iter().sum::<f64>() > 0.0, "{text}");
        assert_eq!(metric(&text, "closedbook_degraded"), 1.0, "{text}");
        spoken.tell();
        let outcome = spoken.end(&run).must_succeed();
        assert_eq!(outcome.log.len(), 5 + 2000 + 20, "each attempt has its record");
    }
}

/// G6, G16: when the proxy has no descriptor left, whoever connects is refused and recorded, and nobody hangs; when there
/// are descriptors again, there is service again. The bounds would keep it from getting there, so its limit is lowered
/// while it runs.
#[test]
fn out_of_descriptors() {
    const PROGRAM: &str = r#"
def fate(wire):
    try:
        wire.settimeout(20)
        wire.sendall(f'GET /now HTTP/1.1\r\nHost: {HOST}\r\n\r\n'.encode())
        answer = wire.recv(65536)
        return answer.split(b' ', 2)[1].decode() if answer else 'closed'
    except TimeoutError:
        return 'hangs'
    except OSError:
        return 'reset'
assert get('/before') == 200
say('ready')
def attempt():
    try:
        return connect()
    except OSError:
        return None
fates = [fate(wire) if wire else 'reset' for wire in [attempt() for _ in range(60)]]
assert 'hangs' not in fates and 'closed' not in fates, fates
assert 'reset' in fates or '503' in fates, fates
say('refused')
assert [get(f'/then-{number}') for number in range(20)] == [200] * 20
"#;
    for &mode in modes() {
        let runtime = private_folder(mode);
        let words = python(PROGRAM);
        let mut run = Live::start(run(mode), mode, &runtime, &words.each_ref().map(String::as_str));
        assert_eq!(run.hear(), "ready");
        let own = run.id().to_string();
        let status = |run: &Live| -> Value {
            let output = run.ask(&["status", "--json", "--pid", &own]);
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let before = status(&run);
        let open = before["load"]["descriptors"]["now"].as_u64().unwrap();
        let limit = |number: u64| {
            // The user of the run, whose process it is.
            let mut command = as_mode(mode, true);
            command
                .arg("prlimit")
                .arg("--pid")
                .arg(before["pid"].to_string())
                .arg(format!("--nofile={number}:"));
            command.output().unwrap()
        };
        let lowered = limit(open + 5);
        assert!(lowered.status.success(), "{lowered:?}");
        run.say("");
        assert_eq!(run.hear(), "refused");
        let words: Vec<Value> = status(&run)["degraded"].as_array().unwrap().clone();
        assert!(words.iter().any(|trouble| trouble["word"] == "limit-descriptors"), "{words:?}");
        assert!(limit(before["load"]["descriptors"]["most"].as_u64().unwrap()).status.success());
        run.say("");
        let outcome = run.end().must_succeed();
        assert_eq!(outcome.log.len(), 1 + 60 + 20, "each attempt has its record: {outcome:#?}");
        assert!(outcome.records("deny", "limit") > 0);
    }
}

/// The metrics when no connection is left.
fn settled(at: &std::path::Path) -> String {
    loop {
        let text = metrics_at(at);
        let left = ["closedbook_flows", "closedbook_pending_hellos"].map(|name| metric(&text, name));
        if left == [0.0, 0.0] {
            return text;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// G4, G16: a resolver that does not answer refuses what needs it, and the health says so.
#[test]
fn no_resolver() {
    for &mode in modes() {
        let run = Run::without_uplink(mode).allow(crate::ALLOWED);
        let (run, metrics) = with_metrics(run.flag("--resolver").flag("192.0.2.53"));
        let words = python("assert get('/') in (502, 503, 504)\nsay('asked')\n");
        let mut spoken = Spoken::start(run.command(&words.each_ref().map(String::as_str)));
        spoken.hear("asked");
        assert_eq!(metric(&metrics_at(&metrics), "closedbook_degraded"), 1.0);
        spoken.tell();
        spoken.end(&run).must_succeed().must_record(1, "deny", "resolve-failed");
    }
}
