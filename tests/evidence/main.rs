//! What tells of a run, the decision log and the lab's witness, while the command does its best to have it otherwise. The
//! command is the same user, and root where closedbook is (G13).
//!
//! As root and as a user without any privilege. Nothing leaves the machine: the lab is the only uplink.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../support/mod.rs"]
mod support;

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::stat::Mode as Bits;
use serde_json::Value;
use support::live::{Live, private_folder};
use support::{Mode, Run, modes};

const ALLOWED: &str = "api.anthropic.com";

/// The words of a Python program that can make requests and tamper with files.
fn python(program: &str) -> [String; 3] {
    let parts = [include_str!("../pressure/programs/crowd.py"), include_str!("tamper.py"), program];
    ["python3".into(), "-c".into(), parts.concat()]
}

fn live(run: Run, mode: Mode, program: &str) -> Live {
    let runtime = private_folder(mode);
    Live::start(run, mode, &runtime, &python(program).each_ref().map(String::as_str))
}

fn ids(text: &str) -> Vec<u64> {
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap()).collect()
}

/// Waits until the file holds a whole line; all of it.
fn written(file: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = fs::read_to_string(file).unwrap();
        if text.ends_with('\n') {
            return text;
        }
        assert!(Instant::now() < deadline, "nothing was written to {}", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// G13: by its path the command can neither empty its run's log nor add to it, nor put another in its place, and the same
/// holds for the witness.
#[test]
fn out_of_reach() {
    for &mode in modes() {
        let run = Run::in_lab(mode).allow(ALLOWED);
        let (log, witness) = (run.file("egress.jsonl"), run.file("witness.jsonl"));
        let program = format!(
            "get('/one')\nsay('there')\ntamper({log:?}, {witness:?})\nsay('tampered')\nget('/two', host='example.com')\n"
        );
        let mut run = live(run, mode, &program);
        assert_eq!(run.hear(), "there");
        let before = written(&log);
        let inode = fs::metadata(&log).unwrap().ino();
        run.say("");
        assert_eq!(run.hear(), "tampered");
        assert_eq!(fs::read_to_string(&log).unwrap(), before, "{mode:?}");
        assert_eq!(fs::metadata(&log).unwrap().ino(), inode);
        assert_eq!(fs::read_to_string(&witness).unwrap(), "");
        run.say("");
        let outcome = run.end().must_succeed();
        assert_eq!(outcome.log.iter().map(|record| &record["id"]).collect::<Vec<_>>(), [1, 2], "{outcome:?}");
        let outcome = outcome.must_record(1, "deny", "name-not-allowed").must_not_arrive("forged");
        assert!(outcome.arrived("/one"), "{outcome:?}");
    }
}

/// The same for logs that are put aside, before and after: what covers a file goes with it from name to name.
#[test]
fn out_of_reach_when_put_aside() {
    for &mode in modes() {
        let run = Run::in_lab(mode).allow(ALLOWED);
        let run = run.flag("--log-max").flag("4096").flag("--log-keep").flag("2");
        let files = ["egress.jsonl.2", "egress.jsonl.1", "egress.jsonl"].map(|name| run.file(name));
        let program = format!(
            "for round in range(5):\n\
             \x20   for number in range(25):\n\
             \x20       get(f'/{{number}}', host='example.com')\n\
             \x20   tamper(*{files:?})\n"
        );
        let output = run.command(&python(&program).each_ref().map(String::as_str)).output().unwrap();
        let outcome = run.outcome(output).must_succeed();
        let texts = files.map(|file| fs::read_to_string(file).unwrap());
        assert!(texts.iter().all(|text| !text.is_empty() && text.len() <= 4096), "{texts:?}");
        let all = ids(&texts.concat());
        assert_eq!(all, (all[0]..=125).collect::<Vec<_>>(), "{outcome:?}");
        assert!(all.len() > 20, "{all:?}");
    }
}

/// G13: the command may move folders, which no cover prevents. That is said, with where the records are, and a run that
/// ended well has not.
#[test]
fn folders_that_were_moved() {
    const MOVE: &str =
        "mv records moved && mkdir records && echo '{\"forged\": true}' > records/egress.jsonl";
    for &mode in modes() {
        for (flags, end, code) in
            [(&[][..], "exit 0", 1), (&["--log-max", "4096"], "exit 0", 1), (&[], "exit 3", 3)]
        {
            let run = Run::in_lab(mode).allow(ALLOWED).records_in("records");
            let run = flags.iter().fold(run, |run, flag| run.flag(flag));
            let script = format!("getent hosts {ALLOWED} > records/../hosts; {MOVE}; {end}");
            let output = run.command(&["sh", "-c", &script]).output().unwrap();
            let outcome = run.outcome(output);
            assert_eq!(outcome.code, code, "{outcome:?}");
            let (log, moved) = (run.file("records/egress.jsonl"), run.file("moved/egress.jsonl"));
            let witness = run.file("records/witness.jsonl");
            let outcome = outcome
                .must_complain(&format!("--log: {} is not the file that this run wrote", log.display()))
                .must_complain(&format!("at {}\n", moved.display()))
                .must_complain(&format!("--witness: {} is not there", witness.display()))
                .must_complain("remedy: keep it where the command can't rename any folder");
            assert!(!ids(&fs::read_to_string(&moved).unwrap()).is_empty(), "{outcome:?}");
        }
    }
}

/// Only files are covered: devices, pipes, and what the command has as a standard stream, stay.
#[test]
fn other_logs_stay_in_sight() {
    for &mode in modes() {
        let run = Run::in_lab(mode).log_to(Path::new("/dev/null"));
        run.script("test -c /dev/null && echo gone > /dev/null").must_succeed();

        let run = Run::in_lab(mode);
        let pipe = run.file("pipe");
        nix::unistd::mkfifo(&pipe, Bits::from_bits_truncate(0o666)).unwrap();
        std::os::unix::fs::chown(&pipe, Some(support::USER), None).ok();
        let run = run.log_to(&pipe);
        let script = format!("test -p {} || exit 9; getent hosts example.com; true", pipe.display());
        let child = run.command(&["sh", "-c", &script]).spawn().unwrap();
        let records = fs::read_to_string(&pipe).unwrap();
        assert!(child.wait_with_output().unwrap().status.success());
        assert!(!ids(&records).is_empty(), "the command saw no pipe");

        let run = Run::in_lab(mode).log_to(Path::new("/dev/stderr"));
        let errors = run.file("errors");
        let mut command =
            run.command(&["sh", "-c", &format!("head -n 1 {} >&2; echo seen >&2", errors.display())]);
        let file = File::options().append(true).create(true).open(&errors).unwrap();
        fs::write(&errors, "before\n").unwrap();
        std::os::unix::fs::chown(&errors, Some(support::USER), None).ok();
        let status = command.stderr(file).stdin(Stdio::null()).status().unwrap();
        let text = fs::read_to_string(&errors).unwrap();
        assert!(
            status.success() && text.matches("before\n").count() == 2 && text.contains("seen\n"),
            "{text}"
        );
    }
}

/// A file that can be reached by another name too is none to write evidence to.
#[test]
fn files_of_several_names() {
    for &mode in modes() {
        let run = Run::in_lab(mode);
        fs::write(run.file("other"), "").unwrap();
        fs::hard_link(run.file("other"), run.file("egress.jsonl")).unwrap();
        std::os::unix::fs::chown(run.file("other"), Some(support::USER), None).ok();
        let outcome = run.script("true");
        assert_eq!(outcome.code, 2, "{outcome:?}");
        outcome.must_complain("it has other names (hard links)");

        let run = Run::in_lab(mode).flag("--log-max").flag("4096").flag("--log-keep").flag("3");
        std::os::unix::fs::symlink("elsewhere", run.file("egress.jsonl.2")).unwrap();
        let output = run.command(&["true"]).output().unwrap();
        let outcome = run.outcome(output);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        outcome.must_complain("the log can't be put aside: egress.jsonl.2");
        assert!(!run.file("elsewhere").exists() && !run.file("egress.jsonl.1").exists());
    }
}
