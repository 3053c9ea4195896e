//! The control socket itself, so that no time goes into starting a program.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::Result;

pub(crate) struct Control(BufReader<UnixStream>);

/// A switch that has been answered.
pub(crate) struct Switched {
    /// From asking to the answer.
    pub(crate) took: Duration,
    /// When the answer was there.
    pub(crate) at: SystemTime,
    /// How many connections it cut, and how many it left.
    pub(crate) cut: u64,
    pub(crate) kept: u64,
}

impl Control {
    pub(crate) fn connect(path: &Path) -> Result<Self> {
        Ok(Self(BufReader::new(UnixStream::connect(path)?)))
    }

    pub(crate) fn switch(&mut self, phase: &str) -> Result<Switched> {
        let params = json!({ "name": phase, "widen": true });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "phase.set", "params": params });
        let line = format!("{request}\n");
        let asked = Instant::now();
        self.0.get_mut().write_all(line.as_bytes())?;
        let mut answer = String::new();
        self.0.read_line(&mut answer)?;
        let (took, at) = (asked.elapsed(), SystemTime::now());
        let answer: Value = serde_json::from_str(&answer)?;
        let number = |path| answer.pointer(path).and_then(Value::as_u64).ok_or_else(|| answer.to_string());
        Ok(Switched { took, at, cut: number("/result/cut/total")?, kept: number("/result/kept")? })
    }
}
