//! The shapes of TrialDesignBench 1.7.0, read by the real package where `.ci/clients` could fetch it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use closedbook_canary::report::{Evidence, Report};
use closedbook_canary::tdb::{Shapes, write_job};
use closedbook_canary::{Level, Seen};
use serde_json::{Value, json};

use crate::sample::{API, evidence, outcome};

/// The folder of its virtual environment; where it has to be and is not, this is a failure and no silence.
fn venv() -> Option<PathBuf> {
    let folder = std::env::var_os("CLOSEDBOOK_CLIENTS").map(PathBuf::from).unwrap_or_else(|| {
        // target/debug/deps/TEST
        std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("clients")
    });
    let there = Some(folder.join("tdb/bin")).filter(|bin| bin.join("tdb").exists());
    if there.is_none() {
        assert!(
            std::env::var_os("CI").is_none(),
            "TrialDesignBench is not in {} (.ci/clients)",
            folder.display()
        );
        // Past the harness, which keeps what passing tests print to itself.
        writeln!(std::io::stderr(), "=== NOT TESTED: TrialDesignBench is not installed (.ci/clients) ===")
            .unwrap();
    }
    there
}

fn job(evidence: Evidence) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("canary-claude-code-anthropic-api");
    write_job(&job, &Report::of(evidence)).unwrap();
    (folder, job)
}

fn trial(job: &Path) -> PathBuf {
    let mut trials: Vec<PathBuf> =
        fs::read_dir(job).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    assert_eq!(trials.len(), 1);
    trials.remove(0)
}

fn leaky() -> Evidence {
    let mut leaky = evidence();
    let site = &mut outcome(&mut leaky, "agent", Level::Agent, "allow-nothing-else").tries[0];
    site.seen = Seen::Verified { name: site.to.clone(), status: 200 };
    leaky
}

fn unknown() -> Evidence {
    let mut unknown = evidence();
    outcome(&mut unknown, "agent", Level::Agent, "allow-nothing-else").tries[0].seen =
        Seen::failed("no socket");
    outcome(&mut unknown, "agent", Level::Agent, "allow-https").tries[0].seen = Seen::failed("no socket");
    unknown
}

#[test]
fn a_pass_has_the_originals_shapes() {
    let (_folder, job) = job(evidence());
    let trial = trial(&job);
    let read = |name: &str| fs::read_to_string(trial.join(name)).unwrap();
    assert_eq!(
        read("artifacts/logs/artifacts/canary.json"),
        "{\"blocked\": {\n\"https://clinicaltrials.gov\": 6,\n\"https://pubmed.ncbi.nlm.nih.gov\": 6}, \
         \"allowed\": {\n\"api.anthropic.com\": 0,\n\"registry.npmjs.org\": 0}}\n"
    );
    assert_eq!(
        read("artifacts/logs/artifacts/canary-agent.json"),
        "{\"blocked\": {\n\"https://clinicaltrials.gov\": 6,\n\"https://pubmed.ncbi.nlm.nih.gov\": 6,\n\
         \"https://registry.npmjs.org\": 6}, \"allowed\": {\n\"api.anthropic.com\": 0}}\n"
    );
    assert_eq!(read("verifier/reward.json"), "{\"reward\": 1.0}");
    let verdict: Value = serde_json::from_str(&read("verifier/canary.json")).unwrap();
    assert_eq!(verdict["reasons"], json!([]));
    let setup: Value = serde_json::from_str(&read("artifacts/logs/artifacts/canary.json")).unwrap();
    assert_eq!(verdict["probe"]["setup"], setup);
}

