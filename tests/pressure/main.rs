//! `closedbook run` when there is too little of something, or too much: descriptors, clients, room for the log, answers
//! of the resolver. What it can't do it refuses, says so, and does again as soon as it can (G6, G13, G16).
//!
//! As root and as a user without any privilege. Nothing leaves the machine: the lab is the only uplink.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod crowds;
mod disk;
mod metrics;
mod records;
mod rotation;
#[path = "../support/mod.rs"]
mod support;

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use support::{Mode, Outcome, Run};

/// The one name that most of these tests allow.
const ALLOWED: &str = "api.anthropic.com";

/// A run with that name allowed.
fn run(mode: Mode) -> Run {
    Run::in_lab(mode).allow(ALLOWED)
}

/// The words of a Python program that begins with `programs/crowd.py`.
fn python(program: &str) -> [String; 3] {
    ["python3".into(), "-c".into(), [include_str!("programs/crowd.py"), program].concat()]
}

/// A run under way whose command speaks by lines.
struct Spoken {
    child: Child,
    says: Lines<BufReader<ChildStdout>>,
    hears: Option<ChildStdin>,
}

impl Spoken {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let says = BufReader::new(child.stdout.take().unwrap()).lines();
        let hears = child.stdin.take();
        Self { child, says, hears }
    }

    /// Waits for the command's next line.
    #[track_caller]
    fn hear(&mut self, expected: &str) {
        let line = self.says.next().map(Result::unwrap);
        if line.as_deref() != Some(expected) {
            let _ = self.child.kill();
            let mut stderr = String::new();
            std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut stderr).unwrap();
            panic!("{expected:?} was expected, not {line:?}: {stderr}");
        }
    }

    /// Lets the command go on.
    fn tell(&mut self) {
        self.tell_line("");
    }

    /// Says one line to the command.
    fn tell_line(&mut self, line: &str) {
        use std::io::Write;
        writeln!(self.hears.as_mut().unwrap(), "{line}").unwrap();
    }

    /// To its end.
    fn end(mut self, run: &Run) -> Outcome {
        drop(self.hears.take());
        run.outcome(self.child.wait_with_output().unwrap())
    }
}

/// The same command by way of another program: `prlimit`, `unshare`.
fn by_way_of(words: &[&str], command: &Command) -> Command {
    let mut wrapped = Command::new(words[0]);
    wrapped.args(&words[1..]).arg(command.get_program()).args(command.get_args());
    wrapped.current_dir(command.get_current_dir().unwrap());
    wrapped
}

/// Asks for the metrics at a unix socket.
fn metrics_at(path: &Path) -> String {
    use std::io::{Read, Write};
    let mut stream = std::os::unix::net::UnixStream::connect(path).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: metrics\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The number on a line of the metrics.
#[track_caller]
fn metric(text: &str, name: &str) -> f64 {
    let number = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    number.unwrap_or_else(|| panic!("no {name}: {text}")).parse().unwrap()
}

/// A run with metrics at a unix socket, and where that is.
fn with_metrics(run: Run) -> (Run, PathBuf) {
    let path = run.file("metrics");
    let flag = format!("unix:{}", path.display());
    (run.flag("--metrics").flag(&flag), path)
}
