//! Real programs under `closedbook run --lab`: they reach the allowed name without noticing anything (G12), and are
//! refused any other name in words of their own protocol (G11).
//!
//! As root and as a user without any privilege. Nothing leaves the machine: the lab is the only uplink.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod bulk;
mod dns;
mod endings;
mod entries;
mod hello;
mod http;
mod languages;
mod records;
#[path = "../support/mod.rs"]
mod support;
mod tools;
mod websocket;

use support::{Mode, Outcome, Run, modes};

/// The one name that most of these tests allow.
const ALLOWED: &str = "api.anthropic.com";

/// A run with that name allowed.
fn run(mode: Mode) -> Run {
    Run::in_lab(mode).allow(ALLOWED)
}

/// Runs a Python program that begins with `programs/wire.py`.
fn python(run: Run, program: &str) -> Outcome {
    run.python(&[include_str!("programs/wire.py"), program].concat())
}

/// The same run with this policy document.
fn with_policy(run: Run, document: &str) -> Run {
    let file = run.file("policy.toml");
    std::fs::write(&file, document).unwrap();
    run.flag("--policy").flag(file.to_str().unwrap())
}

/// Runs a test that is mostly waiting in each mode, all at the same time.
fn in_each_mode(test: impl Fn(Mode) + Sync) {
    let test = &test;
    std::thread::scope(|scope| modes().iter().for_each(|&mode| drop(scope.spawn(move || test(mode)))));
}
