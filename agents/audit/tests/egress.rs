//! The corpus of `tests/logs-audit`: decision logs, and every finding that each leads to beside one policy.
//!
//! Beside each log stands `NAME.expected`: what it shows, the options, the outcome, and one line for each finding. With
//! `UPDATE_EXPECTED=1` the outcomes and findings are written anew; read what has changed before it is kept.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use closedbook_audit::egress::{Allowed, Log, Report};
use closedbook_policy::Policy;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/logs-audit")
}

fn told(report: &Report) -> String {
    let mut text = format!("outcome: {:?}\n", report.outcome);
    for one in &report.malformed {
        writeln!(text, "malformed: {one}").unwrap();
    }
    for one in &report.findings {
        let phase = one.phase.as_deref().unwrap_or("-");
        writeln!(text, "{:<10} {:<20} {phase:<8} {}", format!("{:?}", one.level), one.id, one.what).unwrap();
    }
    text
}

/// G13, G16: each log leads to these findings and no others.
#[test]
fn every_log_of_the_corpus() {
    let policy = Policy::from_text(&fs::read_to_string(corpus().join("policy.toml")).unwrap()).unwrap();
    let mut logs: Vec<PathBuf> = fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path()).collect();
    logs.retain(|path| path.extension().is_some_and(|ext| ext == "jsonl"));
    logs.sort();
    assert!(logs.len() >= 15, "{} logs", logs.len());
    let mut differing = Vec::new();
    for path in logs {
        let file = path.file_name().unwrap().to_str().unwrap();
        let beside = corpus().join(format!("{file}.expected"));
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        let options = expected.lines().find_map(|line| line.strip_prefix("options: ")).unwrap_or_default();
        let mut allowed = Allowed::of_policy("policy.toml", &policy);
        // The logs are written by hand, and name a digest that is easy to read.
        allowed.digest = (options == "digest").then(|| "a1".repeat(32));
        let mut log = Log::default();
        for (number, line) in (1..).zip(fs::read(&path).unwrap().split(|byte| *byte == b'\n')) {
            log.line(file, number, line);
        }
        let report = log.end((options != "no-policy").then_some(&allowed));
        let head = expected.lines().filter(|line| line.starts_with("# ") || line.starts_with("options:"));
        let found = head.fold(String::new(), |head, line| head + line + "\n") + &told(&report);
        if found != expected {
            if std::env::var_os("UPDATE_EXPECTED").is_some() {
                fs::write(&beside, &found).unwrap();
            }
            differing.push(format!("{file}\n--- expected\n{expected}--- found\n{found}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}
