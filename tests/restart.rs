//! G6: a proxy that dies leaves the command with nothing, and another takes its place without opening anything.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Lines, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStderr, ChildStdout, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::{Mode, Run, modes};

/// A run whose command does what it is told.
struct Puppet {
    run: Run,
    supervisor: Child,
    answers: Lines<BufReader<ChildStdout>>,
    says: Lines<BufReader<ChildStderr>>,
}

const PROGRAM: &str = r#"
import socket, ssl, sys, time
kept = []
def resolve(name):
    return socket.getaddrinfo(name, 443, socket.AF_INET)[0][4][0]
def connect(address, port):
    begun = time.monotonic()
    try: socket.create_connection((address, port), 10)
    except ConnectionRefusedError: return "refused" if time.monotonic() - begun < 5 else "late"
    return "connected"
def ask():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(10)
    s.connect(("192.0.2.53", 53))
    s.send(b"\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x00\x00\x01\x00\x01")
    try: s.recv(512)
    except ConnectionRefusedError: return "refused"
    return "answered"
def fetch(name):
    context = ssl.create_default_context()
    with socket.create_connection((name, 443)) as plain, context.wrap_socket(plain, server_hostname=name) as tls:
        tls.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % name.encode())
        return tls.recv(15).decode()
def hold(name):
    kept.append(socket.create_connection((name, 443)))
    return "held"
def held():
    try: end = kept[-1].recv(1)
    except ConnectionResetError: return "reset"
    return "ended" if end == b"" else "alive"
for line in sys.stdin:
    print(eval(line), flush=True)
"#;

