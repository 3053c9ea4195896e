//! What the commands show.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::support::live::private_folder;
use crate::support::{as_mode, modes, program};
use crate::{WAITS, live, must_refuse};

/// G8: a switch is made and shown; one that permits more needs `--widen`, and both are remembered.
#[test]
fn phases_are_switched() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        let mut run = live(mode, &runtime, "setup", &[], &WAITS);
        assert_eq!(run.hear(), "ready");
        assert_eq!(run.must(&["phase", "agent"]), "agent (epoch 2): 0 flows cut, 0 go on\n");
        let refused = run.ask(&["phase", "setup"]);
        must_refuse(&refused, 1, "it would permit registry.npmjs.org, which is not permitted now");
        must_refuse(&refused, 1, "add --widen");
        must_refuse(&run.ask(&["phase", "nowhere"]), 2, "the policy has agent, lockdown, setup");
        assert!(
            run.must(&["phase", "setup", "--widen"]).contains("permits more than before: registry.npmjs.org")
        );
        let status = run.json(&["status", "--json"]);
        let told: Vec<_> = status["history"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| (change["to"].as_str().unwrap(), change["refused"].as_str()))
            .collect();
        assert_eq!(told, [("agent", None), ("setup", Some("not-asked")), ("setup", None)], "{status}");
        assert_eq!((&status["phase"], &status["epoch"]), (&"setup".into(), &3.into()));
        run.end().must_succeed();
    }
}

/// G8: what the operator said at the start holds.
#[test]
fn the_ratchet_is_set_at_the_start() {
    let mode = modes()[0];
    for (widen, asked, code) in [("free", false, 0), ("never-after-agent", true, 1)] {
        let runtime = private_folder(mode);
        let mut run = live(mode, &runtime, "agent", &["--widen", widen], &WAITS);
        assert_eq!(run.hear(), "ready");
        let words: &[&str] = if asked { &["phase", "setup", "--widen"] } else { &["phase", "setup"] };
        let output = run.ask(words);
        assert_eq!(output.status.code(), Some(code), "{widen}: {output:?}");
        run.end().must_succeed();
    }
}

/// The log is shown to people as lines and to programs as it is, of a run and of a file; refusals are summed, with the
/// line that would permit each and a warning where there should be none.
#[test]
fn log_and_denials() {
    for &mode in modes() {
        let runtime = private_folder(mode);
        let mut run = live(mode, &runtime, "agent", &["--name", "shown"], &WAITS);
        assert_eq!(run.hear(), "ready");
        let mut follower = as_mode(mode, true);
        follower.arg(format!("XDG_RUNTIME_DIR={}", runtime.path().display())).arg(program());
        follower.args(["log", "-f", "--json"]).stdout(Stdio::piped());
        let mut follower = follower.spawn().unwrap();
        let mut followed = BufReader::new(follower.stdout.take().unwrap()).lines();
        run.say("curl -sS -o /dev/null https://api.anthropic.com/; curl -sS https://github.com/ 2>/dev/null; echo done");
        assert_eq!(run.hear(), "done");
        let (mut seen, mut hosts) = (Vec::new(), 0);
        while hosts < 2 {
            let record: Value = serde_json::from_str(&followed.next().unwrap().unwrap()).unwrap();
            hosts += usize::from(
                record["kind"] == "tls" || record["name"] == "github.com" && record["reason"] == "dns-name",
            );
            seen.push(record);
        }
        let shown = run.must(&["log"]);
        let line =
            |word: &str| shown.lines().find(|line| line.contains(word)).unwrap_or_else(|| panic!("{shown}"));
        assert!(line("allow tls ").contains(" api.anthropic.com:443  "), "{shown}");
        assert!(line("deny ").contains(" dns  github.com  dns-name  "), "{shown}");
        assert!(run.must(&["log", "--last", "1"]).lines().count() == 1);
        let denials = run.must(&["denials"]);
        assert!(denials.contains("github.com  dns-name\n"), "{denials}");
        assert!(denials.contains("phase.agent: allow = [\"github.com\"]\n"), "{denials}");
        assert!(denials.contains("better not: ") && denials.contains("(channel-code-host)"), "{denials}");
        let json = run.json(&["denials", "--json"]);
        assert_eq!(json["denials"][0]["host"], "github.com", "{json}");
        follower.kill().unwrap();
        follower.wait().unwrap();
        let run = run.end().must_succeed();
        assert!(seen.iter().all(|record| run.log.contains(record)), "{seen:?}\n{run:?}");
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines: String = run.log.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(file.path(), lines).unwrap();
        let of_file = std::process::Command::new(program()).arg("log").arg(file.path()).output().unwrap();
        assert!(String::from_utf8_lossy(&of_file.stdout).starts_with(&shown), "{of_file:?}\n{shown}");
    }
}

/// The end that the operator asks for leaves the command without network, and says so; the run ends when it does.
#[test]
fn shutdown() {
    let mode = modes()[0];
    let runtime = private_folder(mode);
    let folder = private_folder(mode);
    let path = folder.path().join("control");
    let mut run = live(mode, &runtime, "agent", &["--control", path.to_str().unwrap()], &WAITS);
    assert_eq!(run.hear(), "ready");
    let program = r#"
import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"shutdown"}\n')
print(s.makefile().read(), end="")
"#;
    let output =
        std::process::Command::new("python3").args(["-c", program, path.to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"id\":1,\"jsonrpc\":\"2.0\",\"result\":{}}\n");
    run.say("curl -sS https://api.anthropic.com/ 2>&1; echo $?");
    let said = run.hear();
    assert!(said.contains("curl: (6)") || said.contains("curl: (7)"), "{said}");
    must_refuse(&run.ask(&["status", "--control", path.to_str().unwrap()]), 1, "nobody can be asked");
    run.end()
        .must_succeed()
        .must_complain("the proxy was told to end; the command has no network from here on");
}
