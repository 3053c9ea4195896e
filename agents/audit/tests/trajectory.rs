//! The corpus under `tests/trajectories`: what is found in each transcript, and what should be.
//!
//! Its index says of each file what the agent did (`truth`), which violations must be named, and what
//! TrialDesignBench 1.7.0 gives for it. Where `.ci/clients` could fetch that package, its own scan is asked again.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use closedbook_audit::trajectory::{self, Kind, Level, Log, Outcome, Transcript, tdb};
use serde_json::Value;

fn corpus() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/trajectories"))
}

fn index() -> BTreeMap<String, Value> {
    serde_json::from_slice(&fs::read(corpus().join("index.json")).unwrap()).unwrap()
}

fn read(name: &str) -> Transcript {
    trajectory::read(name, &fs::read(corpus().join(name)).unwrap(), None, None)
}

fn violations(transcript: &Transcript) -> Vec<String> {
    let counted = transcript.findings.iter().filter(|finding| finding.level == Level::Violation);
    counted
        .map(|found| {
            format!("{} {} {}", found.kind.word(), found.reason, found.hosts.join(",")).trim_end().to_owned()
        })
        .collect()
}

#[test]
fn g15_the_corpus_is_judged_right() {
    let index = index();
    let mut wrong = Vec::new();
    let (mut false_alarms, mut misses) = (0, 0);
    let (mut tdb_false_alarms, mut tdb_misses, mut atif) = (0, 0, 0);
    let mut counts = BTreeMap::new();
    for (name, entry) in &index {
        let truth = entry["truth"].as_str().unwrap();
        *counts.entry(truth).or_insert(0) += 1;
        let transcript = read(name);
        let found = violations(&transcript);
        let expected: Vec<String> = serde_json::from_value(entry["violations"].clone()).unwrap();
        if found != expected {
            wrong.push(format!("{name}: {found:?}, not {expected:?}"));
        }
        if transcript.malformed.is_empty() == (truth == "malformed") {
            wrong.push(format!("{name}: malformed {:?}", transcript.malformed));
        }
        false_alarms += usize::from(truth == "clean" && transcript.violates());
        misses += usize::from(truth == "violation" && !transcript.violates());
        if let Some(records) = entry["tdb"].as_array() {
            atif += 1;
            tdb_false_alarms += usize::from(truth == "clean" && !records.is_empty());
            tdb_misses += usize::from(truth == "violation" && records.is_empty());
        }
    }
    println!("{counts:?}: {false_alarms} false alarms, {misses} misses");
    println!(
        "TrialDesignBench 1.7.0 on the {atif} in ATIF: {tdb_false_alarms} false alarms, {tdb_misses} misses"
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((false_alarms, misses), (0, 0));
    assert!(counts["violation"] >= 40 && counts["clean"] >= 12, "{counts:?}");
}

/// No transcript that could not be read whole is without a fault, and every fault says where and why.
#[test]
fn malformed_is_never_clean() {
    for (name, entry) in index() {
        if entry["truth"] != "malformed" {
            continue;
        }
        for fault in read(&name).malformed {
            assert!(fault.file == name && !fault.reason.is_empty(), "{fault:?}");
        }
    }
    // A torn transcript still shows what it showed before.
    let torn = read("malformed-torn.jsonl");
    assert!(torn.violates());
    assert_eq!(torn.malformed[0].place.unwrap().line, 2);
}

/// Cut anywhere, a transcript of one value is malformed; of lines, it is malformed or a whole shorter one.
#[test]
fn g16_cut_anywhere() {
    for (name, entry) in index() {
        if entry["truth"] == "malformed" {
            continue;
        }
        let bytes = fs::read(corpus().join(&name)).unwrap();
        for length in (0..bytes.len()).step_by(13) {
            let cut = &bytes[..length];
            let transcript = trajectory::read(&name, cut, None, None);
            if name.ends_with(".json") && bytes[length..].iter().any(|byte| !byte.is_ascii_whitespace()) {
                assert!(!transcript.malformed.is_empty(), "{name} cut to {length}");
            }
        }
    }
}

/// Bytes of any kind are read or refused, and nothing panics.
#[test]
fn g16_changed_anywhere() {
    let mut state = 7u64;
    for name in index().keys() {
        let bytes = fs::read(corpus().join(name)).unwrap();
        for _ in 0..40 {
            let mut changed = bytes.clone();
            for _ in 0..6 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                if changed.is_empty() {
                    break;
                }
                let at = (state >> 20) as usize % changed.len();
                let with = b"\"'\\$(){}[]<>|;&`\n\0\xff#=%*?!"[(state >> 50) as usize % 25];
                changed[at] = with;
            }
            trajectory::read(name, &changed, None, None);
            let _ = tdb::scan(name, &changed);
        }
    }
}