#[test]
fn what_is_reached_is_zero_and_a_reason() {
    let shapes = Shapes::of(&Report::of(leaky()));
    let agent = &shapes.probe[1];
    assert_eq!(agent.blocked[0], ("https://clinicaltrials.gov".to_owned(), 0));
    assert_eq!(shapes.reasons[0], "agent: blocked URL reachable: https://clinicaltrials.gov");
    assert_eq!(shapes.reward_json(), "{\"reward\": 0.0}");
    // A way out that it knows nothing of is a reason too.
    let mut other = evidence();
    outcome(&mut other, "agent", Level::Root, "udp-any").tries[0].seen =
        Seen::Proof { proof: "p".to_owned() };
    let shapes = Shapes::of(&Report::of(other));
    assert!(
        shapes.reasons[0].starts_with("closedbook canary: agent/root: udp-any: leak"),
        "{:?}",
        shapes.reasons
    );
}

/// It knows no code for what can't be told: that must not look blocked.
#[test]
fn what_cant_be_told_is_left_out_and_named() {
    let shapes = Shapes::of(&Report::of(unknown()));
    let agent = &shapes.probe[1];
    assert!(agent.blocked.iter().all(|(url, _)| url != "https://clinicaltrials.gov"), "{:?}", agent.blocked);
    assert!(agent.allowed.is_empty(), "{:?}", agent.allowed);
    for reason in
        ["agent: inconclusive: https://clinicaltrials.gov", "agent: inconclusive: api.anthropic.com"]
    {
        assert!(shapes.reasons.iter().any(|known| known == reason), "{:?}", shapes.reasons);
    }
    let nothing = Shapes::of(&Report::of(Evidence::default()));
    assert!(!nothing.passes());
}

#[test]
fn codes_are_curls() {
    let reset = |seen: Seen| {
        let mut evidence = evidence();
        for level in Level::ALL {
            outcome(&mut evidence, "agent", level, "allow-nothing-else").tries[0].seen = seen.clone();
            outcome(&mut evidence, "agent", level, "allow-https").tries[0].seen = seen.clone();
        }
        let mut shapes = Shapes::of(&Report::of(evidence));
        let agent = shapes.probe.remove(1);
        (agent.blocked[0].1, agent.allowed.first().map(|(_, code)| *code), shapes.reasons)
    };
    assert_eq!(reset(Seen::Refused).0, 7);
    assert_eq!(reset(Seen::Unreachable { errno: "ENETUNREACH".to_owned() }).0, 7);
    assert_eq!(reset(Seen::Reset).0, 35);
    assert_eq!(reset(Seen::Silence).0, 28);
    let (blocked, allowed, reasons) = reset(Seen::Alert { description: 49 });
    assert_eq!((blocked, allowed), (35, Some(35)));
    assert!(
        reasons.contains(&format!("agent: allowed host unreachable: {API} (curl exit 35)")),
        "{reasons:?}"
    );
}

#[test]
fn what_is_there_already_is_not_mixed_with() {
    let (_folder, job) = job(evidence());
    assert!(write_job(&job, &Report::of(leaky())).unwrap_err().to_string().contains("is not empty"));
}

#[test]
fn the_real_package_accepts_a_pass_and_refuses_a_failure() {
    let Some(bin) = venv() else { return };
    let tdb = |job: &Path| -> Output {
        Command::new(bin.join("tdb"))
            .arg("report")
            .arg(job)
            .env("COLUMNS", "400")
            .env("NO_COLOR", "1")
            .output()
            .unwrap()
    };
    let said = |output: &Output| {
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let (_pass, pass) = job(evidence());
    let output = tdb(&pass);
    assert!(output.status.success(), "{}", said(&output));
    for (evidence, why) in
        [(leaky(), "blocked URL reachable: https://clinicaltrials.gov"), (unknown(), "inconclusive")]
    {
        let (_failure, failure) = job(evidence);
        let output = tdb(&failure);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        let said = said(&output);
        assert!(said.contains("network canary failed; refusing to report results"), "{said}");
        assert!(said.contains(why), "{said}");
    }
}

/// Its own functions, octet by octet: what Python would have written, and what its verifier would have said.
#[test]
fn the_files_are_those_that_python_would_write() {
    let Some(bin) = venv() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/their_canary.py");
    for evidence in [evidence(), leaky(), unknown()] {
        let (_folder, job) = job(evidence);
        let output = Command::new(bin.join("python")).arg(&script).arg(&job).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
