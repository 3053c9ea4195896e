//! What is wrong with the input or with the host is found before anything starts, and said so that it can be put right:
//! file, line and field of a policy, the flag, what the host lacks. Exit codes: 2 usage, 4 the host, 126 and 127 as in
//! shells.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::fs;
use std::process::{Command, Stdio};

use support::{Mode, Run, beginning_as, modes, open_folder, program};

/// Ends with this code and says all of this on stderr; the command has not run.
#[track_caller]
fn fails(mut command: Command, code: i32, says: &[&str]) {
    let folder = open_folder();
    let output = command.current_dir(folder.path()).stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}, which should say {says:?}: {errors}");
    let own = errors.lines().filter(|line| line.starts_with("closedbook:")).count();
    assert!(own <= 1 || code != 4, "one failure is told once: {errors}");
    for words in says {
        assert!(errors.contains(words), "{command:?} does not say {words:?}: {errors}");
    }
    assert!(!errors.contains("panicked"), "{errors}");
    assert!(!folder.path().join("ran").exists(), "{command:?} ran");
}

fn run(mode: Mode, flags: &[&str]) -> Command {
    let mut command = beginning_as(mode);
    command.args([program(), "run"]).args(flags).args(["--", "touch", "ran"]);
    command
}

/// A document that is right but for one thing, the file's name, and what is said of it.
const POLICIES: &[(&str, &str, &[&str])] = &[
    ("", "a.toml", &["line 1", "it begins with `schema = 1`"]),
    (
        "schema = 2\nname = 'x'\nphase.agent.allow = []",
        "a.toml",
        &["line 1, column 10", "schema", "reads schema 1"],
    ),
    ("schema = 1\nname = 'x'", "a.toml", &["phase: missing", "[phase.agent]"]),
    ("schema = 1\nname = 'x'\n[phase.agent\n", "a.toml", &["line 3", "expected"]),
    ("schema = 1\nname = 'x'\nname = 'y'\nphase.agent.allow = []", "a.toml", &["line 3"]),
    (
        "schema = 1\nname = 'x'\nalow = []\nphase.agent.allow = []",
        "a.toml",
        &["line 3, column 1", "alow", "known here"],
    ),
    (
        "schema = 1\nname = 'x'\nphase.agent.allow = 'a.com'",
        "a.toml",
        &["line 3", "phase.agent.allow", "a list of entries"],
    ),
    (
        "schema = 1\nname = 'x'\nphase.agent.allow = ['a.com', 7]",
        "a.toml",
        &["line 3, column 31", "phase.agent.allow[1]"],
    ),
    (
        "schema = 1\nname = 'x'\nphase.agent.allow = ['a b']",
        "a.toml",
        &["line 3, column 22", "phase.agent.allow[0]", "blanks"],
    ),
    (
        "schema = 1\nname = 'x'\nphase.agent.allow = ['a.com:99999']",
        "a.toml",
        &["allow[0]", "between 1 and 65535"],
    ),
    ("schema = 1\nname = 'x'\nphase.agent.allow = ['*']", "a.toml", &["allow[0]", "name the hosts"]),
    ("schema = 1\nname = 'x'\nphase.agent.allow = ['https://a.com/']", "a.toml", &["allow[0]"]),
    ("schema = 1\nname = 'x'\nphase.agent.allow = ['0x7f000001']", "a.toml", &["allow[0]"]),
    (
        "schema = 1\nname = 'x'\nphase.lockdown.allow = ['a.com']",
        "a.toml",
        &["phase.lockdown", "permits nothing"],
    ),
    ("schema = 1\nname = 'x'\nphase.'A B'.allow = []", "a.toml", &["line 3", "lower-case"]),
    (
        "schema = 1\nname = 'x'\nphase.agent.allow = []\ntls.ech = 'maybe'",
        "a.toml",
        &["line 4", "tls.ech", "outer-name"],
    ),
    ("schema = 1\nname = 'x'\nphase.agent.allow = []\ntls.sni = 1", "a.toml", &["line 4", "tls.sni"]),
    (
        "schema = 1\nname = 'x'\nphase.agent.allow = []\nroute.'a.com' = 'b com'",
        "a.toml",
        &["line 4", "route"],
    ),
    (
        "{\"schema\": 1, \"name\": \"x\", \"phase\": {\"agent\": {\"allow\": [\"a b\"]}}}",
        "a.json",
        &["line 1, column 58", "phase.agent.allow[0]"],
    ),
    ("{\"schema\": 1,", "a.json", &["line 1"]),
    ("{\"schema\": 1, \"schema\": 1, \"phase\": {\"agent\": {\"allow\": []}}}", "a.json", &["schema"]),
];

