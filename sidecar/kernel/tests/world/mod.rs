//! Test namespaces: a test begun outside runs itself again inside a fresh network namespace.
//!
//! As root each test runs twice, as root of the machine and as root of a user namespace of its own; otherwise
//! only the second way. A test whose namespace can't be made fails.

use std::{
    env,
    io::{self, Write},
    process::{Command, Stdio},
};

const INSIDE: &str = "CLOSEDBOOK_TEST_NAMESPACE";

/// Declares tests that run in network namespaces of their own.
macro_rules! namespaced {
    ($($(#[$meta:meta])* fn $name:ident() $body:block)+) => {
        $($(#[$meta])* #[test] fn $name() {
            if $crate::world::enter(stringify!($name)) { $body }
        })+
    };
}
pub(crate) use namespaced;

/// Whether the caller is inside; if it isn't, the test named has been run inside when this returns.
pub(crate) fn enter(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    if nix::unistd::geteuid().is_root() {
        run_inside(test, &["-n"], "root in a network namespace");
    }
    run_inside(test, &["-Urn"], "root of a user namespace in a network namespace");
    false
}

fn run_inside(test: &str, namespaces: &[&str], what: &str) {
    let program = env::current_exe().unwrap();
    let output = Command::new("unshare")
        .args(namespaces)
        .arg("--")
        .arg(program)
        .args(["--exact", test, "--test-threads=1", "--nocapture"])
        .env(INSIDE, what)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{test} as {what}:\n{text}");
    // Past the harness, which swallows what a passing test prints.
    writeln!(io::stderr(), "{test}: ran as {what}").unwrap();
}

/// Runs a program that has to succeed, with `input` on its standard input; gives its standard output.
pub(crate) fn succeeds(program: &str, arguments: &[&str], input: &str) -> String {
    let (success, output) = run(program, arguments, input);
    assert!(success, "{program} {arguments:?}: {output}");
    output
}

/// Runs a program; gives whether it succeeded and what it wrote.
pub(crate) fn run(program: &str, arguments: &[&str], input: &str) -> (bool, String) {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), text)
}
