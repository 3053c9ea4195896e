//! The commands, as people and programs call them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use closedbook_canary::report::{Evidence, Report};
use closedbook_canary::{Level, Seen, catalogue};
use serde_json::Value;

use crate::sample::{arrival, evidence, outcome};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    fn canary(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_closedbook-canary"))
            .args(words)
            .current_dir(self.0.path())
            .env("COLUMNS", "100")
            .output()
            .unwrap()
    }

    /// What it said and how it ended.
    fn said(&self, words: &[&str]) -> (i32, String) {
        let output = self.canary(words);
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text)
    }
}

fn failed() -> Evidence {
    let mut leaky = evidence();
    let attempt = outcome(&mut leaky, "agent", Level::Root, "udp-any").tries[0].clone();
    leaky.witness.as_mut().unwrap().arrivals.push(arrival(&attempt));
    leaky
}

fn unknown() -> Evidence {
    let mut unknown = evidence();
    outcome(&mut unknown, "agent", Level::Root, "udp-any").tries[0].seen = Seen::failed("no socket");
    unknown
}

#[test]
fn exit_codes_say_how_it_went() {
    let folder = Folder::new();
    for (name, evidence, code) in [("pass", evidence(), 0), ("fail", failed(), 1), ("unknown", unknown(), 3)]
    {
        let file = folder.write(name, &Report::of(evidence).to_json());
        for command in ["verify", "report"] {
            assert_eq!(folder.said(&[command, file.to_str().unwrap()]).0, code, "{command} {name}");
        }
    }
    let text = Report::of(evidence()).to_json();
    folder.write("cut", &text[..text.len() - 9]);
    folder.write("edited", &text.replacen("\"ms\":1", "\"ms\":2", 1));
    folder.write("later", &text.replacen("\"schema\":1", "\"schema\":2", 1));
    for (name, code, why) in [
        ("cut", 2, "is no JSON"),
        ("edited", 1, "it was edited"),
        ("later", 1, "has schema"),
        ("nothing", 2, "can't be read"),
    ] {
        let (ended, said) = folder.said(&["verify", name]);
        assert_eq!(ended, code, "{name}: {said}");
        assert!(said.contains(why) && said.contains("remedy: "), "{name}: {said}");
    }
    assert_eq!(folder.said(&["verify"]).0, 2);
}

/// From evidence, in its parts, to a signed report, a page and a verdict.
#[test]
fn a_report_is_made_of_what_lies_in_several_files() {
    let folder = Folder::new();
    let whole = failed();
    let bare = Evidence { witness: None, baseline: None, ..whole.clone() };
    folder.write("evidence.json", &serde_json::to_string(&bare).unwrap());
    let baseline = whole.baseline.unwrap();
    let open = Evidence { stages: baseline.stages, witness: Some(baseline.witness), baseline: None, ..bare };
    folder.write("open.json", &serde_json::to_string(&open).unwrap());
    let line = |value: &mut Value, ts: &str| {
        value["ts"] = ts.into();
        value["bytes"] = 22.into();
        format!("{value}\n")
    };
    let mut arrived = serde_json::to_value(&whole.witness.unwrap().arrivals[0]).unwrap();
    let during = line(&mut arrived, "2026-12-01T09:30:05.123Z");
    arrived["ascii"] = "hello".into();
    arrived["nonce"] = Value::Null;
    let after = line(&mut arrived, "2026-12-01T09:31:00Z");
    folder.write("dead.jsonl", "");
    folder.write("quiet.jsonl", &after);
    folder.write("leak.jsonl", &(during.clone() + &after));
    folder.write("torn.jsonl", &(after.clone() + &during[..40]));

    for (arrivals, code) in [("dead.jsonl", 3), ("quiet.jsonl", 0), ("leak.jsonl", 1), ("torn.jsonl", 3)] {
        let words = [
            "report",
            "evidence.json",
            "--baseline",
            "open.json",
            "--arrivals",
            arrivals,
            "-o",
            "report.json",
        ];
        let (ended, said) = folder.said(&words);
        assert_eq!(ended, code, "{arrivals}: {said}");
        assert_eq!(folder.said(&["verify", "report.json", "--quiet"]).0, code, "{arrivals}");
    }
    // A second record is not taken over the first.
    assert_eq!(folder.said(&["report", "report.json", "--arrivals", "quiet.jsonl"]).0, 2);

    folder.said(&["report", "evidence.json", "-o", "bare.json", "--html", "page.html"]);
    assert!(fs::read_to_string(folder.path("page.html")).unwrap().starts_with("<!doctype html>"));
    assert_ne!(folder.said(&["verify", "bare.json"]).0, 0);
    let with = ["verify", "bare.json", "--baseline", "open.json", "--arrivals", "quiet.jsonl"];
    assert_eq!(folder.said(&with).0, 0);
}

