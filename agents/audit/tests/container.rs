//! The corpus of `tests/containers-audit`: what engines and orchestrators are told, and every finding that it leads to.
//!
//! Beside each input stands `NAME.expected`: what it shows, the options, the outcome, and one line for each finding. With
//! `UPDATE_EXPECTED=1` the outcomes and findings are written anew; read what has changed before it is kept.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use closedbook_audit::container::{Finding, Format, Input, Level, Options, Outcome, Report, Sidecars, audit};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/containers-audit")
}

fn cases() -> Vec<PathBuf> {
    let mut cases: Vec<PathBuf> = fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext != "expected" && ext != "md"))
        .collect();
    cases.sort();
    assert!(cases.len() >= 30, "{} cases", cases.len());
    cases
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

fn options(expected: &str) -> Options {
    let line = expected.lines().find_map(|line| line.strip_prefix("options:")).unwrap_or_default();
    let mut options = Options::default();
    let mut named = Vec::new();
    for word in line.split_whitespace() {
        match word.split_once('=') {
            Some(("format", word)) => {
                options.format = Format::ALL.into_iter().find(|format| format.word() == word);
                assert!(options.format.is_some(), "{word}");
            }
            Some(("sidecar", name)) => named.push(name.to_owned()),
            None if word == "no-sidecar" => options.sidecars = Sidecars::Absent,
            _ => panic!("{word}"),
        }
    }
    if !named.is_empty() {
        options.sidecars = Sidecars::Named(named);
    }
    options
}

fn told(report: &Report) -> String {
    let mut text = format!("outcome: {:?}\n", report.outcome);
    for one in &report.malformed {
        writeln!(text, "malformed: {one}").unwrap();
    }
    let mut tell = |name: &str, found: &Finding| {
        let line = found.place.map_or("-".into(), |place| place.line.to_string());
        let (level, id) = (found.level.word(), found.id);
        writeln!(text, "{level:<7} {id:<22} {name:<10} {line:>3}  {}: {}", found.field, found.what).unwrap();
    };
    report.general.iter().for_each(|one| tell("-", one));
    for container in &report.containers {
        container.findings.iter().for_each(|one| tell(&container.name, one));
        assert_eq!(container.more, 0);
    }
    text
}

