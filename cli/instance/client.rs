//! A conversation with a running closedbook, by JSON-RPC.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::exit::Failure;

/// How long an answer is waited for. A switch of phase waits until everything is cut.
const PATIENCE: Duration = Duration::from_secs(30);

/// The other end answers here.
#[derive(Debug)]
pub(crate) struct Client {
    lines: BufReader<UnixStream>,
    asked: u64,
}

/// What comes without having been asked for.
#[derive(Debug)]
pub(crate) enum Notice {
    /// A record of the decision log.
    Record(Value),
    /// So many records came too fast.
    Missed(u64),
}

impl Client {
    /// Connects to the socket at this path.
    pub(crate) fn connect(path: &Path) -> io::Result<Self> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self { lines: BufReader::new(stream), asked: 0 })
    }

    /// Calls a method.
    pub(crate) fn call<T: DeserializeOwned>(&mut self, method: &str, params: Value) -> Result<T, Failure> {
        let result = self.call_for_json(method, params)?;
        serde_json::from_value(result).map_err(|error| not_understood(&error))
    }

    /// Calls a method whose result is passed on as it is.
    pub(crate) fn call_for_json(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.asked += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.lines.get_mut().write_all(format!("{request}\n").as_bytes()).map_err(|error| gone(&error))?;
        let mut answer = self.hear()?.ok_or_else(|| gone(&"it closed the connection"))?;
        match answer.get_mut("error").map(Value::take) {
            Some(error) => Err(refusal(&error)),
            None => Ok(answer.get_mut("result").map(Value::take).unwrap_or_default()),
        }
    }

    /// Waits for the next notice, for as long as it takes; none when the other end is gone.
    pub(crate) fn notice(&mut self) -> Result<Option<Notice>, Failure> {
        self.lines.get_ref().set_read_timeout(None).map_err(|error| gone(&error))?;
        while let Some(mut line) = self.hear()? {
            let params = line.get_mut("params").map(Value::take).unwrap_or_default();
            match line.get("method").and_then(Value::as_str) {
                Some("log.record") => return Ok(Some(Notice::Record(params))),
                Some("log.missed") => {
                    return Ok(Some(Notice::Missed(
                        params.get("records").and_then(Value::as_u64).unwrap_or(0),
                    )));
                }
                // A newer closedbook may have more to tell.
                _ => {}
            }
        }
        Ok(None)
    }

    fn hear(&mut self) -> Result<Option<Value>, Failure> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_str(&line).map(Some).map_err(|error| not_understood(&error)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(None),
            Err(error) => Err(gone(&error)),
        }
    }
}

fn refusal(error: &Value) -> Failure {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("it gave no reason").to_owned();
    let text = |path| error.pointer(path).and_then(Value::as_str);
    match (text("/data/word"), text("/data/why")) {
        (Some("widening-refused"), Some("not-asked")) => {
            Failure::refused(message).remedy("add --widen if that is meant")
        }
        (Some("widening-refused"), Some("inside-agent")) => {
            Failure::refused(message).remedy("switch to another phase, or start the run with --widen free")
        }
        (Some("widening-refused"), _) => {
            Failure::refused(message).remedy("start the run with --widen flag, if that is what you want")
        }
        (Some("unknown-phase" | "invalid-params" | "invalid-policy" | "phase-missing"), _) => {
            Failure::usage(message)
        }
        (Some("unknown-method"), _) => {
            Failure::refused(message).remedy("use the same version of closedbook as the run does")
        }
        _ => Failure::refused(message),
    }
}

fn gone(why: &dyn std::fmt::Display) -> Failure {
    Failure::refused(format!("the running closedbook does not answer: {why}"))
}

fn not_understood(error: &serde_json::Error) -> Failure {
    Failure::refused(format!("the running closedbook can't be understood: {error}"))
        .remedy("use the same version of closedbook as the run does")
}
