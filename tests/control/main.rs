//! A run and its operator: the control socket, and the commands on top of it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod finding;
mod paths;
mod reach;
mod reading;
#[path = "../support/mod.rs"]
mod support;

use std::process::Output;

use support::live::Live;
use support::{Mode, Run};
use tempfile::TempDir;

/// Two phases, of which one permits more.
const POLICY: &str = r#"
schema = 1
name = "trial"
[phase.setup]
allow = ["api.anthropic.com", "registry.npmjs.org"]
[phase.agent]
allow = ["api.anthropic.com"]
"#;

/// A run under that policy, in this phase, with these flags.
fn live(mode: Mode, runtime: &TempDir, phase: &str, flags: &[&str], words: &[&str]) -> Live {
    let run = Run::in_lab(mode);
    let policy = run.file("policy.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let run = run.flag("--policy").flag(policy.to_str().unwrap()).flag("--phase").flag(phase);
    let run = flags.iter().fold(run, |run, flag| run.flag(flag));
    Live::start(run, mode, runtime, words)
}

/// A command that does nothing until it is told, and then ends.
const WAITS: [&str; 3] = ["bash", "-c", "echo ready; while read -r line; do eval \"$line\"; done"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Fails unless the command ended with this code and complained so.
#[track_caller]
fn must_refuse(output: &Output, code: i32, complaint: &str) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(text(&output.stderr).contains(complaint), "{complaint:?} is not in {output:?}");
}