#[test]
fn a_wrong_policy_names_file_line_and_field() {
    for &mode in modes() {
        for (text, name, says) in POLICIES {
            let folder = open_folder();
            let file = folder.path().join(name);
            fs::write(&file, text).unwrap();
            let path = file.to_string_lossy();
            fails(run(mode, &["--policy", &path]), 2, &[&[&*path], *says].concat());
        }
    }
}

#[test]
fn a_policy_that_is_not_text() {
    let folder = open_folder();
    let file = folder.path().join("policy.toml");
    let path = file.to_string_lossy();
    fs::write(&file, b"schema = 1\nname = \"\xff\"\n").unwrap();
    fails(run(modes()[0], &["--policy", &path]), 2, &[&path, "UTF-8"]);
    for (size, why) in [(2 << 20, "the limit is 1048576"), ((2 << 20) + 1, "it has more than 2097152 bytes")]
    {
        fs::write(&file, vec![b'#'; size]).unwrap();
        fails(run(modes()[0], &["--policy", &path]), 2, &[&path, why]);
    }
    fails(run(modes()[0], &["--policy", "none.toml"]), 2, &["none.toml", "No such file"]);
    fails(run(modes()[0], &["--policy", "/"]), 2, &["Is a directory"]);
}

#[test]
fn a_phase_that_is_not_there() {
    let folder = open_folder();
    let file = folder.path().join("policy.toml");
    fs::write(&file, "schema = 1\nname = 'x'\nphase.one.allow = []\nphase.two.allow = []\n").unwrap();
    let path = file.to_string_lossy();
    fails(
        run(modes()[0], &["--policy", &path]),
        2,
        &["several phases", "one, two", "remedy: choose one with --phase"],
    );
    fails(run(modes()[0], &["--policy", &path, "--phase", "three"]), 2, &["no phase \"three\"", "one, two"]);
    fails(run(modes()[0], &["--policy", &path, "--phase", "lockdown", "--allow", "a.com"]), 2, &["lockdown"]);
    fails(run(modes()[0], &["--phase", "A B"]), 2, &["A B", "lower-case"]);
}

#[test]
fn wrong_flags_say_which_and_what_instead() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["--allow", "a b"], &["--allow", "\"a b\""]),
        (&["--allow", ""], &["--allow", "empty"]),
        (&["--allow", "*"], &["--allow", "name the hosts"]),
        (&["--allow", "a.com:0"], &["--allow", "between 1 and 65535"]),
        (&["--allow", "tcp://a.com"], &["--allow", "tcp://a.com"]),
        (&["--allow", "[2001:db8::1"], &["--allow"]),
        (&["--log", "/nonexistent/x"], &["--log /nonexistent/x", "remedy: name a file in a folder"]),
        (&["--log", "/"], &["--log /", "remedy"]),
        (&["--lab", "--witness", "/nonexistent/x"], &["--witness /nonexistent/x", "remedy"]),
        (&["--witness", "x"], &["--lab"]),
        (&["--keep-socket", "/nonexistent"], &["--keep-socket /nonexistent", "there is no socket", "remedy"]),
        (&["--keep-socket", "/etc/hostname"], &["--keep-socket /etc/hostname", "there is no socket"]),
        (&["--resolver", "x"], &["--resolver x", "not an address", "remedy: write 192.0.2.53"]),
        (&["--resolver", "192.0.2.53", "--lab"], &["--resolver", "--lab"]),
        (&["--bogus"], &["--bogus"]),
        (&["--allow"], &["--allow"]),
    ];
    for &mode in modes() {
        for (flags, says) in cases {
            fails(run(mode, flags), 2, says);
        }
    }
    let mut nothing = beginning_as(modes()[0]);
    nothing.args([program(), "run"]);
    fails(nothing, 2, &["<CMD>"]);
    let mut no_dashes = beginning_as(modes()[0]);
    no_dashes.args([program(), "run", "touch", "ran"]);
    fails(no_dashes, 2, &["touch", "-- <CMD>"]);
}