#[test]
fn the_table_names_what_failed_and_what_to_do() {
    let folder = Folder::new();
    folder.write("fail.json", &Report::of(failed()).to_json());
    let (_, said) = folder.said(&["report", "fail.json"]);
    for line in [
        "FAIL  claude-code via anthropic (api), sealed, phases setup, agent",
        "LEAK  udp-any  agent/root",
        "    the witness saw it: tcp at 203.0.113.200:443",
        "    remedy: don't score what was run like this",
        "What no network filter stops:",
    ] {
        assert!(said.contains(line), "{line:?} is not in {said}");
    }
    assert!(said.contains("1 LEAK"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 100 || !line.contains(' ')), "{said}");
    assert!(!said.contains('\u{1b}'), "no colour where there is no terminal");
    let narrow = Command::new(env!("CARGO_BIN_EXE_closedbook-canary"))
        .args(["report", folder.path("fail.json").to_str().unwrap()])
        .env("COLUMNS", "50")
        .output()
        .unwrap();
    let narrow = String::from_utf8_lossy(&narrow.stdout).into_owned();
    assert!(narrow.contains("agent/root\n  allow "), "{narrow}");
}

#[test]
fn what_somebody_sent_does_not_write_on_the_terminal() {
    let mut hostile = failed();
    hostile.witness.as_mut().unwrap().arrivals[0].name = Some("\u{1b}[2J\u{202e}x\nPASS".to_owned());
    let folder = Folder::new();
    folder.write("hostile.json", &Report::of(hostile).to_json());
    for command in ["report", "verify"] {
        let (_, said) = folder.said(&[command, "hostile.json"]);
        assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}') && !said.contains("\nPASS"), "{said}");
        assert!(said.contains("\\u{1b}[2J"), "{said}");
    }
}

#[test]
fn every_probe_is_described() {
    let folder = Folder::new();
    let (code, said) = folder.said(&["list", "--json"]);
    assert_eq!(code, 0);
    let told: Value = serde_json::from_str(&said).unwrap();
    let ids: Vec<&str> =
        told["probes"].as_array().unwrap().iter().map(|probe| probe["id"].as_str().unwrap()).collect();
    assert_eq!(ids, catalogue().map(|probe| probe.id).collect::<Vec<_>>());
    for probe in told["probes"].as_array().unwrap() {
        for field in ["leak", "how", "expected"] {
            assert!(!probe[field].as_str().unwrap().is_empty(), "{probe}");
        }
        assert!(
            !probe["sources"].as_array().unwrap().is_empty()
                && !probe["levels"].as_array().unwrap().is_empty()
        );
    }
    let (code, said) = folder.said(&["list", "--group", "udp"]);
    assert_eq!(code, 0);
    assert!(said.starts_with("udp-") && said.contains("\n  leak ") && !said.contains("\ntls-"), "{said}");
    let (code, said) = folder.said(&["list", "--group", "smtp"]);
    assert_eq!(code, 2);
    assert!(said.contains("there is no such group"), "{said}");
}

/// What the documentation says of the floor is what is in the code.
#[test]
fn the_documentation_names_the_floor() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/canary-report.md");
    let docs = fs::read_to_string(docs).unwrap();
    for id in closedbook_canary::report::judgement::FLOOR {
        assert!(docs.contains(&format!("`{id}`")), "{id}");
        assert!(closedbook_canary::find(id).is_some(), "{id} is no probe");
    }
}
