//! The same hosts as TrialDesignBench 1.7.0 computes, phase by phase; where the table differs on purpose, it is listed here.
//!
//! Against the installed package where `.ci/clients` could fetch it, and against what it said when it was recorded.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use closedbook_agents::{Ask, AuthMode, History, Judge, Row, Table};
use serde_json::Value;

/// The differences that are meant, with their reason. Everything else must be equal.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("codex", "tools", "web__run is the same search under another name, which the package does not know"),
    ("grok-build", "tools", "x_search is a third web tool of the same program"),
    ("grok-build", "status", "supported there, conditional here until x_search is shown off"),
];

fn recorded() -> Value {
    serde_json::from_str(include_str!("trialdesignbench-1.7.0.json")).unwrap()
}

fn python() -> Option<PathBuf> {
    let folder = std::env::var_os("CLOSEDBOOK_CLIENTS").map(PathBuf::from).unwrap_or_else(|| {
        // target/debug/deps/TEST
        let test = std::env::current_exe().unwrap();
        test.ancestors().nth(3).unwrap().join("clients")
    });
    Some(folder.join("tdb/bin/python")).filter(|python| python.exists())
}

#[test]
fn the_recorded_values_are_those_of_the_package() {
    let Some(python) = python() else {
        // Past the harness, which keeps what passing tests print to itself.
        let line = "=== NOT TESTED: TrialDesignBench is not installed (.ci/clients): its recorded values stand alone ===";
        writeln!(std::io::stderr(), "{line}").unwrap();
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/their_table.py");
    let output = Command::new(python).arg(script).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let now: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(now, recorded());
}

#[test]
fn the_same_hosts_in_every_phase() {
    let table = Table::embedded().unwrap();
    assert_eq!(differences(&table), DIFFERENCES.iter().map(|(agent, what, _)| (*agent, *what)).collect());
}

/// The first version of the table is that package's, word for word.
#[test]
fn the_first_version_differs_in_nothing() {
    let history = History::embedded().unwrap();
    assert_eq!(differences(history.version(1).unwrap()), BTreeSet::new());
}

/// G15: whom the package refuses, the table refuses, with a reason.
#[test]
fn its_refused_agents_are_refused() {
    let table = Table::embedded().unwrap();
    for name in strings(&recorded()["refused"]) {
        let refused = table.choose(&Ask { agent: &name, ..Ask::default() }).unwrap_err().to_string();
        assert!(refused.starts_with(&format!("{name} can't be run closed book: ")), "{refused}");
    }
}

fn differences(table: &Table) -> BTreeSet<(&'static str, &'static str)> {
    let mut found = BTreeSet::new();
    for (name, theirs) in recorded()["agents"].as_object().unwrap() {
        let name: &'static str = name.clone().leak();
        let row = table.row(name).unwrap();
        let usable = row.usable().unwrap();
        let tools: BTreeSet<String> = usable.tools.iter().map(|tool| tool.name.clone()).collect();
        let effort = usable.effort.as_ref().map(|effort| serde_json::to_value(&effort.levels).unwrap());
        let mut compare = |what: &'static str, equal: bool| {
            if !equal {
                found.insert((name, what));
            }
        };
        compare("title", theirs["title"] == row.title.as_str());
        compare("status", row.status() == "supported");
        compare("version", theirs["version"] == usable.version.as_str());
        let label = usable.labels.get(theirs["label"].as_str().unwrap());
        compare("label", label.map(String::as_str) == Some(usable.version.as_str()));
        compare("preinstalled", theirs["preinstalled"] == usable.preinstalled);
        compare("effort", Some(&theirs["effort"]) == effort.as_ref());
        compare("tools", strings(&theirs["tools"]).into_iter().collect::<BTreeSet<_>>() == tools);
        let subscription =
            usable.auth.get(&AuthMode::Subscription).map(|login| serde_json::to_value(&login.env).unwrap());
        compare("subscription", theirs["subscription_env"] == subscription.unwrap_or_default());
        compare("logins", theirs["logins"].as_array().unwrap().len() == logins(row));
        for theirs in theirs["logins"].as_array().unwrap() {
            let auth = if theirs["auth"] == "api" { AuthMode::Api } else { AuthMode::Subscription };
            let ask =
                Ask { agent: name, provider: theirs["provider"].as_str(), auth: Some(auth), version: None };
            let choice = table.choose(&ask).unwrap();
            let policy = choice.policy(Judge::Usual).unwrap().unwrap();
            let hosts = |phase: &str| {
                let entries = policy.phase(phase).unwrap().entries().iter();
                entries.map(|entry| entry.as_str().to_owned()).collect::<BTreeSet<_>>()
            };
            let theirs_in = |phase: &str| strings(&theirs[phase]).into_iter().collect::<BTreeSet<_>>();
            compare("agent hosts", hosts("agent") == theirs_in("agent"));
            compare("setup hosts", hosts("setup") == theirs_in("setup"));
            // Its verifier reaches the judge's API alone, and its judge is Anthropic's unless `tdb build` is told another.
            compare("verifier hosts", hosts("verifier") == BTreeSet::from(["api.anthropic.com".to_owned()]));
            compare("key", theirs["key"] == choice.provider().key.as_str());
            compare("verified", theirs["verified"] == choice.login().verified);
        }
    }
    found
}

fn logins(row: &Row) -> usize {
    row.usable().unwrap().auth.values().map(|login| login.providers.len()).sum()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