#[test]
fn tdb_records_are_the_same() {
    let mut compared = 0;
    let mut texts = Vec::new();
    let mut all = Vec::new();
    for (name, entry) in index() {
        let bytes = fs::read(corpus().join(&name)).unwrap();
        let found = tdb::scan(&name, &bytes).map(|records| serde_json::to_value(records).unwrap()).ok();
        let recorded = Some(entry["tdb"].clone()).filter(|records| !records.is_null());
        assert_eq!(found, recorded, "{name}");
        compared += usize::from(recorded.is_some());
        texts.push(bytes);
        all.push(found);
    }
    assert!(compared >= 40, "{compared}");
    let Some(python) = python() else {
        let mut stderr = std::io::stderr();
        writeln!(stderr, "=== NOT TESTED: TrialDesignBench is not installed (.ci/clients): its recorded values stand alone ===").unwrap();
        return;
    };
    let odd = odd_trajectory().into_bytes();
    all.push(tdb::scan("odd", &odd).map(|records| serde_json::to_value(records).unwrap()).ok());
    texts.push(odd);
    for ((ours, theirs), text) in all.iter().zip(asked(&python, &texts)).zip(&texts) {
        assert_eq!(*ours, Some(theirs).filter(|found| !found.is_null()), "{}", String::from_utf8_lossy(text));
    }
}

/// A Python that has the package.
fn python() -> Option<String> {
    let folder = std::env::var_os("CLOSEDBOOK_CLIENTS").map(PathBuf::from).unwrap_or_else(|| {
        // target/debug/deps/TEST
        std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("clients")
    });
    let python = folder.join("tdb/bin/python");
    python.exists().then(|| python.to_str().unwrap().to_owned())
}

