//! A process with bounds: on its time and on what it prints.

use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::output::harmless;

/// Octets of each stream that are kept. A CLI prints some 10 KB in a turn.
const KEPT: usize = 4 * 1024 * 1024;
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);
/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code; that of a shell for one that a signal ended.
    pub(crate) code: Option<i32>,
    /// What it printed.
    pub(crate) stdout: String,
    /// What it complained of.
    pub(crate) stderr: String,
    /// Whether it was killed for want of time.
    pub(crate) killed: bool,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Ended {
    /// Runs it to its end, or to the end of its time.
    pub(crate) fn of(command: &mut Command, within: Duration) -> io::Result<Self> {
        let begun = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        thread::scope(|scope| {
            let stdout = scope.spawn(|| stdout.map(bounded).unwrap_or_default());
            let stderr = scope.spawn(|| stderr.map(bounded).unwrap_or_default());
            let (status, killed) = wait(&mut child, within)?;
            let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
            // A reader can't panic.
            let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().unwrap_or_default());
            Ok(Self { code, stdout, stderr, killed, took: begun.elapsed() })
        })
    }

    /// Both streams.
    pub(crate) fn said(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }

    /// The last lines of what it printed and complained of, harmless to a terminal and short.
    pub(crate) fn last_lines(&self, count: usize) -> Vec<String> {
        const LONGEST: usize = 300;
        let last = |text: &str| -> Vec<String> {
            let lines = text.lines().rev().filter(|line| !line.trim().is_empty()).take(count);
            let short =
                lines.map(|line| harmless(&line.chars().take(LONGEST).collect::<String>()).into_owned());
            let mut lines: Vec<String> = short.collect();
            lines.reverse();
            lines
        };
        [last(&self.stdout), last(&self.stderr)].concat()
    }

    /// The last of them.
    pub(crate) fn last_line(&self) -> String {
        self.last_lines(1).pop().unwrap_or_else(|| "nothing".to_owned())
    }
}

/// Waits for its end, or brings it about.
fn wait(child: &mut Child, within: Duration) -> io::Result<(ExitStatus, bool)> {
    let deadline = Instant::now() + within;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok((status, false)),
            None if Instant::now() < deadline => thread::sleep(LOOK),
            None => {
                child.kill()?;
                return Ok((child.wait()?, true));
            }
        }
    }
}

/// The beginning of a stream, which is read to its end.
fn bounded(mut stream: impl Read) -> String {
    let mut kept = Vec::new();
    let mut piece = [0; 64 * 1024];
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        let room = KEPT.saturating_sub(kept.len()).min(length);
        kept.extend_from_slice(piece.get(..room).unwrap_or_default());
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, within: Duration) -> Ended {
        Ended::of(Command::new("sh").args(["-c", script]), within).unwrap()
    }

    #[test]
    fn time_is_bounded() {
        let ended = shell("trap '' TERM; echo begun; exec sleep 60", Duration::from_millis(300));
        assert!(ended.killed && ended.took < Duration::from_secs(5), "{ended:?}");
        assert_eq!((ended.stdout.as_str(), ended.code), ("begun\n", Some(128 + 9)));
    }

    #[test]
    fn output_is_bounded_and_harmless() {
        let ended =
            shell("head -c 9000000 /dev/zero; printf 'x\\033[2J\\n' >&2; exit 7", Duration::from_secs(60));
        assert_eq!((ended.stdout.len(), ended.code, ended.killed), (KEPT, Some(7), false));
        assert_eq!(ended.last_line(), "x\\u{1b}[2J");
    }
}
