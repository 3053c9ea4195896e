//! How `inner` gives a proxy its listeners, and what the two say to each other about the self-test.
//!
//! Over a unix socket: the descriptors with one byte, then a line that says from where the self-test will come, then,
//! when it is over, a line that says how it ended. What arrives in between on the listeners is already served.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use closedbook_kernel::descriptors;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::listeners::{ListenError, Listeners};

#[cfg(test)]
mod tests;

/// How long the self-test may take before it counts as failed; it takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of a line.
const LINE: u64 = 64 * 1024;

/// What a proxy was given.
#[derive(Debug)]
pub struct Handed {
    /// What it serves.
    pub listeners: Listeners,
    /// What former proxies left.
    pub journal: Option<File>,
    /// The addresses that the self-test comes from.
    pub probes: Vec<SocketAddr>,
    /// How the self-test ends.
    pub verdict: Verdict,
}

/// The end of a self-test that is under way.
#[derive(Debug)]
pub struct Verdict(BufReader<io::Take<UnixStream>>);

/// Why nothing was handed over.
#[derive(Debug, Error)]
pub enum HandoffError {
    /// The other half is gone, or said something else.
    #[error("the inner half handed nothing over")]
    Talk(#[source] io::Error),
    /// The sockets are not what they should be.
    #[error(transparent)]
    Listeners(#[from] ListenError),
}

/// The self-test did not pass.
#[derive(Debug, Error)]
#[error("the self-test failed: {0}")]
pub struct TestFailed(String);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Probes(Vec<SocketAddr>),
    Passed,
    Failed(String),
}

/// Gives a proxy its listeners and the journal, and says where the self-test will come from.
pub(crate) fn give(
    to: &UnixStream,
    listeners: &Listeners,
    journal: &File,
    probes: Vec<SocketAddr>,
) -> io::Result<()> {
    let mut all = listeners.descriptors();
    all.push(journal.as_fd());
    descriptors::send(to, &all)?;
    say(to, &Line::Probes(probes))
}

/// Says how the self-test ended.
pub(crate) fn tell(to: &UnixStream, ended: Result<(), String>) -> io::Result<()> {
    say(to, &ended.map_or_else(Line::Failed, |()| Line::Passed))
}

/// Takes what `inner` gives, waiting for it.
pub fn take(from: UnixStream) -> Result<Handed, HandoffError> {
    let received = descriptors::receive(&from).map_err(HandoffError::Talk)?;
    let is_journal = |descriptor: &OwnedFd| descriptors::is_memory_file(descriptor);
    let (journals, sockets): (Vec<_>, Vec<_>) = received.into_iter().partition(is_journal);
    let listeners = Listeners::adopt(sockets)?;
    from.set_read_timeout(Some(PATIENCE)).map_err(HandoffError::Talk)?;
    let mut reader = BufReader::new(io::Read::take(from, 2 * LINE));
    match hear(&mut reader).map_err(HandoffError::Talk)? {
        Line::Probes(probes) => Ok(Handed {
            listeners,
            journal: journals.into_iter().next().map(File::from),
            probes,
            verdict: Verdict(reader),
        }),
        _ => Err(HandoffError::Talk(io::ErrorKind::InvalidData.into())),
    }
}

impl Verdict {
    /// Waits for it. Blocks the thread.
    pub fn wait(mut self) -> Result<(), TestFailed> {
        match hear(&mut self.0) {
            Ok(Line::Passed) => Ok(()),
            Ok(Line::Failed(why)) => Err(TestFailed(why)),
            Ok(Line::Probes(_)) => Err(TestFailed("the inner half spoke out of turn".into())),
            Err(error) => Err(TestFailed(format!("the inner half does not say how it ended: {error}"))),
        }
    }
}

fn say(mut to: &UnixStream, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    to.write_all(&text)
}

fn hear(from: &mut impl BufRead) -> io::Result<Line> {
    let mut text = String::new();
    from.read_line(&mut text)?;
    if !text.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_str(&text)?)
}
