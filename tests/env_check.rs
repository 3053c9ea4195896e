//! `closedbook env check`: what it says of a machine, that the canary passes on the sealed topology (G14, G18), and that it never
//! passes where something is wrong.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use support::{Mode, USER, modes, program};

mod support;

/// One at a time: a canary looks for sockets that others leave about, and for how long it is kept waiting.
static ALONE: Mutex<()> = Mutex::new(());

/// `env check` with these arguments, its jobs in `folder`.
fn check(mode: Mode, folder: &Path, args: &[&str]) -> Output {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = match mode {
        Mode::Root => Command::new(program()),
        Mode::Rootless if nix::unistd::geteuid().is_root() => {
            let mut command = Command::new("setpriv");
            let user = USER.to_string();
            command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--", program()]);
            command
        }
        Mode::Rootless => Command::new(program()),
    };
    command.args(["env", "check"]).args(args).arg("--jobs-dir").arg(folder.join("jobs"));
    command.env_remove("XDG_RUNTIME_DIR").current_dir(folder).output().unwrap()
}

/// A folder in which every user can write.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    folder
}

fn text(octets: &[u8]) -> String {
    String::from_utf8_lossy(octets).into_owned()
}

/// What is printed with `--json`, and the exit code.
fn canary(mode: Mode, args: &[&str]) -> (i32, Value, tempfile::TempDir) {
    let folder = folder();
    let all = [&["--canary", "--lab", "--json"], args].concat();
    let output = check(mode, folder.path(), &all);
    let said = text(&output.stderr);
    let code = output.status.code().unwrap_or_else(|| panic!("{:?}: {said}", output.status));
    let value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (code, value, folder)
}

fn probes(value: &Value) -> &Vec<Value> {
    value["report"]["judgement"]["probes"].as_array().unwrap()
}

fn verdicts_of<'a>(value: &'a Value, id: &str) -> Vec<&'a str> {
    let of_id = probes(value).iter().filter(|probe| probe["id"] == id);
    of_id.map(|probe| probe["verdict"].as_str().unwrap()).collect()
}

/// G14: on the sealed topology every way out is blocked and every permitted host answers, in both phases, as the agent's user
/// and as root with what Docker leaves to root.
fn passes(mode: Mode, agent: &str) -> Value {
    // On a busy machine time may run out for one probe or another; a way out that was found is no matter of time.
    let (code, value, folder) = match canary(mode, &["--agent", agent]) {
        (3, ..) => canary(mode, &["--agent", agent]),
        first => first,
    };
    let reasons = &value["report"]["judgement"]["reasons"];
    assert_eq!((code, reasons.as_array().map(Vec::len)), (0, Some(0)), "{agent}, {mode:?}: {reasons:#}");
    let tried: BTreeSet<(&str, &str)> = probes(&value)
        .iter()
        .filter(|probe| probe["verdict"] != "not-applicable")
        .map(|probe| (probe["phase"].as_str().unwrap(), probe["level"].as_str().unwrap()))
        .collect();
    let levels: &[&str] = if mode == Mode::Root { &["agent", "root"] } else { &["agent"] };
    let wanted = ["setup", "agent"].iter().flat_map(|phase| levels.iter().map(move |level| (*phase, *level)));
    assert_eq!(tried, wanted.collect(), "{agent}, {mode:?}");
    for probe in probes(&value) {
        if probe["verdict"] == "not-applicable" {
            assert!(probe["because"].as_str().unwrap().len() > 10, "{probe:#}");
        }
    }
    let job = value["folder"].as_str().unwrap();
    let verdict: Value =
        serde_json::from_slice(&fs::read(find(job, "verifier/canary.json")).unwrap()).unwrap();
    assert_eq!(verdict["reasons"].as_array().map(Vec::len), Some(0), "{verdict:#}");
    assert_eq!(fs::read_to_string(find(job, "verifier/reward.json")).unwrap(), "{\"reward\": 1.0}");
    let page = fs::read_to_string(Path::new(job).join("canary.html")).unwrap();
    assert!(
        page.contains("tls-sni-spoof-foreign-ip") && !page.contains("<script src"),
        "{} octets",
        page.len()
    );
    // G18: the file alone is enough to judge again.
    let report = Path::new(job).join("canary-report.json");
    let again = Command::new(program()).args(["canary", "verify"]).arg(&report).output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}{}", text(&again.stdout), text(&again.stderr));
    drop(folder);
    value
}

/// The file of this name in the job's only trial.
fn find(job: &str, name: &str) -> std::path::PathBuf {
    let trials = fs::read_dir(job).unwrap().map(|entry| entry.unwrap().path());
    trials
        .map(|trial| trial.join(name))
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{job}: no {name}"))
}

#[test]
fn claude_code() {
    for mode in modes() {
        let value = passes(*mode, "claude-code");
        // Everything that the policy lets through was reached, under a verified certificate.
        assert!(verdicts_of(&value, "allow-https").iter().all(|verdict| *verdict == "allowed"));
    }
}

#[test]
fn codex() {
    passes(modes()[0], "codex");
}

