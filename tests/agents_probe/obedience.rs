//! A CLI that obeys, or does not, in every way that there is. In every mode.

use super::*;
use support::modes;

fn probe(mode: Mode, how: &str) -> Probe {
    let probe = Probe::of(mode, "claude-code");
    let script = probe.file("cli.py", include_str!("cli.py"));
    probe.program(&["python3", &script, how])
}

#[test]
fn switches_that_are_obeyed() {
    for &mode in modes() {
        let probed = probe(mode, "well").flags(&["--each"]).run().must_be(0, "pass");
        assert_eq!(probed.web(0), ["WebFetch", "WebSearch"], "{probed:?}");
        for start in 0..4 {
            // The CLI ends well only if it finds itself in the place where it should be.
            assert_eq!(probed.json()["starts"][start]["exit_code"], 0, "{probed:?}");
        }
        for start in 1..4 {
            assert_eq!(probed.web(start), [] as [&str; 0], "{probed:?}");
        }
        let json = probed.json();
        assert_eq!(
            (&json["version"], &json["pinned"], &json["schema"]),
            (&"2.1.295".into(), &"2.1.295".into(), &1.into())
        );
        assert_eq!(json["findings"], Value::Array(Vec::new()), "{probed:?}");
        assert_eq!(probed.host(0, "api.anthropic.com"), Some((true, false, "model".into())));
        // Nothing is said on stderr but what is being done.
        assert!(probed.stderr.lines().all(|line| line.starts_with("closedbook: ")), "{probed:?}");
        assert_eq!(probed.stderr.lines().count(), 5, "{probed:?}");
    }
}

#[test]
fn people_can_read_it() {
    let mode = modes()[0];
    let mut probe = probe(mode, "well");
    probe.flags.clear();
    let probed = probe.run();
    for line in [
        "claude-code 2.1.295, agent table ",
        "as it comes: ended well after ",
        "  web      WebFetch                 declared, request 0\n",
        "  set      --disallowedTools WebSearch,WebFetch\n",
        "  web      none\n",
        "  allowed  api.anthropic.com                        the model's\n",
        "pass: with the switches set, no web tool is offered\n",
    ] {
        assert!(probed.stdout.contains(line), "{line}: {probed:?}");
    }
    assert_eq!(probed.code, 0);
}

/// G15: a switch that does nothing is a failure, and one that hides behind another is found by asking for each.
#[test]
fn switches_that_are_not_obeyed() {
    for &mode in modes() {
        let probed = probe(mode, "disobedient").run().must_be(1, "fail");
        for tool in ["WebFetch", "WebSearch"] {
            assert!(probed.web(1).contains(&tool.to_owned()), "{probed:?}");
        }
        probed.must_find("failure", Some("WebSearch"), "although the switches are set").must_find(
            "failure",
            Some("WebFetch"),
            "although the switches are set",
        );
    }
    let mode = modes()[0];
    probe(mode, "deaf").run().must_be(0, "pass");
    probe(mode, "deaf").flags(&["--each"]).run().must_be(1, "fail").must_find(
        "failure",
        Some("WebFetch"),
        "with --disallowedTools WebSearch,WebFetch alone: still offered",
    );
    // Misspelt, as people misspell it.
    let names = [
        ("\"WebSearch,WebFetch\"", "\"websearch,webfetch\""),
        ("[\"WebSearch\", \"WebFetch\"]", "[\"websearch\"]"),
    ];
    probe(mode, "well").table(&names).run().must_be(1, "fail").must_find(
        "failure",
        Some("WebSearch"),
        "offered",
    );
}

