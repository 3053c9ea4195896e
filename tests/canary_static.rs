//! The canary as one static file (`make canary`): small, without library needs, for any user in any image.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use support::{Mode, modes, program, say};

mod support;

/// What an image may spare for it.
const LARGEST: u64 = 8_000_000;
/// What a container may spare for it, in kB.
const MEMORY: u64 = 40_000;

/// The file that `.ci/canary` builds, beside everything else that is built. Its absence is a failure where everything is to be
/// tested.
fn built() -> Option<PathBuf> {
    let debug = Path::new(env!("CARGO_BIN_EXE_closedbook")).parent().unwrap();
    let file = debug.parent().unwrap().join("static/closedbook-canary");
    if file.is_file() {
        return Some(file);
    }
    assert!(std::env::var_os("CI").is_none(), "there is no {}: run .ci/canary", file.display());
    say(&format!("NOT TESTED: there is no {}; make canary builds it", file.display()));
    None
}

#[test]
fn it_is_small_and_needs_no_library() {
    let Some(file) = built() else { return };
    let octets = fs::read(&file).unwrap();
    assert!((octets.len() as u64) < LARGEST, "{} octets", octets.len());
    // ELF, 64 bit, little endian: the program headers, and among them none that names an interpreter (PT_INTERP).
    let number = |at: usize, size: usize| {
        octets[at..at + size].iter().rev().fold(0_u64, |sum, octet| sum << 8 | u64::from(*octet))
    };
    assert_eq!(octets[..6], *b"\x7fELF\x02\x01");
    let (start, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    let kinds: Vec<u64> =
        (0..count).map(|place| number(usize::try_from(start + place * size).unwrap(), 4)).collect();
    assert!(kinds.contains(&1) && !kinds.contains(&3), "{kinds:?}");
}

/// In a folder with nothing but itself, /proc and a resolv.conf: no shell, no libraries, no certificates, no place to write. As
/// the agent's user and, by itself, as root.
#[test]
fn it_runs_from_scratch() {
    let Some(file) = built() else { return };
    if modes()[0] != Mode::Root {
        say("NOT TESTED: a folder as a root directory needs root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    for below in ["proc", "etc"] {
        fs::create_dir_all(root.join(below)).unwrap();
    }
    fs::copy(&file, root.join("canary")).unwrap();
    fs::write(root.join("etc/resolv.conf"), "nameserver 192.0.2.53\n").unwrap();
    let policy = "schema = 1\n[phase.agent]\nallow = [\"api.anthropic.com\"]\n";
    fs::write(root.join("policy.toml"), policy).unwrap();
    for path in [folder.path(), &root] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The lab's certificate has to be where the canary can see it, and the folder is read-only from then on.
    let script = r#"
        cp "$SSL_CERT_FILE" "$1/ca.pem" && mount --rbind /proc "$1/proc" && mount --bind "$1" "$1" &&
        mount --rbind /proc "$1/proc" && mount -o remount,bind,ro "$1" && shift &&
        exec chroot "$@"
    "#;
    let mut command = Command::new(program());
    command.args(["lab", "exec", "--", "unshare", "-m", "sh", "-c", script, "sh"]).arg(&root).arg(&root);
    command.args(["/canary", "run", "--policy", "/policy.toml", "--trust", "/ca.pem", "--baseline"]);
    command.args([
        "--witness",
        "witness.test",
        "--witness-v4",
        "203.0.113.200",
        "--witness-zone",
        "leak.test",
    ]);
    let child = command.env_clear().stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let watched = std::thread::spawn(most_memory);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let evidence: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stages = evidence["stages"].as_array().unwrap();
    let levels: Vec<&str> = stages.iter().map(|stage| stage["level"].as_str().unwrap()).collect();
    assert_eq!(levels, ["agent", "root"], "{said}");
    assert_eq!(stages[0]["surroundings"]["uid"], 1000);
    for stage in stages {
        let outcomes = stage["outcomes"].as_array().unwrap();
        let of = |id: &str| outcomes.iter().find(|outcome| outcome["id"] == id).unwrap();
        // The permitted host answers, under a certificate of the lab: looked up, dialled, verified by the canary alone.
        assert_eq!(of("allow-https")["tries"][0]["seen"]["kind"], "proof", "{:#}", of("allow-https"));
        assert_eq!(of("udp-any")["tries"][0]["seen"]["kind"], "proof");
        // There is no curl in it, and it says so.
        assert!(of("client-curl-refused")["skipped"].as_str().unwrap().contains("no curl"));
        let broken: Vec<&Value> = outcomes.iter().filter(|outcome| !outcome["broken"].is_null()).collect();
        assert!(broken.is_empty(), "{broken:#?}");
    }
    let most = watched.join().unwrap();
    assert!((1..MEMORY).contains(&most), "{most} kB");
}

/// The most memory that any process of the canary took, until there is none any more.
fn most_memory() -> u64 {
    let (mut most, mut last) = (0, 0);
    // It starts within seconds, and ends when its probes do.
    for round in 0..1200 {
        let now: Vec<u64> =
            fs::read_dir("/proc").unwrap().filter_map(|entry| of_process(&entry.ok()?.path())).collect();
        most = now.iter().copied().fold(most, u64::max);
        if !now.is_empty() {
            last = round;
        } else if most > 0 && round - last > 20 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    most
}

fn of_process(folder: &Path) -> Option<u64> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    (field("Name:")?.trim() == "canary").then_some(())?;
    field("VmHWM:")?.split_whitespace().next()?.parse().ok()
}