/// G13: a log that may not be written refuses to start; one that can't be is the end of new flows.
#[test]
fn a_log_that_cannot_be_written() {
    if modes().contains(&Mode::Root) {
        fails(run(Mode::Rootless, &["--log", "/proc/1/x"]), 2, &["--log /proc/1/x"]);
        fails(run(Mode::Rootless, &["--log", "/etc/x"]), 2, &["Permission denied"]);
    }
    for &mode in modes() {
        let mut command = beginning_as(mode);
        command.args([program(), "run", "--lab", "--allow", "api.anthropic.com", "--log", "/dev/full", "--"]);
        command.args([
            "bash",
            "-c",
            // The first may pass before it is known that the log is full.
            "for i in 1 2 3; do curl -sS -m 20 https://api.anthropic.com/; code=$?; [ $code = 0 ] || break; done; \
             case $code in 6|7|35) exit 6;; *) exit $code;; esac",
        ]);
        // Not resolved, not connected, or reset in the handshake; and never timed out.
        let says = [
            "the decision log is not complete",
            "attempts are not in the decision log, which could not be written",
        ];
        fails(command, 6, &says);
    }
}

/// In a fresh user namespace, whose limits bind only what is below it.
#[test]
fn namespaces_that_are_forbidden() {
    for (kind, word) in [("user", "user"), ("net", "net"), ("pid", "pid"), ("mnt", "mnt"), ("ipc", "ipc")] {
        for flags in ["", "--lab"] {
            let mut command = Command::new("unshare");
            let limit = format!("/proc/sys/user/max_{kind}_namespaces");
            let script = format!("echo 0 > {limit} && exec \"$0\" run {flags} -- touch ran");
            command.args(["-Urn", "sh", "-c", &script, program()]);
            fails(command, 4, &["namespaces", "remedy:", &format!("user.max_{word}_namespaces")]);
        }
    }
}

/// The kernel gives no new /proc to whoever sees only a part of the old one.
#[test]
fn a_proc_that_is_covered() {
    let covered = |how: &str| {
        let mut command = Command::new("unshare");
        command.args(["-Urnm", "sh", "-c", &format!("{how} && exec \"$0\" run -- touch ran"), program()]);
        command
    };
    fails(covered("mount -t tmpfs none /proc/sys/fs"), 4, &["/proc", "remedy:", "systempaths=unconfined"]);
    fails(covered("mount --bind /dev/null /proc/version"), 4, &["/proc", "remedy:"]);
}

/// As shells have it.
#[test]
fn commands_that_can_not_be_started() {
    for &mode in modes() {
        for (command, code, says) in [
            ("no-such-command", 127, "can't run no-such-command"),
            ("./no-such-command", 127, "can't run ./no-such-command"),
            ("/etc/passwd", 126, "Permission denied"),
            ("/", 126, "Permission denied"),
        ] {
            let outcome = Run::without_uplink(mode).words(&[command]);
            assert_eq!(outcome.code, code, "{mode:?}, {command}: {outcome:?}");
            assert!(outcome.stderr.contains(says), "{mode:?}, {command}: {outcome:?}");
        }
        let killed = Run::without_uplink(mode).script("kill -9 $$");
        assert_eq!(killed.code, 137, "{killed:?}");
    }
}