/// G14, G15: what can't be known is not known to be off.
#[test]
fn what_proves_nothing() {
    let mode = modes()[0];
    for (how, text) in [
        ("silent", "with the switches: the CLI asked no model"),
        ("garbled", "are no list"),
        ("blind", "proves nothing"),
    ] {
        probe(mode, how).run().must_be(3, "inconclusive").must_find("unknown", None, text);
    }
    probe(mode, "hidden").run().must_be(3, "inconclusive").must_find(
        "unknown",
        Some("WebSearch"),
        "named in a place",
    );
    probe(mode, "mcp").run().must_be(3, "inconclusive").must_find(
        "unknown",
        Some("mcp__house__find"),
        "nobody knows",
    );
    let silent = probe(mode, "silent").run();
    let last = &silent.json()["starts"][0]["last_lines"];
    assert_eq!(*last, serde_json::json!(["no key, or so", "\\u{1b}[2Jgive me one"]), "{silent:?}");
    assert_eq!(silent.json()["starts"][0]["exit_code"], 5);
}

#[test]
fn what_the_row_does_not_know() {
    let mode = modes()[0];
    let text = "the row does not know it";
    probe(mode, "provider").run().must_be(1, "fail").must_find("failure", Some("web_search_20250305"), text);
    let fetching = probe(mode, "fetch").run().must_be(1, "fail");
    assert_eq!(fetching.host(1, "example.com"), Some((false, true, "prompt".into())));
    fetching.must_find("failure", Some("URL of the prompt (example.com)"), text);
    let stray = probe(mode, "stray").run().must_be(0, "pass");
    assert_eq!(stray.host(0, "pypi.org"), Some((false, true, "unlisted".into())));
    assert_eq!(stray.host(0, "sentry.io"), Some((false, true, "optional".into())));
}

/// One that does not end is ended, and what it had asked is known.
#[test]
fn time_and_output_are_bounded() {
    let mode = modes()[0];
    let hanging = probe(mode, "hang").flags(&["--within", "5"]).run().must_be(0, "pass");
    assert_eq!(hanging.json()["starts"][1]["timed_out"], true);
    // Nor does one that heeds no signal keep what it asked to itself.
    let stubborn = probe(mode, "stubborn").flags(&["--within", "5"]).run();
    assert_eq!(stubborn.json()["starts"][0]["timed_out"], true, "{stubborn:?}");
    stubborn.must_be(0, "pass");
    probe(mode, "loud").run().must_be(0, "pass");
}

/// G15: the table speaks of one version.
#[test]
fn other_programs_are_refused() {
    let mode = modes()[0];
    let other = probe(mode, "other").run();
    assert_eq!((other.code, other.stdout.as_str()), (1, ""), "{other:?}");
    assert!(
        other.stderr.contains("is version 0.0.1, and the agent table knows claude-code 2.1.295"),
        "{other:?}"
    );
    let allowed = probe(mode, "other").flags(&["--any-version"]).run().must_be(0, "pass");
    let json = allowed.json();
    assert_eq!(json["version"], "0.0.1");
    assert!(json["other_version"].as_str().unwrap().contains("0.0.1"), "{allowed:?}");
    let missing = Probe::of(mode, "claude-code").program(&["/no/such/claude"]).run();
    assert_eq!(missing.code, 1, "{missing:?}");
    assert!(missing.stderr.contains("/no/such/claude can't be run"), "{missing:?}");
    for (agent, text) in [
        ("devin", "can't be run closed book"),
        ("claude-cod", "has no agent"),
        ("goose", "does not say how to start goose"),
    ] {
        let refused = Probe::of(mode, agent).run();
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.stderr.contains(text), "{refused:?}");
    }
}

#[test]
fn records_are_kept_where_that_is_asked_for() {
    let mode = modes()[0];
    let probe = probe(mode, "well");
    let folder = probe.folder.path().join("kept");
    let mut probe = probe.flags(&["--keep", folder.to_str().unwrap()]);
    let held = std::mem::replace(&mut probe.folder, open_folder());
    probe.run().must_be(0, "pass");
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|one| one.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let files = ["log.jsonl", "stderr", "stdout", "tape.jsonl"];
    let expected: Vec<String> = ["default", "switched"]
        .iter()
        .flat_map(|start| files.map(|file| format!("{start}.{file}")))
        .collect();
    assert_eq!(names, expected);
    let tape = std::fs::read_to_string(folder.join("default.tape.jsonl")).unwrap();
    assert!(tape.contains("\"WebSearch\"") && !tape.contains("sk-ant-lab"), "{tape}");
    drop(held);
}
