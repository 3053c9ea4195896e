//! Programs of the image as children: with a time limit, a bound on what they may say, and an end in any case.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::seen::Seen;

/// Octets of either stream that are kept.
const KEPT: u64 = 64 * 1024;
/// How often it is looked whether a child has ended: waitid(2) has no time limit.
const LOOK: Duration = Duration::from_millis(5);

/// What a child said.
#[derive(Debug)]
pub struct Said {
    /// How it ended; `None` if it was killed when its time was over.
    pub status: Option<ExitStatus>,
    /// How its standard output begins.
    pub output: Vec<u8>,
    /// How its standard error begins.
    pub errors: Vec<u8>,
}

impl Said {
    /// Its exit code, if it ended by itself and not by a signal.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// The last line of its standard error.
    pub fn complaint(&self) -> String {
        let text = String::from_utf8_lossy(&self.errors).into_owned();
        text.lines()
            .rfind(|line| !line.trim().is_empty())
            .unwrap_or("it said nothing")
            .chars()
            .take(200)
            .collect()
    }
}

/// Runs a program to its end, or to the end of its time.
pub fn run(command: &mut Command, input: &[u8], within: Duration) -> Result<Said, Seen> {
    let named = command.get_program().to_string_lossy().into_owned();
    let spawned =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map(Ended);
    let mut child = spawned.map_err(|error| Seen::failed(format!("{named}: {error}")))?;
    let lost = || Seen::failed(format!("{named}: no pipe"));
    let mut stdin = child.0.stdin.take().ok_or_else(lost)?;
    let stdout = child.0.stdout.take().ok_or_else(lost)?;
    let stderr = child.0.stderr.take().ok_or_else(lost)?;
    thread::scope(|scope| {
        // Whoever does not want the input closes the pipe, and that is no fault.
        scope.spawn(move || stdin.write_all(input));
        let output = scope.spawn(|| first_octets(stdout));
        let errors = scope.spawn(|| first_octets(stderr));
        let status = child.wait(within);
        // Its pipes close with it.
        drop(child);
        let failed = |error: io::Error| Seen::failed(format!("{named}: {error}"));
        Ok(Said {
            status: status.map_err(failed)?,
            output: output.join().unwrap_or_default(),
            errors: errors.join().unwrap_or_default(),
        })
    })
}

/// Reads to the end, so that nobody waits for room in a pipe, and keeps the beginning.
fn first_octets(mut stream: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    // An error ends it as the end of the stream does.
    let _ = stream.by_ref().take(KEPT).read_to_end(&mut kept);
    let _ = io::copy(&mut stream, &mut io::sink());
    kept
}

/// A child that does not outlive this value.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) Child);

impl Ended {
    fn wait(&mut self, within: Duration) -> io::Result<Option<ExitStatus>> {
        let end = Instant::now() + within;
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended already; there is nobody to tell.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_child_is_heard_and_its_code_known() {
        let mut cat = Command::new("/bin/sh");
        let said = run(cat.args(["-c", "cat; echo oh no >&2; exit 7"]), b"hello", LONG).unwrap();
        assert_eq!((said.code(), said.output.as_slice()), (Some(7), &b"hello"[..]));
        assert_eq!(said.complaint(), "oh no");
    }

    #[test]
    fn a_child_that_does_not_end_is_ended() {
        let started = Instant::now();
        let said = run(Command::new("/bin/sh").args(["-c", "exec sleep 60"]), b"", Duration::from_millis(50));
        assert!(said.unwrap().status.is_none() && started.elapsed() < LONG);
    }

    #[test]
    fn one_that_says_too_much_is_not_kept_waiting() {
        let said = run(Command::new("/bin/sh").args(["-c", "head -c 300000 /dev/zero"]), b"", LONG).unwrap();
        assert_eq!((said.code(), said.output.len() as u64), (Some(0), KEPT));
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failure() {
        assert!(matches!(run(&mut Command::new("/nonexistent/it"), b"", LONG), Err(Seen::Failed { .. })));
    }
}
