//! `closedbook audit config`: what it prints and how it ends.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const DENY: &str = r#"{"permissions": {"deny": ["WebSearch", "WebFetch"]}}"#;

/// A root with user settings of Claude Code.
fn root(settings: &str) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("root/.claude")).unwrap();
    fs::create_dir_all(root.path().join("work")).unwrap();
    fs::write(root.path().join("root/.claude/settings.json"), settings).unwrap();
    root
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_closedbook")).args(["audit", "config"]).args(arguments).output().unwrap()
}

fn claude(root: &Path, more: &[&str]) -> (i32, String, String) {
    let mut arguments =
        vec!["--agent", "claude-code", "--version", "2.1.295", "--home", "/root", "--workdir", "/work"];
    arguments.extend(["--root", root.to_str().unwrap()]);
    arguments.extend(more);
    let output = run(&arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn exit_codes_say_the_verdict() {
    let off = root(DENY);
    let (code, out, _) = claude(off.path(), &["--clean-env", "--", "claude", "-p", "x"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("off      WebSearch"), "{out}");
    assert!(out.contains("/root/.claude/settings.json:1"), "{out}");

    let (code, out, _) = claude(off.path(), &["--", "claude", "-p", "--setting-sources", "project"]);
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("ON       WebFetch"), "{out}");

    let (code, out, _) = claude(off.path(), &["--env", "ANTHROPIC_BASE_URL=https://gateway.example"]);
    assert_eq!(code, 3, "{out}");
}

/// G16: malformed input gives the file, the place and the reason, exit 2, and the report still.
#[test]
fn malformed_input_is_no_clean_bill() {
    let broken = root("{\n  \"permissions\": {},\n}\n");
    let (code, out, err) = claude(broken.path(), &[]);
    assert_eq!(code, 2);
    assert!(out.contains("ON       WebSearch"), "{out}");
    assert!(err.contains("/root/.claude/settings.json, line 3, column 1: no JSON"), "{err}");
}

#[test]
fn json_has_a_schema() {
    let off = root(DENY);
    let (code, out, _) = claude(off.path(), &["--json", "--", "-p", "x"]);
    assert_eq!(code, 0);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["verdict"], "off");
    assert_eq!(value["reports"][0]["tools"][0]["state"], "off");
}

/// A job's agents are audited as Harbor starts them; Claude Code's settings folder is another one there.
#[test]
fn a_job_is_audited() {
    let off = root(DENY);
    let job = off.path().join("job.yaml");
    fs::write(&job, "agents:\n- name: claude-code\n  kwargs: {version: 2.1.295}\n").unwrap();
    let root = off.path().to_str().unwrap();
    let flags = ["--job", job.to_str().unwrap(), "--root", root, "--home", "/root", "--workdir", "/work"];
    let output = run(&flags);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));

    fs::write(&job, "agents:\n- name: terminus-2\n").unwrap();
    let output = run(&flags);
    assert_eq!(output.status.code(), Some(2));
    fs::write(&job, "agents: {\n").unwrap();
    let output = run(&flags);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("job.yaml, line "));
}

/// G15: what is not given is not guessed.
#[test]
fn what_must_be_given_is_asked_for() {
    let off = root(DENY);
    let root = off.path().to_str().unwrap();
    for (arguments, expected) in [
        (&["--agent", "nope", "--root", root, "--home", "/root", "--workdir", "/"][..], "no auditor"),
        (&["--agent", "claude-code", "--root", root, "--workdir", "/"], "--home must be given"),
        (&["--agent", "claude-code", "--root", root, "--home", "/root"], "--workdir must be given"),
        (&["--agent", "claude-code", "--root", root, "--home", "root", "--workdir", "/"], "absolute"),
        (&["--agent", "claude-code", "--root", "/nowhere", "--home", "/root"], "can't open --root"),
        (&["--root", root], "--agent"),
        (&["--agent", "claude-code", "--env", "X"], "NAME=VALUE"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(err.contains(expected), "{arguments:?}: {err}");
    }
}
