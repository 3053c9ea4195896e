//! `closedbook lab`: what it prints, its exit codes, and that nothing of it stays.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Labs of these tests live in a directory of their own, so that other labs of this user are not met.
struct Home(tempfile::TempDir);

/// A lab that is up; it ends with the value.
struct Up {
    child: Child,
    about: Value,
}

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_closedbook"));
        command.arg("lab").args(args).env("XDG_RUNTIME_DIR", self.0.path());
        command
    }

    fn lab(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Starts a lab and waits until it says where things are.
    fn up(&self, args: &[&str]) -> Up {
        let args: Vec<&str> = ["up", "--json"].iter().chain(args).copied().collect();
        let mut child = self.command(&args).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Up { child, about: serde_json::from_str(&line).unwrap() }
    }

    /// What there is.
    fn labs(&self) -> Vec<PathBuf> {
        // The last lab takes the folder with it.
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

impl Up {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    fn path(&self, what: &str) -> &Path {
        Path::new(self.about[what].as_str().unwrap())
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        // Most have ended by now; a test that failed has not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_command_runs_in_a_lab_of_its_own_and_its_code_is_ours() {
    let home = Home::new();
    let output = home.lab(&["exec", "--", "curl", "-sS", "https://api.openai.com/v1?nonce=x"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["sni"], "api.openai.com");
    assert_eq!(home.lab(&["exec", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
    assert_eq!(home.lab(&["exec", "--", "sh", "-c", "kill -9 $$"]).status.code(), Some(137));
    let absent = home.lab(&["exec", "--", "/no/such/program"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(text(&absent.stderr).contains("/no/such/program"), "{absent:?}");
    assert_eq!(home.labs(), Vec::<PathBuf>::new());
}

#[test]
fn a_command_that_ends_at_once_is_seen_to_end() {
    let home = Home::new();
    let _up = home.up(&[]);
    for _ in 0..40 {
        assert!(home.lab(&["exec", "--", "true"]).status.success());
    }
}

#[test]
fn the_command_gets_signals_and_starts_with_none_held_back() {
    let home = Home::new();
    let mask = home.lab(&["exec", "--", "grep", "SigBlk", "/proc/self/status"]);
    assert_eq!(text(&mask.stdout).trim(), "SigBlk:\t0000000000000000");
    let script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
    let mut child = home.command(&["exec", "--", "sh", "-c", script]).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn up_hosts_exec_down() {
    let home = Home::new();
    let mut up = home.up(&["--name", "one", "--host", "Added.Example", "--fault", "pypi.org=status=503"]);
    assert_eq!(up.about["name"], "one");
    assert!(up.path("ca").exists() && up.path("witness").exists() && up.path("control").exists());
    let hosts = home.lab(&["hosts", "--name", "one", "--json"]);
    let hosts: Value = serde_json::from_slice(&hosts.stdout).unwrap();
    assert!(hosts.as_array().unwrap().iter().any(|host| host["name"] == "added.example"), "{hosts}");
    let get =
        |url| home.lab(&["exec", "--name", "one", "--", "curl", "-sS", "-o/dev/null", "-w%{http_code}", url]);
    assert_eq!(text(&get("https://added.example/?nonce=seen-by-one").stdout), "200");
    assert_eq!(text(&get("https://pypi.org/").stdout), "503");
    assert!(std::fs::read_to_string(up.path("witness")).unwrap().contains("seen-by-one"));
    let again = home.lab(&["up", "--name", "one"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("remedy"), "{again:?}");
    let shaped = home.lab(&["exec", "--name", "one", "--host", "x.example", "--", "true"]);
    assert_eq!(shaped.status.code(), Some(2));
    assert!(home.lab(&["down", "--name", "one"]).status.success());
    assert!(up.child.wait().unwrap().success());
    assert_eq!(home.labs(), Vec::<PathBuf>::new());
    for gone in [
        &["down", "--name", "one"][..],
        &["exec", "--name", "one", "--", "true"],
        &["hosts", "--name", "one"],
    ] {
        assert_eq!(home.lab(gone).status.code(), Some(1), "{gone:?}");
    }
}

#[test]
fn every_way_of_ending_leaves_nothing() {
    let home = Home::new();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut up = home.up(&[]);
        up.signal(signal);
        assert!(up.child.wait().unwrap().success(), "{signal}");
        assert_eq!(home.labs(), Vec::<PathBuf>::new(), "{signal}");
    }
}

#[test]
fn names_that_every_lab_knows_are_listed_without_one() {
    let home = Home::new();
    let table = home.lab(&["hosts"]);
    assert!(
        text(&table.stdout)
            .lines()
            .any(|line| line.starts_with("model") && line.ends_with("api.anthropic.com"))
    );
    // Half of the list is enough for the reader.
    let piped = format!("{} lab hosts | head -1", env!("CARGO_BIN_EXE_closedbook"));
    let piped = Command::new("sh").args(["-c", &piped]).output().unwrap();
    assert!(piped.stderr.is_empty(), "{piped:?}");
}

#[test]
fn a_load_is_reported_and_judged() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_closedbook");
    let load = |args: &[&str]| {
        let all: Vec<&str> = ["exec", "--", program, "lab", "load"].iter().chain(args).copied().collect();
        home.lab(&all)
    };
    let good =
        load(&["--url", "https://example.com/bytes/100000", "--bytes", "--connections", "5", "--json"]);
    assert_eq!(good.status.code(), Some(0), "{good:?}");
    let report: Value = serde_json::from_slice(&good.stdout).unwrap();
    assert_eq!(
        (&report["equal"], &report["bytes"], &report["connections"]["ok"]),
        (&5.into(), &500_000.into(), &5.into())
    );
    let bad = load(&["--url", "https://example.com/status/418"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stdout).contains("status-418: 1"), "{bad:?}");
    assert_eq!(load(&["--url", "gopher://example.com/"]).status.code(), Some(2));
    assert_eq!(load(&["--url", "https://example.com/", "--hold", "-1"]).status.code(), Some(2));
    assert_eq!(load(&["--url", "https://example.com/", "--bytes", "--upload", "1"]).status.code(), Some(2));
}

/// Who could make the folder first, or enter it, could read our keys or give us theirs.
#[test]
fn a_folder_that_others_may_enter_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let folder = home.0.path().join("closedbook");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = home.lab(&["exec", "--", "true"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("only you may enter"), "{refused:?}");
}

#[test]
fn nonsense_is_a_usage_error() {
    let home = Home::new();
    for wrong in [
        &["up", "--name", "a/b"][..],
        &["up", "--host", "not a name"],
        &["up", "--fault", "example.com=nonsense"],
        &["up", "--fault", "example.com"],
        &["exec"],
        &["exec", "--"],
        &["load"],
        &[],
    ] {
        assert_eq!(home.lab(wrong).status.code(), Some(2), "{wrong:?}");
    }
}