impl Puppet {
    fn start(run: Run) -> Self {
        let mut supervisor = run
            .command(&[support::python(), "-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(supervisor.stdout.take().unwrap()).lines();
        let says = BufReader::new(supervisor.stderr.take().unwrap()).lines();
        let mut puppet = Self { run, supervisor, answers, says };
        assert_eq!(puppet.does("'here'"), "here");
        puppet
    }

    fn in_lab(mode: Mode) -> Self {
        Self::start(Run::in_lab(mode).allow("api.anthropic.com").allow("api.openai.com"))
    }

    /// What the command answers.
    fn does(&mut self, what: &str) -> String {
        writeln!(self.supervisor.stdin.as_ref().unwrap(), "{what}").unwrap();
        self.answers.next().unwrap().unwrap()
    }

    /// Waits until closedbook says this.
    fn until_said(&mut self, what: &str) {
        let mut said = Vec::new();
        for line in self.says.by_ref() {
            said.push(line.unwrap());
            if said.last().unwrap().contains(what) {
                return;
            }
        }
        panic!("{what:?} was never said: {said:#?}");
    }

    fn supervisor(&self) -> Pid {
        Pid::from_raw(self.supervisor.id().try_into().unwrap())
    }

    /// The proxy that is there now.
    fn proxy(&self) -> Pid {
        self.find_proxy().unwrap()
    }

    fn find_proxy(&self) -> Option<Pid> {
        let id = self.supervisor.id();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let is_proxy = |pid: &&str| {
            let line = fs::read_to_string(format!("/proc/{pid}/cmdline"));
            line.is_ok_and(|line| line.contains("sidecar\0outer"))
        };
        Some(Pid::from_raw(children.split_whitespace().find(is_proxy)?.parse().unwrap()))
    }

    fn kill_proxy(&self) {
        kill(self.proxy(), Signal::SIGKILL).unwrap();
    }

    /// What came of it, once its command has nothing more to do.
    fn end(mut self) -> support::Outcome {
        drop(self.supervisor.stdin.take());
        self.ended()
    }

    /// What came of a run that ends by itself.
    fn ended(mut self) -> support::Outcome {
        let rest: Vec<String> = self.says.by_ref().map(Result::unwrap).collect();
        let output = self.supervisor.wait_with_output().unwrap();
        let mut outcome = self.run.outcome(output);
        outcome.stderr = rest.join("\n");
        outcome
    }
}

/// Waits until a process has closed what it held: it is gone, or a zombie whose other threads are gone.
fn until_dead(pid: Pid) {
    let lives = || {
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return false };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        !field("State:").starts_with('Z') || field("Threads:") != "1"
    };
    while lives() {
        thread::yield_now();
    }
}

/// Connections go again, addresses stay what they were, and no two records have one number.
#[test]
fn a_dead_proxy_is_replaced() {
    for &mode in modes() {
        let mut puppet = Puppet::in_lab(mode);
        let first = puppet.does("resolve('api.openai.com')");
        assert_eq!(puppet.does("fetch('api.openai.com')"), "HTTP/1.1 200 OK");
        assert_eq!(puppet.does("hold('api.openai.com')"), "held");
        puppet.kill_proxy();
        puppet.until_said("the proxy was killed by SIGKILL; another is started");
        puppet.until_said("the proxy serves again");
        // Old flows end; they don't hang.
        assert_eq!(puppet.does("held()"), "reset");
        let other = puppet.does("resolve('api.anthropic.com')");
        assert_ne!(first, other, "one address for two names");
        assert_eq!(puppet.does("resolve('api.openai.com')"), first);
        assert_eq!(puppet.does("fetch('api.openai.com')"), "HTTP/1.1 200 OK");
        assert_eq!(puppet.does("fetch('api.anthropic.com')"), "HTTP/1.1 200 OK");
        let outcome = puppet.end().must_succeed().must_complain("was started again 1 times");
        let ids: BTreeSet<u64> = outcome.log.iter().map(|record| record["id"].as_u64().unwrap()).collect();
        assert_eq!(ids.len(), outcome.log.len(), "{outcome:?}");
        assert!(ids.last() > Some(&1_000_000_000), "{outcome:?}");
        // That of the first may have died with the proxy.
        assert!((2..=3).contains(&outcome.of_kind("tls").len()), "{outcome:?}");
    }
}

/// G13: the next proxy goes on in the file that is in force, has it put aside like the one before, and is asked for metrics
/// where that one was.
#[test]
fn log_and_metrics_go_on() {
    for &mode in modes() {
        let run = Run::in_lab(mode).flag("--log-max").flag("4096").flag("--log-keep").flag("50");
        let metrics = run.file("metrics");
        let mut puppet = Puppet::start(run.flag("--metrics").flag(&format!("unix:{}", metrics.display())));
        for _ in 0..2 {
            (0..20).for_each(|_| assert_eq!(puppet.does("ask()"), "answered"));
            puppet.kill_proxy();
            puppet.until_said("another is started");
            puppet.until_said("the proxy serves again");
        }
        (0..20).for_each(|_| assert_eq!(puppet.does("ask()"), "answered"));
        let mut stream = UnixStream::connect(&metrics).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: metrics\r\nConnection: close\r\n\r\n").unwrap();
        let text = io::read_to_string(stream).unwrap();
        let counted = text.lines().find(|line| line.starts_with("closedbook_attempts_total{kind=\"dns\""));
        assert!(counted.is_some_and(|line| line.ends_with(" 20")), "the self-test is no attempt: {text}");

        drop(puppet.supervisor.stdin.take());
        let rest: Vec<String> = puppet.says.by_ref().map(Result::unwrap).collect();
        assert!(puppet.supervisor.wait().unwrap().success(), "{rest:?}");
        let aside = (1..).map(|number| puppet.run.file(&format!("egress.jsonl.{number}")));
        let files = aside.take_while(|file| file.exists()).chain([puppet.run.file("egress.jsonl")]);
        let texts: Vec<String> = files.map(|file| fs::read_to_string(file).unwrap()).collect();
        assert!(texts.len() > 3 && texts.iter().all(|text| text.len() <= 4096), "{texts:?}");
        let id =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_u64().unwrap();
        let all: Vec<u64> = texts.iter().flat_map(|text| text.lines().map(id)).collect();
        let unique: BTreeSet<u64> = all.iter().copied().collect();
        assert_eq!(unique.len(), all.len());
        let of_proxy =
            |number: u64| unique.range(number * 1_000_000_000..(number + 1) * 1_000_000_000).count();
        // What was waiting to be written may have died with its proxy.
        assert!(of_proxy(0) > 0 && of_proxy(1) > 0 && of_proxy(2) == 20, "{unique:?}");
        assert!(!metrics.exists());
    }
}

/// G6, G11: while there is no proxy, everything is refused, and at once.
#[test]
fn without_a_proxy_everything_is_refused() {
    for &mode in modes() {
        let mut puppet = Puppet::in_lab(mode);
        let address = puppet.does("resolve('api.anthropic.com')");
        // A supervisor that is stopped replaces nobody.
        kill(puppet.supervisor(), Signal::SIGSTOP).unwrap();
        let proxy = puppet.proxy();
        kill(proxy, Signal::SIGKILL).unwrap();
        until_dead(proxy);
        for attempt in [
            format!("connect('{address}', 443)"),
            "connect('203.0.113.7', 80)".into(),
            "connect('2001:db8::7', 443)".into(),
            "ask()".into(),
        ] {
            assert_eq!(puppet.does(&attempt), "refused", "{attempt}");
        }
        kill(puppet.supervisor(), Signal::SIGCONT).unwrap();
        puppet.until_said("the proxy serves again");
        assert_eq!(puppet.does("fetch('api.anthropic.com')"), "HTTP/1.1 200 OK");
        puppet.end().must_succeed();
    }
}

/// G6, G7: a phase that was switched to stays in force.
#[test]
fn a_switch_outlives_the_proxy() {
    const POLICY: &str = "schema = 1\nphase.setup.allow = [\"api.anthropic.com\", \"api.openai.com\"]\n\
                          phase.agent.allow = [\"api.openai.com\"]\n";
    for &mode in modes() {
        let run = Run::in_lab(mode);
        let (policy, folder) = (run.file("policy.toml"), run.file("control"));
        fs::write(&policy, POLICY).unwrap();
        let made = support::beginning_as(mode).args(["mkdir", "-m", "700"]).arg(&folder).status().unwrap();
        assert!(made.success());
        let control = folder.join("socket");
        let run = run
            .flag("--policy")
            .flag(policy.to_str().unwrap())
            .flag("--phase")
            .flag("setup")
            .flag("--control")
            .flag(control.to_str().unwrap());
        let mut puppet = Puppet::start(run);
        assert_eq!(puppet.does("fetch('api.anthropic.com')"), "HTTP/1.1 200 OK");
        let phase = |words: &[&str]| {
            let mut command = support::beginning_as(mode);
            command.args([support::program(), "phase"]).args(words).arg("--control").arg(&control);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        phase(&["agent"]);
        puppet.kill_proxy();
        puppet.until_said("the proxy serves again");
        assert!(phase(&[]).contains("agent"), "the operator is answered as before");
        assert_eq!(puppet.does("fetch('api.openai.com')"), "HTTP/1.1 200 OK");
        let fetched = puppet
            .does("__import__('subprocess').run(['curl', '-s', 'https://api.anthropic.com/']).returncode");
        assert_ne!(fetched, "0", "the phase of the start is in force again");
        let outcome = puppet.end().must_succeed();
        let after = |record: &&serde_json::Value| record["id"].as_u64() > Some(1_000_000_000);
        assert!(outcome.log.iter().filter(after).all(|record| record["phase"] == "agent"), "{outcome:?}");
        assert!(outcome.log.iter().filter(after).all(|record| record["epoch"] == 2), "{outcome:?}");
    }
}

/// G6: what dies again and again is left dead, and the run ends: a command without a network that waits for better times
/// would only be waited for.
#[test]
fn restarts_are_bounded() {
    for &mode in modes() {
        let mut puppet = Puppet::in_lab(mode);
        for _ in 0..5 {
            puppet.kill_proxy();
            puppet.until_said("the proxy serves again");
        }
        puppet.kill_proxy();
        puppet.until_said("the proxy was killed by SIGKILL, after 5 others within a minute: the run ends");
        let outcome = puppet.ended();
        assert_eq!(outcome.code, 70, "{outcome:?}");
        assert!(outcome.stderr.contains("remedy: "), "{outcome:?}");
    }
}

/// G6: the same when none of them gets as far as to serve.
#[test]
fn proxies_that_never_serve_are_bounded() {
    for &mode in modes() {
        let mut puppet = Puppet::in_lab(mode);
        while puppet.supervisor.try_wait().unwrap().is_none() {
            if let Some(proxy) = puppet.find_proxy() {
                // It may have gone, and with it the run.
                let _ = kill(proxy, Signal::SIGKILL);
            }
        }
        let outcome = puppet.ended();
        assert_eq!(outcome.code, 70, "{outcome:?}");
        assert!(outcome.stderr.contains("after 5 others within a minute: the run ends"), "{outcome:?}");
    }
}

/// A run that ends while its proxy is being replaced ends in order.
#[test]
fn the_end_comes_while_a_proxy_is_replaced() {
    for &mode in modes() {
        let puppet = Puppet::in_lab(mode);
        puppet.kill_proxy();
        puppet.end().must_succeed();
    }
}
