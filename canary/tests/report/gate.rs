//! The gate, on jobs as Harbor leaves them behind: `tests/gate/` has the files of a real one.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use closedbook_canary::report::signature::Signer;
use closedbook_canary::report::{Evidence, Report};
use closedbook_canary::{Level, Seen};
use serde_json::{Value, json};

use crate::sample::{evidence, outcome};

/// A job with two scored trials and one that ended with an exception, and what they say of themselves.
struct Job {
    folder: tempfile::TempDir,
}

impl Job {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gate/job");
        copy(&template, folder.path());
        let job = Self { folder };
        for trial in ["two-phase__aaaaaaa", "two-phase__bbbbbbb"] {
            job.write(&format!("{trial}/closedbook.json"), &stated(&evidence()).to_string());
        }
        job
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn report(&self, name: &str, evidence: Evidence) {
        self.write(name, &Report::of(evidence).to_json());
    }

    fn gate(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_closedbook-canary"));
        command.arg("gate").arg(self.folder.path()).args(words).output().unwrap()
    }

    /// Its verdict on each trial, with what it said.
    fn verdict(&self, words: &[&str]) -> (i32, Value) {
        let words: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        let output = self.gate(&words);
        let told = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code().unwrap(), told)
    }

    #[track_caller]
    fn shut(&self, words: &[&str], why: &str) {
        let (code, told) = self.verdict(words);
        assert_eq!((code, &told["passes"]), (1, &json!(false)), "{told:#}");
        assert!(told["trials"].to_string().contains(why), "nothing says {why:?}: {told:#}");
    }

    #[track_caller]
    fn open(&self, words: &[&str]) -> Value {
        let (code, told) = self.verdict(words);
        assert_eq!((code, &told["passes"]), (0, &json!(true)), "{told:#}");
        told
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn stated(evidence: &Evidence) -> Value {
    let subject = &evidence.subject;
    json!({ "policy": subject.policy, "sidecar": subject.sidecar, "image": subject.image })
}

fn leaky() -> Evidence {
    let mut leaky = evidence();
    outcome(&mut leaky, "agent", Level::Root, "udp-any").tries[0].seen =
        Seen::Proof { proof: "p".to_owned() };
    leaky
}

#[test]
fn a_job_without_a_canary_is_refused() {
    let job = Job::new();
    job.shut(&[], "there is no report of a canary for it");
    let said = String::from_utf8_lossy(&job.gate(&[]).stdout).into_owned();
    assert!(
        said.contains("REFUSED  two-phase__aaaaaaa") && said.contains("remedy: run closedbook env check"),
        "{said}"
    );
    assert!(said.contains("no score two-phase__ccccccc"), "{said}");
    assert!(said.ends_with("gate: shut: 2 of 2 scored trials are not covered\n"), "{said}");
}

#[test]
fn a_pass_beside_the_trials_covers_them_all() {
    let job = Job::new();
    job.report("canary-report.json", evidence());
    let told = job.open(&[]);
    assert_eq!(told["trials"][0]["report"], "canary-report.json");
    assert_eq!(told["trials"][2]["verdict"], "not-scored");
}

#[test]
fn a_report_that_lies_elsewhere_can_be_named() {
    let job = Job::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("report.json");
    fs::write(&path, Report::of(evidence()).to_json()).unwrap();
    job.open(&["--report", path.to_str().unwrap()]);
}

#[test]
fn a_canary_that_failed_covers_nothing() {
    let job = Job::new();
    job.report("canary-report.json", leaky());
    job.shut(&[], "udp-any: leak");
    // Not even beside one that passed: things have changed between them.
    job.report("canary-first.json", evidence());
    job.shut(&[], "udp-any: leak");
}

#[test]
fn an_edited_or_broken_report_covers_nothing() {
    let job = Job::new();
    job.write("canary-report.json", &Report::of(evidence()).to_json().replacen("\"ms\":1", "\"ms\":2", 1));
    job.shut(&[], "it was edited");
    job.write("canary-report.json", "{\"schema\": 1, \"evide");
    job.shut(&[], "is no JSON");
}

/// Whatever is about something else.
#[test]
fn policy_sidecar_and_image_have_to_be_the_trials() {
    for what in ["policy", "sidecar", "image"] {
        let job = Job::new();
        job.report("canary-report.json", evidence());
        let mut other = stated(&evidence());
        other[what] = json!("another");
        job.write("two-phase__bbbbbbb/closedbook.json", &other.to_string());
        job.shut(&[], &format!("it is about {what}"));

        other[what] = Value::Null;
        job.write("two-phase__bbbbbbb/closedbook.json", &other.to_string());
        job.shut(&[], &format!("nothing says which {what} it was run with"));
        let flag = if what == "policy" { "--policy-digest".to_owned() } else { format!("--{what}") };
        job.open(&[&flag, stated(&evidence())[what].as_str().unwrap()]);
    }
}

#[test]
fn the_decision_log_says_the_policy_too() {
    let job = Job::new();
    job.report("canary-report.json", evidence());
    let policy = evidence().subject.policy.unwrap();
    let mut silent = stated(&evidence());
    silent["policy"] = Value::Null;
    job.write("two-phase__bbbbbbb/closedbook.json", &silent.to_string());
    let line = |policy: &str| format!("{}\n", json!({ "id": 1, "policy": policy, "verdict": "deny" }));
    job.write("two-phase__bbbbbbb/egress.jsonl", &line(&policy).repeat(3));
    job.open(&[]);
    job.write("two-phase__bbbbbbb/egress.jsonl", &(line(&policy) + &line("another")));
    job.shut(&[], "egress.jsonl has decisions of policy");
    job.write("two-phase__bbbbbbb/egress.jsonl", &(line(&policy) + "{\"poli"));
    job.shut(&[], "egress.jsonl: line 2");
}

/// What the trial itself could have written is not believed without a signature.
#[test]
fn a_report_within_the_trials_reach_has_to_be_signed() {
    let job = Job::new();
    let places = ["two-phase__aaaaaaa", "two-phase__bbbbbbb"]
        .map(|trial| format!("{trial}/verifier/canary-report.json"));
    for place in &places {
        job.report(place, evidence());
    }
    job.shut(&[], "counts only if it is signed");

    let keys = tempfile::tempdir().unwrap();
    let openssl = |words: &[&str]| {
        assert!(Command::new("openssl").args(words).current_dir(keys.path()).status().unwrap().success());
    };
    openssl(&["genpkey", "-algorithm", "ed25519", "-out", "key.pem"]);
    openssl(&["pkey", "-in", "key.pem", "-pubout", "-out", "key.pub"]);
    let public = keys.path().join("key.pub");
    let public = ["--public-key", public.to_str().unwrap()];
    job.shut(&public, "it is not signed");
    let signer = Signer::from_pem(&fs::read(keys.path().join("key.pem")).unwrap()).unwrap();
    for place in &places {
        let mut report = Report::of(evidence());
        signer.sign(&mut report);
        job.write(place, &report.to_json());
    }
    job.open(&public);
    // One that failed counts in any case.
    job.report(&places[1], leaky());
    job.report("canary-report.json", evidence());
    job.shut(&[], "udp-any: leak");
}

#[test]
fn suspicions_can_be_waived_by_the_operator() {
    let job = Job::new();
    let mut suspect = evidence();
    outcome(&mut suspect, "agent", Level::Root, "udp-any").tries[0].seen =
        Seen::Octets { text: "x".to_owned() };
    job.report("canary-report.json", suspect);
    job.shut(&[], "udp-any: suspect");
    let waivers = job.folder.path().join("waivers.toml");
    fs::write(&waivers, "[[waive]]\nid = \"udp-any\"\nreason = \"looked into\"").unwrap();
    let told = job.open(&["--waive", waivers.to_str().unwrap()]);
    assert!(told["trials"][0]["warnings"].to_string().contains("looked into"), "{told:#}");
}

#[test]
fn a_trial_that_can_be_scored_without_a_result_is_looked_at() {
    let job = Job::new();
    job.report("canary-report.json", evidence());
    // TrialDesignBench scores by what the verifier left behind.
    job.write("two-phase__ccccccc/verifier/reward.json", "{\"reward\": 1.0}");
    job.shut(&[], "nothing says which policy");
    let job = Job::new();
    job.report("canary-report.json", evidence());
    job.write("two-phase__ccccccc/result.json", "{\"task_na");
    job.shut(&[], "whether it is scored can't be told");
}

#[test]
fn nothing_scored_is_nothing_said() {
    let job = Job::new();
    job.report("canary-report.json", evidence());
    for trial in ["two-phase__aaaaaaa", "two-phase__bbbbbbb"] {
        fs::remove_dir_all(job.folder.path().join(trial)).unwrap();
    }
    assert_eq!(job.verdict(&[]).0, 3);
    let empty = tempfile::tempdir().unwrap();
    let output =
        Command::new(env!("CARGO_BIN_EXE_closedbook-canary")).arg("gate").arg(empty.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is no job directory"));
}

/// What `closedbook env check --canary` leaves behind is found, and the original's own files are no obstacle.
#[test]
fn the_canarys_own_job_is_understood() {
    let job = Job::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let canary = elsewhere.path().join("canary");
    closedbook_canary::tdb::write_job(&canary, &Report::of(evidence())).unwrap();
    fs::copy(canary.join("canary-report.json"), job.folder.path().join("canary-report.json")).unwrap();
    let trial =
        fs::read_dir(&canary).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
    copy(&trial, &job.folder.path().join(trial.file_name().unwrap()));
    job.write("canary.json", "{\"probe\": {}, \"reasons\": []}");
    let told = job.open(&[]);
    assert_eq!(told["trials"].as_array().unwrap().len(), 3, "{told:#}");
}
