//! Phases that are switched from outside while real clients are at it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod cut;
mod load;
#[path = "../support/mod.rs"]
mod support;

use support::live::Live;
use support::{Mode, Run};
use tempfile::TempDir;

/// `registry.npmjs.org` is what the agent's phase lacks.
const POLICY: &str = r#"
schema = 1
[phase.setup]
allow = ["ws://api.anthropic.com", "ws://registry.npmjs.org", "tcp://api.anthropic.com:9000", "tcp://registry.npmjs.org:9000"]
[phase.agent]
allow = ["ws://api.anthropic.com", "tcp://api.anthropic.com:9000"]
"#;

/// A program that runs in the setup phase of that policy.
fn live(mode: Mode, runtime: &TempDir, words: &[&str]) -> Live {
    let run = Run::in_lab(mode);
    let policy = run.file("policy.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let run = run.flag("--policy").flag(policy.to_str().unwrap()).flag("--phase").flag("setup");
    Live::start(run, mode, runtime, words)
}