/// Its setup permits hosts that the agent's phase does not: they must be refused then, and their connections be dead.
#[test]
fn grok_build() {
    let value = passes(modes()[0], "grok-build");
    for id in ["life-phase-switch-established", "life-phase-switch-pooled"] {
        let verdicts = verdicts_of(&value, id);
        assert!(
            !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict.starts_with("blocked")),
            "{id}: {verdicts:?}"
        );
    }
}

#[test]
fn opencode() {
    let value = passes(modes()[0], "opencode");
    let crash = verdicts_of(&value, "life-sidecar-crash");
    assert!(!crash.is_empty() && crash.iter().all(|verdict| verdict.starts_with("blocked")), "{crash:?}");
}

/// G14: a host that is down, slow to death, or somebody else's is no closed book. Nothing of it passes.
#[test]
fn an_environment_that_lies_is_inconclusive() {
    for fault in ["reset", "wrong-name", "dns-failure"] {
        let (code, value, _folder) = canary(modes()[0], &["--fault", &format!("api.anthropic.com={fault}")]);
        let overall = &value["report"]["judgement"]["overall"];
        assert_eq!((code, overall.as_str()), (3, Some("inconclusive")), "{fault}: {value:#}");
        assert!(verdicts_of(&value, "allow-https").contains(&"inconclusive"), "{fault}");
    }
}

/// Nothing is inherited and nothing guessed: G15.
#[test]
fn what_can_not_be_asked_for_starts_nothing() {
    let folder = folder();
    for (args, word) in [
        (&["--canary", "--lab", "--agent", "cursor-cli"][..], "cursor-cli"),
        (&["--canary", "--lab", "--agent", "nobody"], "nobody"),
        (&["--canary", "--lab", "--provider", "nobody"], "nobody"),
        (&["--canary", "--lab", "--fault", "api.anthropic.com"], "HOST=FAULT"),
        (&["--lab"], "--canary"),
    ] {
        let output = check(modes()[0], folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(word), "{args:?}: {}", text(&output.stderr));
        assert!(!folder.path().join("jobs").exists());
    }
}

/// A job folder that somebody else made is left alone; one of an earlier canary makes room.
#[test]
fn job_folders() {
    let folder = folder();
    let job = folder.path().join("jobs/canary-claude-code-anthropic-api");
    fs::create_dir_all(&job).unwrap();
    fs::write(job.join("precious"), "").unwrap();
    let output = check(modes()[0], folder.path(), &["--canary", "--lab"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is there already") && job.join("precious").exists());
    fs::write(job.join("canary-report.json"), "{}").unwrap();
    let output = check(modes()[0], folder.path(), &["--canary", "--lab"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(fs::read(job.join("canary-report.json")).unwrap().len() > 1000 && !job.join("precious").exists());
}

/// Called as `tdb`, it says what the original says.
#[test]
fn as_tdb() {
    let folder = folder();
    let tdb = folder.path().join("tdb");
    symlink(env!("CARGO_BIN_EXE_closedbook"), &tdb).unwrap();
    let mut command = Command::new(&tdb);
    command.args([
        "env",
        "check",
        "--canary",
        "--lab",
        "--agent",
        "grok-build",
        "--auth",
        "api",
        "--jobs-dir",
    ]);
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = command.arg(folder.path().join("jobs")).output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    let last = said.lines().last().unwrap();
    assert!(
        last.starts_with("ok network canary for grok-build (api): agent phase api.x.ai; setup adds "),
        "{last}"
    );
    assert!(last.contains("x.ai") && last.contains("archive.ubuntu.com"), "{last}");
}

/// Without a network nothing can be told, and what to do instead is said.
#[test]
fn without_a_network() {
    let folder = folder();
    let mut command = Command::new("unshare");
    command.args(["-Urn", "--", program(), "env", "check", "--canary", "--jobs-dir"]);
    let output = command.arg(folder.path().join("jobs")).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("there is no network here") && said.contains("--lab"), "{said}");
}

/// A line for each thing that was looked at.
#[test]
fn the_machine() {
    for mode in modes() {
        let folder = folder();
        let output = check(*mode, folder.path(), &[]);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
        for word in ["kernel", "landlock", "clock"] {
            assert!(said.lines().any(|line| line.contains(word)), "{word}: {said}");
        }
        let output = check(*mode, folder.path(), &["--json"]);
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(value["host"][0]["state"], "fit", "{value:#}");
    }
}

/// A report that can't be written is no pass: G14.
#[test]
fn a_full_disk() {
    if modes()[0] != Mode::Root {
        support::say("NOT TESTED: a full disk needs root, to mount one");
        return;
    }
    let folder = folder();
    // Room for the folder, and not for the report.
    let script = "mount -t tmpfs -o size=16k none \"$1\" && exec \"$2\" env check --canary --lab --jobs-dir \"$1/jobs\"";
    let mut command = Command::new("unshare");
    command
        .args(["-m", "--", "sh", "-c", script, "sh"])
        .arg(folder.path())
        .arg(env!("CARGO_BIN_EXE_closedbook"));
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("make room"), "{}", text(&output.stderr));
}
