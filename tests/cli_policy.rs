//! What `closedbook policy` prints, and its exit codes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const POLICY: &str = r#"
schema = 1
name = "example"
[phase.setup]
allow = ["api.example.com", "registry.npmjs.org"]
[phase.agent]
allow = ["api.example.com:443", "ws://live.example.com:8080", "203.0.113.7", "tcp://git.example.com:22"]
[phase.verifier]
allow = []
[route]
"api.example.com" = "10.0.0.5:8443"
"#;

struct Outcome {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Outcome {
    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// Runs `closedbook policy ARGS` with the text on standard input.
fn policy(args: &[&str], input: impl AsRef<[u8]>) -> Outcome {
    let mut child = Command::new(env!("CARGO_BIN_EXE_closedbook"))
        .arg("policy")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A usage error ends the program before it reads.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn check_shows_what_the_policy_says() {
    let outcome =
        policy(&["check", "-"], "schema = 1\nname = \"x\"\nphase.agent.allow = [\"API.example.com.\"]\n");
    let digest =
        policy(&["digest", "-"], "schema = 1\nname = \"x\"\nphase.agent.allow = [\"api.example.com\"]\n");
    assert_eq!(
        outcome.stdout,
        format!(
            "name      x\ndigest    {}phase     agent\n            api.example.com\nno advice\n",
            digest.stdout
        )
    );
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn check_lists_advice_and_strict_makes_it_count() {
    let lenient = policy(&["check", "-"], POLICY);
    assert_eq!(lenient.code, 0, "{}", lenient.stderr);
    assert!(lenient.stdout.contains("  channel-raw-tcp  phase.agent: tcp://git.example.com:22\n"));
    assert!(lenient.stdout.contains("            (nothing is allowed)\n"));
    assert!(lenient.stdout.contains("route     api.example.com -> 10.0.0.5:8443\n"));
    assert_eq!(policy(&["check", "--strict", "-"], POLICY).code, 1);
    let closed = "schema = 1\nphase.agent.allow = [\"api.example.com\"]";
    assert_eq!(policy(&["check", "--strict", "-"], closed).code, 0);
}

#[test]
fn check_as_json() {
    let report = policy(&["check", "--json", "-"], POLICY).json();
    assert_eq!(report["valid"], true);
    assert_eq!(report["name"], "example");
    assert_eq!(report["phases"]["verifier"], json!([]));
    assert_eq!(report["phases"]["lockdown"], json!([]));
    assert_eq!(report["advice"][0]["id"], "channel-raw-tcp");
    assert_eq!(report["advice"][0]["subject"], "tcp://git.example.com:22");
    let digest = policy(&["digest", "-"], POLICY);
    assert_eq!(report["digest"], digest.stdout.trim());
}

/// Bad input: line, field and remedy, and exit code 2.
#[test]
fn a_faulty_policy_names_place_and_remedy() {
    let faulty = "schema = 1\n[phase.agent]\nallow = [\n  \"https://api.example.com/v1\",\n]\nalow = []\n";
    let outcome = policy(&["check", "-"], faulty);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""));
    assert_eq!(
        outcome.stderr,
        concat!(
            "closedbook: policy on standard input has 2 faults\n",
            "  line 4, column 3, phase.agent.allow[0]: \"https://api.example.com/v1\": an entry is a host, not a URL: ",
            "the scheme \"https\" does not belong; write \"api.example.com\"\n",
            "  line 6, column 1, phase.agent.alow: unknown key \"alow\"; did you mean \"allow\"?\n",
        )
    );
    let outcome = policy(&["check", "--json", "-"], faulty);
    assert_eq!(outcome.code, 2);
    let report = outcome.json();
    assert_eq!((&report["valid"], &report["faults"][1]["line"]), (&json!(false), &json!(6)));
    for verb in [&["digest", "-"][..], &["explain", "-", "api.example.com"][..]] {
        let outcome = policy(verb, faulty);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{verb:?}");
    }
}

#[test]
fn what_can_not_be_read_is_said() {
    for (input, expected) in [
        (&b""[..], "closedbook: policy on standard input: line 1, column 1: the policy is empty"),
        (
            &b"schema = 1\n\xff"[..],
            "closedbook: can't read policy on standard input: not UTF-8 text: byte 11",
        ),
    ] {
        let outcome = policy(&["check", "-"], input);
        assert!(outcome.code == 2 && outcome.stderr.starts_with(expected), "{}", outcome.stderr);
    }
    let missing = policy(&["check", "no/such/policy.toml"], "");
    assert_eq!(missing.code, 2);
    assert!(missing.stderr.starts_with("closedbook: can't read policy no/such/policy.toml: "));
    // Endless, but not for us.
    let endless = policy(&["check", "/dev/zero"], "");
    assert!(
        endless.code == 2 && endless.stderr.contains("it has more than 2097152 bytes"),
        "{}",
        endless.stderr
    );
}

#[test]
fn a_policy_is_read_from_a_file_in_either_format() {
    let folder = tempfile::tempdir().unwrap();
    let toml = folder.path().join("policy.toml");
    let json = folder.path().join("policy.json");
    std::fs::write(&toml, POLICY).unwrap();
    let digest = policy(&["digest", "--json", toml.to_str().unwrap()], "");
    std::fs::write(&json, digest.json()["canonical"].as_str().unwrap()).unwrap();
    let again = policy(&["digest", json.to_str().unwrap()], "");
    assert_eq!(digest.json()["digest"], again.stdout.trim());
}

#[test]
fn explain_says_by_which_entry() {
    let outcome = policy(&["explain", "-", "--phase", "agent", "https://api.example.com/v1?x"], POLICY);
    assert_eq!(
        outcome.stdout,
        "TLS to api.example.com, port 443\n  agent  allow  by api.example.com:443, dialled at 10.0.0.5:8443\n"
    );
    assert_eq!(outcome.code, 0);
}

#[test]
fn explain_says_what_would_permit_it() {
    let outcome = policy(&["explain", "-", "--phase", "agent", "http://api.example.com"], POLICY);
    assert_eq!(
        outcome.stdout,
        concat!(
            "plain HTTP to api.example.com, port 80\n",
            "  agent  deny   port-not-allowed: phase agent permits api.example.com on 443, not on 80; ",
            "\"api.example.com\" would permit it\n",
        )
    );
    assert_eq!(outcome.code, 1);
}

#[test]
fn explain_shows_all_phases() {
    let outcome = policy(&["explain", "-", "registry.npmjs.org"], POLICY);
    assert_eq!(
        outcome.stdout,
        concat!(
            "TLS to registry.npmjs.org, port 443\n",
            "  agent     deny   name-not-allowed: no entry of phase agent names registry.npmjs.org; ",
            "\"registry.npmjs.org\" would permit it\n",
            "  lockdown  deny   name-not-allowed: no entry of phase lockdown names registry.npmjs.org\n",
            "  setup     allow  by registry.npmjs.org, dialled at registry.npmjs.org:443\n",
            "  verifier  deny   name-not-allowed: no entry of phase verifier names registry.npmjs.org; ",
            "\"registry.npmjs.org\" would permit it\n",
        )
    );
    assert_eq!(outcome.code, 0);
    assert_eq!(policy(&["explain", "-", "pypi.org"], POLICY).code, 1);
}

#[test]
fn explain_takes_every_way_to_name_a_host() {
    for (what, code, reading) in [
        ("api.example.com", 0, "TLS to api.example.com, port 443"),
        ("API.example.com:443", 0, "TLS to api.example.com, port 443"),
        ("https://user:word@api.example.com:443/x#y", 0, "TLS to api.example.com, port 443"),
        ("api.example.com:80", 1, "plain HTTP to api.example.com, port 80"),
        ("ws://live.example.com:8080/socket", 0, "WebSocket over plain HTTP to live.example.com, port 8080"),
        ("wss://live.example.com:8080", 0, "TLS to live.example.com, port 8080"),
        ("ws://api.example.com:443", 1, "WebSocket over plain HTTP to api.example.com, port 443"),
        ("203.0.113.7", 0, "TLS to 203.0.113.7, port 443"),
        ("http://203.0.113.7/", 0, "plain HTTP to 203.0.113.7, port 80"),
        ("::ffff:203.0.113.7", 0, "TLS to ::ffff:203.0.113.7, port 443"),
        ("[2001:db8::1]:443", 1, "TLS to 2001:db8::1, port 443"),
        ("tcp://git.example.com:22", 0, "other TCP to git.example.com, port 22"),
        ("b\u{fc}cher.example", 1, "TLS to xn--bcher-kva.example, port 443"),
    ] {
        let outcome = policy(&["explain", "-", "--json", "--phase", "agent", what], POLICY);
        assert_eq!(outcome.code, code, "{what}: {}{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.json()["read_as"], reading);
    }
}

#[test]
fn explain_refuses_what_it_can_not_read() {
    for what in
        ["ftp://x.example", "tcp://git.example.com", "tcp://203.0.113.7:22", "a_b.example", "x:80,443", ""]
    {
        let outcome = policy(&["explain", "-", what], POLICY);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{what}");
        assert!(outcome.stderr.contains("<WHAT>"), "{}", outcome.stderr);
    }
    let outcome = policy(&["explain", "-", "--phase", "agnet", "x.example"], POLICY);
    assert_eq!(outcome.code, 2);
    assert_eq!(
        outcome.stderr,
        "closedbook: the policy has no phase \"agnet\"\n  remedy: it has agent, lockdown, setup, verifier\n"
    );
}

/// A reader that goes away early (`| head`) is no failure.
#[test]
fn a_closed_pipe_is_no_failure() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(env!("CARGO_BIN_EXE_closedbook"))
        .args(["policy", "check", "-"])
        .stdin(Stdio::piped())
        .stdout(writer)
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(POLICY.as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
