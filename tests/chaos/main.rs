//! Parts that are killed, stopped, starved and replaced at random, while clients and attackers go on.
//!
//! G6: whatever happens to whichever part at whatever moment, not one byte gets out that no policy permitted, a permitted
//! transfer is whole or fails, and nothing stays behind.
//!
//! What is random is told by one number, which is printed: `CLOSEDBOOK_CHAOS_SEED` plays the same again,
//! `CLOSEDBOOK_CHAOS_ROUNDS` plays more than the usual rounds.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod chance;
mod fault;
#[path = "../support/mod.rs"]
mod support;

use std::env;
use std::fs;
use std::io::Write;

use chance::Chance;
use fault::Fault;
use serde_json::Value;
use support::life::{Ended, Life, Part};
use support::{Mode, modes};

const PROGRAM: &str = include_str!("program.py");

/// Faults in all, over all modes.
const ROUNDS: u64 = 200;

/// Faults in one run. A proxy is replaced five times a minute and no more.
const FAULTS: u64 = 5;

const POLICY: &str = r#"
schema = 1
[phase.setup]
allow = ["api.anthropic.com", "registry.npmjs.org"]
[phase.agent]
allow = ["api.anthropic.com"]
"#;

#[test]
fn nothing_gets_out_and_nothing_is_left() {
    let number = |name: &str| env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seed = number("CLOSEDBOOK_CHAOS_SEED").unwrap_or_else(chance::seed);
    let rounds = number("CLOSEDBOOK_CHAOS_ROUNDS").unwrap_or(ROUNDS);
    // Past the harness, which keeps what a passing test prints.
    let say = |line: &str| std::io::stderr().write_all(format!("=== {line} ===\n").as_bytes()).unwrap();
    say(&format!("chaos: CLOSEDBOOK_CHAOS_SEED={seed}, {rounds} faults"));
    let mut chance = Chance::from(seed);
    let mut totals = Totals::default();
    let mut modes = modes().iter().cycle();
    while totals.faults < rounds {
        play(*modes.next().unwrap(), &mut chance, &mut totals);
    }
    say(&format!("chaos: {totals:?}"));
    // A net that nobody swims in proves nothing.
    assert!(totals.complete > totals.told && totals.tried > 10 * totals.told, "{totals:?}");
}

/// What came of all runs.
#[derive(Debug, Default)]
struct Totals {
    runs: u64,
    faults: u64,
    complete: u64,
    failed: u64,
    tried: u64,
    /// Runs whose command could say how its transfers went.
    told: u64,
}

/// One run, with some faults in it and perhaps one that ends it.
fn play(mode: Mode, chance: &mut Chance, totals: &mut Totals) {
    let folder = support::open_folder();
    let policy = folder.path().join("policy.toml");
    fs::write(&policy, POLICY).unwrap();
    let mut life = Life::start(
        mode,
        &["--phase", "setup", "--name", "chaos", "--policy", policy.to_str().unwrap()],
        PROGRAM,
    );
    assert_eq!(life.hear(), "going");
    let mut story = Vec::new();
    for _ in 0..FAULTS {
        let fault = Fault::any(chance);
        story.push(format!("{fault:?}"));
        fault.happen(&mut life, mode, chance);
    }
    totals.runs += 1;
    totals.faults += FAULTS;
    if chance.below(3) == 0 {
        let part = [Part::Supervisor, Part::Init, Part::Lab][chance.below(3) as usize];
        story.push(format!("{part:?} is killed for good"));
        totals.faults += 1;
        life.kill(part);
        if part == Part::Lab {
            // The command without a network would go on for ever.
            life.kill(Part::Init);
        }
        let ended = life.end();
        judge(&ended, mode, &story);
        return;
    }
    let (ended, said) = life.end_with_last_words();
    let context = format!("{mode:?}, {story:?}: {said}");
    judge(&ended, mode, &story);
    let said: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{context} {ended:?}"));
    let count = |what: &str| said[what].as_u64().unwrap();
    assert_eq!((count("wrong"), count("hung")), (0, 0), "{context}");
    assert_eq!(ended.status.code(), Some(0), "{context} {ended:?}");
    totals.told += 1;
    totals.complete += count("complete");
    totals.failed += count("failed");
    totals.tried += count("tried");
}

fn judge(ended: &Ended, mode: Mode, story: &[String]) {
    // The witness is no empty file: what was permitted is in it.
    assert!(ended.witness.contains("chaosfine"), "{mode:?}, {story:?}: {}", ended.errors);
    let leaked = ended.witness.lines().find(|line| line.to_ascii_lowercase().contains("n0nce-chaos"));
    assert_eq!(leaked, None, "{mode:?}, {story:?}");
    assert!(!ended.errors.contains("panicked"), "{mode:?}, {story:?}: {}", ended.errors);
    let hosts = ["api.anthropic.com", "registry.npmjs.org"];
    for record in ended.log.iter().filter(|record| record["verdict"] == "allow" && record["kind"] != "dns") {
        assert!(
            hosts.contains(&record["name"].as_str().unwrap_or_default()),
            "{mode:?}, {story:?}: {record}"
        );
    }
}
