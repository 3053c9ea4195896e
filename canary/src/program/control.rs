//! Following the sidecar itself, by its control socket (JSON-RPC 2.0, a line each).

use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::run::Progress;
use crate::engine::session::Steps;

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(50);

/// Waits for a phase by asking.
pub(super) struct FollowControl {
    path: PathBuf,
    wait: Duration,
    progress: Progress,
}

impl FollowControl {
    /// At this socket, for so many seconds a phase.
    pub(super) fn new(path: PathBuf, seconds: u64, progress: Progress) -> Self {
        Self { path, wait: Duration::from_secs(seconds), progress }
    }

    fn phase(&self) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", self.path.display());
        let mut stream = UnixStream::connect(&self.path).map_err(failed)?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).map_err(failed)?;
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "phase.get", "params": {} });
        stream.write_all(format!("{question}\n").as_bytes()).map_err(failed)?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).map_err(failed)?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let name = answer.pointer("/result/name").and_then(Value::as_str);
        name.map(str::to_owned).ok_or_else(|| format!("the sidecar does not name its phase: {}", line.trim()))
    }
}

impl Steps for FollowControl {
    fn to(&mut self, phase: &str) -> Result<(), String> {
        let end = Instant::now() + self.wait;
        loop {
            let now = self.phase()?;
            if now == phase {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(format!("it is still {now} after {} s", self.wait.as_secs()));
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn kill(&mut self) -> Result<(), String> {
        Err("a sidecar is not asked to be killed".to_owned())
    }

    fn progress(&mut self, phase: &str, over: usize, all: usize) {
        self.progress.say(phase, over, all);
    }
}