/// G15, G16: every input leads to these findings and no others, at these places.
#[test]
fn every_case_of_the_corpus() {
    let mut differing = Vec::new();
    for path in cases() {
        let file = name(&path);
        let beside = corpus().join(format!("{file}.expected"));
        let expected = fs::read_to_string(&beside).unwrap_or_default();
        let bytes = fs::read(&path).unwrap();
        let report = audit(&[Input { file, bytes: &bytes }], &options(&expected));
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

/// Every finding says what it would allow and what to write instead.
#[test]
fn every_finding_is_whole() {
    for path in cases() {
        let bytes = fs::read(&path).unwrap();
        let report = audit(&[Input { file: name(&path), bytes: &bytes }], &Options::default());
        for finding in report.findings() {
            assert!(!finding.what.is_empty() && !finding.remedy.is_empty(), "{finding:?}");
            assert!(finding.allows.ends_with('.'), "{finding:?}");
        }
    }
}

/// No finding repeats a credential.
#[test]
fn values_of_variables_are_not_repeated() {
    let path = corpus().join("compose-environment.yaml");
    let bytes = fs::read(path).unwrap();
    let report = audit(&[Input { file: "x", bytes: &bytes }], &Options::default());
    let text = serde_json::to_string(&report).unwrap();
    for secret in ["verysecret", "ghp_", "user:pass", "172.17.0.1"] {
        assert!(!text.contains(secret), "{secret}");
    }
}

/// G16: cut anywhere, or with any byte changed, an input never panics; what is cut off is never taken for the whole.
#[test]
fn broken_inputs_are_never_clean() {
    let outcome = |bytes: &[u8]| audit(&[Input { file: "x", bytes }], &Options::default()).outcome;
    for path in cases() {
        let whole = fs::read(&path).unwrap();
        for cut in (0..whole.len()).step_by(whole.len().div_ceil(60).max(1)) {
            outcome(&whole[..cut]);
            let mut changed = whole.clone();
            for byte in [0u8, 0xff, b'{', b'"', b':', b'\n', b'-'] {
                changed[cut] = byte;
                outcome(&changed);
            }
        }
        if path.extension().is_some_and(|ext| ext == "json") {
            let trimmed = whole.trim_ascii_end();
            assert_eq!(outcome(&trimmed[..trimmed.len() - 1]), Outcome::Malformed, "{}", path.display());
        }
    }
    for bytes in [
        &b""[..],
        b" ",
        b"\n\n",
        b"null",
        b"[]",
        b"{}",
        b"[3]",
        b"services: {}",
        b"\xff\xfe",
        b"services: []",
        b"services:",
        b"a: b",
        b"- HostConfig: {}\n- 3",
        b"apiVersion: v1\nkind: List\nitems: []",
    ] {
        let report = audit(&[Input { file: "x", bytes }], &Options::default());
        assert_eq!(report.outcome, Outcome::Malformed, "{}", String::from_utf8_lossy(bytes));
        assert_eq!(report.malformed[0].file, "x");
    }
}

/// G16: neither many findings, nor long lines, nor circles take time or memory without bound.
#[test]
fn large_inputs_end() {
    let ports: String = (0..60_000).map(|port| format!("\"{port}\",")).collect();
    let one = format!("services: {{main: {{image: x, network_mode: host, ports: [{ports}]}}}}");
    let report = audit(&[Input { file: "x", bytes: one.as_bytes() }], &Options::default());
    assert_eq!(report.containers[0].findings.len(), 500);
    assert!(report.containers[0].more > 59_000);
    assert_eq!(report.containers[0].findings[0].level, Level::Breaks);

    let chain: String =
        (0..5_000).map(|n| format!("  s{n}: {{network_mode: 'service:s{}'}}\n", (n + 1) % 5_000)).collect();
    let report =
        audit(&[Input { file: "x", bytes: format!("services:\n{chain}").as_bytes() }], &Options::default());
    assert_eq!(report.containers.len(), 5_000);
    assert!(report.findings().any(|finding| finding.what.contains("circle")));
}

/// Two inspected containers know each other, whichever file they stand in.
#[test]
fn containers_of_several_files_know_each_other() {
    let id = "ab".repeat(32);
    let sidecar = format!(
        r#"{{"Id": "{id}", "Name": "/closedbook", "Config": {{"Image": "closedbook"}},
            "HostConfig": {{"NetworkMode": "bridge", "CapDrop": ["ALL"], "CapAdd": ["NET_ADMIN"]}}}}"#
    );
    let task = format!(
        r#"[{{"Id": "{}", "Name": "/main",
            "HostConfig": {{"NetworkMode": "container:{id}", "CapDrop": ["NET_RAW"]}}}}]"#,
        "cd".repeat(32)
    );
    let inputs = [
        Input { file: "task.json", bytes: task.as_bytes() },
        Input { file: "sidecar.json", bytes: sidecar.as_bytes() },
    ];
    let report = audit(&inputs, &Options::default());
    assert_eq!(report.outcome, Outcome::Clean, "{report:#?}");
    assert_eq!(report.containers[0].network, "through closedbook (shared)");
    // Without the sidecar's file nobody knows.
    let report = audit(&inputs[..1], &Options::default());
    assert_eq!(report.containers[0].findings.iter().filter(|one| one.level == Level::Unknown).count(), 1);
    let named = Options { sidecars: Sidecars::Named(vec!["nobody".into()]), ..Options::default() };
    assert_eq!(audit(&inputs, &named).outcome, Outcome::Malformed);
}