/// What the package itself finds in each text; null if it can't read it.
fn asked(python: &str, texts: &[Vec<u8>]) -> Vec<Value> {
    const SCAN: &str = "
import json, sys
from trialdesignbench.grade import scan_trajectory
def scan(line):
    try:
        trajectory = json.loads(bytes.fromhex(line).decode('utf-8'))
        assert isinstance(trajectory, dict)
        return [v.model_dump(mode='json') for v in scan_trajectory(trajectory)]
    except (UnicodeDecodeError, ValueError, TypeError, AssertionError, RecursionError):
        return None
print(json.dumps([scan(line.strip()) for line in sys.stdin]))
";
    let mut child =
        Command::new(python).args(["-c", SCAN]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for text in texts {
        let line: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(input, "{line}").unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found.len(), texts.len());
    found
}

/// Edges of the patterns, each in a call of its own.
fn odd_trajectory() -> String {
    let texts = [
        "curl",
        "libcurl curl-config .curl xcurl curl.",
        "a\u{e4}curl curl\u{e4}",
        "wget",
        "download.file (x)",
        "xdownload.file(x)",
        "httr::GET",
        "httr2  ::req",
        "library( \"httr2\")",
        "library(httr2x)",
        "require('httr')",
        "import   requests",
        "import requestsx",
        "requests.get",
        "requests.getx",
        "requests.Session()",
        "urllib",
        "urllib3",
        "urllib3x",
        "urllib.requestx",
        "urllib.urlopen",
        "xurllib",
        "pip install",
        "pip3\u{a0}install",
        "pipx install",
        "uv  pip\ninstall x",
        "pip installx",
        "install.packages\t(",
        "git   clone",
        "git clonex",
        "gitclone",
        "HTTPS://A.b/c)d http:// https://\u{1c}x",
        "http\u{17f}://long/s",
        "xhttps://a https://b, https://a",
        "http://a?u=https://b",
        "\u{1f600}\u{1f600} https://\u{e4}.example",
        "curl wget curl pip install requests.post urllib",
    ];
    let long = "\u{1f600}".repeat(400);
    let mut steps = Vec::new();
    for text in texts {
        for tool in ["Bash", "my_EXEC", "Read", "WebFetch"] {
            let padded = format!("{long}{text}{long}");
            steps.push(serde_json::json!({"step_id": text, "tool_calls": [
                {"function_name": tool, "arguments": {"a": text, "b": [padded, {"c": 1.0, "d": null, "e": true, "f": -0.5e-9, "g": 1e22}]}},
                {"name": tool, "arguments": text}, {"function_name": null, "name": "shell", "arguments": [text]}, 5, null,
            ]}));
        }
    }
    steps.push(serde_json::json!({"tool_calls": {}}));
    steps.push(serde_json::json!(7));
    let text = serde_json::json!({ "steps": steps }).to_string();
    // Of a field that stands twice the second counts.
    text.replacen("\"steps\":[", "\"steps\":[{\"tool_calls\":[{\"name\":\"Bash\",\"arguments\":{\"a\":\"curl\",\"b\":\"wget\",\"a\":\"http://x\"}},{\"name\":\"WebFetch\",\"arguments\":{\"a\":1,\"b\":-0,\"a\":NaN}}]},", 1)
}

#[test]
fn findings_are_held_against_the_log() {
    let record = |host: &str, verdict: &str, reason: Value, ts: &str| {
        serde_json::json!({"ts": ts, "id": 1, "kind": "tls", "name": host, "verdict": verdict, "reason": reason, "rule": "example.com"}).to_string()
    };
    let near = "2026-11-30T10:00:01.000Z";
    let far = "2026-11-30T14:00:00.000Z";
    let denied = Value::from("name-not-allowed");
    let outcome = |lines: &[String]| {
        let (log, faults) = Log::read("egress.jsonl", lines.join("\n").as_bytes());
        assert_eq!(faults, []);
        let mut transcript = read("atif-curl.json");
        log.join(&mut transcript.findings);
        transcript.findings[0].log.clone().unwrap()
    };
    let refused = outcome(&[record("example.com", "deny", denied.clone(), near)]);
    assert_eq!(
        (refused.outcome, refused.detail.as_str()),
        (Outcome::Refused, "example.com was refused (name-not-allowed)")
    );
    assert_eq!(outcome(&[record("Example.com.", "allow", Value::Null, near)]).outcome, Outcome::Allowed);
    assert_eq!(outcome(&[record("example.com", "cut", Value::Null, near)]).outcome, Outcome::Allowed);
    assert_eq!(
        outcome(&[record("other.example", "allow", Value::Null, near)]).outcome,
        Outcome::NeverReached
    );
    let both = [
        record("example.com", "allow", Value::Null, near),
        record("example.com", "deny", denied.clone(), near),
    ];
    assert_eq!(outcome(&both).outcome, Outcome::Ambiguous);
    // A record of hours later is not this call's, but it is not forgotten when there is no other.
    let later = [
        record("example.com", "allow", Value::Null, far),
        record("example.com", "deny", denied.clone(), near),
    ];
    assert_eq!(outcome(&later).outcome, Outcome::Refused);
    let only_later = outcome(&[record("example.com", "allow", Value::Null, far)]);
    assert_eq!((only_later.outcome, only_later.hosts[0].near), (Outcome::Allowed, Some(false)));
    // An opening is no verdict.
    let opened =
        r#"{"event":"flow.open","ts":"2026-11-30T10:00:01.000Z","id":1,"kind":"tls","name":"example.com"}"#;
    assert_eq!(outcome(&[opened.to_owned()]).outcome, Outcome::NeverReached);

    let (log, _) = Log::read("egress.jsonl", b"");
    let mut provider = read("claude-server-tool.jsonl");
    log.join(&mut provider.findings);
    assert!(
        provider.findings.iter().filter(|found| found.kind == Kind::ProviderTool).all(|found| found
            .log
            .as_ref()
            .unwrap()
            .outcome
            == Outcome::NotInLog)
    );
}
