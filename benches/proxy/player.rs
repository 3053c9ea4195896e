//! A process that does what it is told over its stdin, and ends with this value.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;
use crate::job::{Job, Outcome};
use crate::stage::CLOSEDBOOK;

/// The process.
pub(crate) struct Player {
    child: Child,
    hears: Option<ChildStdin>,
    says: BufReader<ChildStdout>,
}

impl Player {
    /// Starts it, by `closedbook`.
    pub(crate) fn start(arguments: &[&str]) -> Result<Self> {
        let mut child =
            Command::new(CLOSEDBOOK).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let says = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let hears = child.stdin.take();
        Ok(Self { child, hears, says })
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its next line.
    pub(crate) fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.says.read_line(&mut line)? {
            0 => Err(format!("process {} has ended before its time", self.child.id()).into()),
            _ => Ok(line),
        }
    }

    /// Has it do a job.
    pub(crate) fn play(&mut self, job: Job) -> Result<Outcome> {
        let mut text = serde_json::to_string(&job)?;
        text.push('\n');
        self.hears.as_mut().ok_or("no stdin")?.write_all(text.as_bytes())?;
        let line = self.line().map_err(|error| format!("{job:?}: {error}"))?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // The end of its stdin is the order to end; everything it started goes with it.
        drop(self.hears.take());
        let _ = self.child.wait();
    }
}
