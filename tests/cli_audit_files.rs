//! What `closedbook audit container` and `closedbook audit log` print, and their exit codes. The findings themselves are
//! held by the corpora of closedbook-audit.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

/// Runs `closedbook audit ARGS` in `tests/`, with the text on standard input.
fn audit(args: &[&str], input: &str) -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_closedbook"))
        .arg("audit")
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn containers() {
    let folder = "containers-audit";
    for (file, flags, code) in [
        ("compose-right.yaml", &[][..], 0),
        ("docker-none.json", &["--no-sidecar"], 0),
        ("compose-named-sidecar.yaml", &["--sidecar", "guard"], 0),
        ("compose-harbor.yaml", &[], 1),
        ("compose-named-sidecar.yaml", &["--no-sidecar"], 1),
        ("compose-duplicate.yaml", &[], 2),
        ("compose-right.yaml", &["--sidecar", "nobody"], 2),
        ("compose-right.yaml", &["--format", "oci"], 2),
        ("not-there.yaml", &[], 2),
        ("compose-chain.yaml", &[], 3),
    ] {
        let path = format!("{folder}/{file}");
        let mut args = vec!["container", &path];
        args.extend(flags);
        let outcome = audit(&args, "");
        assert_eq!(outcome.code, code, "{args:?}: {}{}", outcome.stdout, outcome.stderr);
        assert_eq!(!outcome.stderr.is_empty(), code == 2, "{args:?}: {}", outcome.stderr);
    }
    // One that can't be read does not keep the others from being reported.
    let outcome =
        audit(&["container", "--json", "not-there.yaml", "-"], "services: {main: {network_mode: host}}");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, &report["schema"], &report["outcome"]), (2, &1.into(), &"malformed".into()));
    assert_eq!(report["containers"][0]["findings"][0]["id"], "capability");
    assert_eq!(report["malformed"][0]["file"], "not-there.yaml");
}

#[test]
fn logs() {
    let outcome = audit(&["log", "logs-audit/unordered.jsonl"], "");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
    assert!(outcome.stdout.starts_with("log        4 records of 1 run, 2026-01-02T03:00:01.000Z to "));
    for (file, code) in [("missing.jsonl", 1), ("torn.jsonl", 2), ("empty.jsonl", 3), ("not-there.jsonl", 2)]
    {
        let outcome = audit(&["log", &format!("logs-audit/{file}")], "");
        assert_eq!(outcome.code, code, "{file}: {}", outcome.stderr);
    }
    let policy = ["--policy", "logs-audit/policy.toml"];
    let outcome = audit(&["log", "logs-audit/refused.jsonl", policy[0], policy[1], "--json"], "");
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&report["schema"], &report["against"]), (&1.into(), &"logs-audit/policy.toml".into()));
    // The log's digest is made up, so that it is another policy's.
    assert_eq!((outcome.code, &report["findings"][0]["id"]), (1, &"other-policy".into()));
    let outcome = audit(
        &["log", "logs-audit/asked-only.jsonl", policy[0], policy[1], "--propose", "--propose-refused"],
        "",
    );
    assert!(outcome.stdout.starts_with("--- a/logs-audit/policy.toml\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("\n+allow = [\"api.anthropic.com\"]\n"), "{}", outcome.stdout);
    assert_eq!(audit(&["log", "-", "--propose"], "").code, 2);
}
