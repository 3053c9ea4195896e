//! Rules about the repository itself: which crate may know which, where `unsafe` may stand, and that the documents speak
//! of what is there.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use closedbook_policy::Reason;
use closedbook_sidecar::control::Word;

/// The arrows of docs/architecture.md: who may use which of our own crates.
const ARROWS: &[(&str, &[&str])] = &[
    ("policy/document", &[]),
    ("policy", &["document"]),
    ("agents", &["document", "policy"]),
    ("agents/audit", &["agents", "document", "policy"]),
    ("sidecar/kernel", &[]),
    ("sidecar", &["kernel", "policy"]),
    ("canary", &["agents", "policy"]),
    ("lab", &["kernel", "policy"]),
];

#[test]
fn crates_know_only_those_below_them() {
    for (folder, allowed) in ARROWS {
        let used = own_dependencies(&read(&format!("{folder}/Cargo.toml")));
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        assert!(used.is_subset(&allowed), "{folder} uses {used:?}, and may use {allowed:?}");
    }
}

/// What touches raw memory and system calls by hand is in one crate.
#[test]
fn unsafe_code_is_in_the_kernel_crate_alone() {
    for file in sources() {
        let path = file.strip_prefix(root()).unwrap();
        if path.starts_with("sidecar/kernel") {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let found = text.lines().position(|line| {
            let code = line.split("//").next().unwrap_or_default();
            [" {", " fn", " impl", " extern"].iter().any(|what| code.contains(&["unsa", "fe", what].concat()))
        });
        assert_eq!(found, None, "unsafe code in {}", path.display());
    }
}

/// No line of this repository silences the compiler about code that nobody uses, or leaves work for later.
#[test]
fn nothing_is_left_for_later() {
    // Put together here, so that this file does not find itself.
    let words = [["allow(dead", "_code)"], ["to", "do!("], ["unimple", "mented!("], ["#[ig", "nore"]]
        .map(|w| w.concat());
    for file in sources() {
        let text = fs::read_to_string(&file).unwrap();
        for word in &words {
            // The shared part of the integration tests is compiled into each of them, and none uses all of it.
            let excused = file.ends_with("tests/support/mod.rs");
            assert!(excused || !text.contains(word), "{word} in {}", file.display());
        }
    }
}

/// G13: the reasons of the log are a closed list, and the document has it.
#[test]
fn the_documented_reasons_are_those_of_the_code() {
    let documented: Vec<String> = read("docs/log.md")
        .split_once("## Reasons")
        .unwrap()
        .1
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(word, _)| word.to_owned()))
        .collect();
    let coded: Vec<String> = Reason::ALL.iter().map(|reason| reason.word().to_owned()).collect();
    assert_eq!(documented, coded);
}

/// The errors of the control socket are a closed list, and the document has it.
#[test]
fn the_documented_errors_are_those_of_the_code() {
    let documented: Vec<(i64, String)> = read("docs/control.md")
        .split_once("## Errors")
        .unwrap()
        .1
        .lines()
        .filter_map(|line| {
            let (code, rest) = line.strip_prefix("| ")?.split_once(" | `")?;
            Some((code.parse().ok()?, rest.split_once('`')?.0.to_owned()))
        })
        .collect();
    let coded: Vec<(i64, String)> =
        Word::ALL.iter().map(|word| (word.code(), word.word().to_owned())).collect();
    assert_eq!(documented, coded);
}

/// The wall clock may jump: it is written down, and nothing waits by it. Everything else goes by the monotonic one.
#[test]
fn the_wall_clock_is_for_the_record_alone() {
    const STAMPS: &[&str] =
        &["sidecar/src/outer/log/record.rs", "sidecar/src/outer/regime.rs", "cli/env/host.rs"];
    // Put together here, so that this file does not find itself.
    let words =
        [["System", "Time"], ["now_", "utc("], ["now_", "local("], ["UNIX_", "EPOCH"]].map(|w| w.concat());
    for file in sources() {
        let path = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if ["sidecar/src", "policy/src", "cli/"].iter().any(|part| path.starts_with(part)) {
            let text = fs::read_to_string(&file).unwrap();
            let found = words.iter().any(|word| text.contains(word));
            assert!(!found || STAMPS.contains(&path.as_str()), "{path}");
        }
    }
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = read("Cargo.toml");
    let table = manifest.split_once("[workspace.dependencies]").unwrap().1.split_once("\n[").unwrap().0;
    let used: BTreeSet<&str> = table
        .lines()
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .filter(|name| !name.starts_with("closedbook-") && !name.starts_with('#'))
        .collect();
    let document = read("docs/dependencies.md");
    let documented: BTreeSet<&str> = document
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |").map(|(name, _)| name))
        .filter(|name| *name != "crate")
        .collect();
    assert_eq!(used, documented);
}

/// Each guarantee that docs/security.md claims names tests, and the tests exist.
#[test]
fn guarantees_name_tests_that_exist() {
    let document = read("docs/security.md");
    let all: String = sources().iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let mut claimed = BTreeSet::new();
    for line in document.lines().filter(|line| line.starts_with("| G")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [guarantee, _, tests] = cells.as_slice() else { panic!("not three cells: {line}") };
        claimed.insert(guarantee.split_whitespace().next().unwrap().to_owned());
        // Paths, too, stand in backticks; they are no tests.
        let quoted = tests.split('`').skip(1).step_by(2);
        let names: Vec<&str> = quoted.filter(|name| !name.contains(['/', '*'])).collect();
        assert!(!names.is_empty() || tests.starts_with("open"), "{guarantee} names no test");
        for name in names {
            let function = name.rsplit("::").next().unwrap();
            assert!(all.contains(&format!("fn {function}(")), "{guarantee}: there is no test {name}");
        }
    }
    let numbered: BTreeSet<String> = (1..=18).map(|number| format!("G{number}")).collect();
    assert_eq!(claimed, numbered);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Our own crates among the dependencies that are built in, without `closedbook-`.
fn own_dependencies(manifest: &str) -> BTreeSet<String> {
    let table = manifest.split_once("[dependencies]").unwrap().1;
    let table = table.split_once("\n[").map_or(table, |(table, _)| table);
    table
        .lines()
        .filter_map(|line| line.strip_prefix("closedbook-"))
        .map(|rest| rest.split(['.', ' ']).next().unwrap().to_owned())
        .collect()
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["policy", "agents", "canary", "sidecar", "lab", "cli", "tests", "benches"] {
        walk(&root().join(folder), &mut found);
    }
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => walk(&path, found),
            false if path.extension().is_some_and(|ext| ext == "rs") => found.push(path),
            false => {}
        }
    }
}
