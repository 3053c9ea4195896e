//! The socket of a running lab: a line asks, a line of JSON answers.
//!
//! | line | answer |
//! |---|---|
//! | `arrivals` | all that arrived, as the witness's file has it |
//! | `settle` | true once all packets and datagrams that came before are in `arrivals` |
//! | `reset` | true; arrivals are forgotten |
//! | `tape` | what models were asked, as a [`Recording`] |
//! | `lost` | arrivals that are not in `arrivals` |
//! | `hosts` | names and addresses |
//! | `ca` | the certificate, PEM |
//! | `proof NONCE` | what the lab answers to this nonce |
//! | `fault HOST KIND`, `fault HOST off` | true |
//! | `stop` | true; the connection closes when the lab has gone |
//!
//! A line that is not understood is answered with `{"error": "..."}`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream as BlockingStream;
use std::path::Path;
use std::sync::Arc;

use closedbook_policy::Name;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader as AsyncReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::lab::Running;
use crate::room::Place;
use crate::{Arrival, LabError, Recording};

/// Longest line that is read.
const LONGEST: u64 = 4096;

/// A conversation with a running lab.
#[derive(Debug)]
pub struct Control {
    lines: BufReader<BlockingStream>,
}

impl Control {
    /// Connects to the lab of this directory.
    pub fn connect(place: &Place) -> Result<Self, LabError> {
        let path = place.control();
        match BlockingStream::connect(&path) {
            Ok(stream) => Ok(Self { lines: BufReader::new(stream) }),
            Err(source) => Err(LabError::File { action: "connect to", path, source }),
        }
    }

    /// Asks one line; what it may be stands at the head of this file.
    pub fn ask(&mut self, line: &str) -> Result<Value, LabError> {
        let unreadable = |error: std::io::Error| LabError::Answer(error.to_string());
        self.lines.get_mut().write_all(format!("{line}\n").as_bytes()).map_err(unreadable)?;
        let mut answer = String::new();
        self.lines.read_line(&mut answer).map_err(unreadable)?;
        let answer: Value =
            serde_json::from_str(&answer).map_err(|error| LabError::Answer(error.to_string()))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(LabError::Answer(error.to_owned())),
            None => Ok(answer),
        }
    }

    /// What arrived so far: waits for packets and datagrams that are under way. A TCP connection is seen by its first
    /// segment; what it brought is written down before it is answered, so who has had no answer may have to ask again.
    pub fn arrivals(&mut self) -> Result<Vec<Arrival>, LabError> {
        if self.ask("settle")? != Value::Bool(true) {
            return Err(LabError::Answer("the witness did not settle".to_owned()));
        }
        serde_json::from_value(self.ask("arrivals")?).map_err(|error| LabError::Answer(error.to_string()))
    }

    /// What models were asked so far.
    pub fn recording(&mut self) -> Result<Recording, LabError> {
        serde_json::from_value(self.ask("tape")?).map_err(|error| LabError::Answer(error.to_string()))
    }

    /// Ends the lab, and waits until it has gone.
    pub fn stop(mut self) -> Result<(), LabError> {
        self.ask("stop")?;
        self.until_gone();
        Ok(())
    }

    /// Waits until the lab has gone, for whatever reason.
    pub fn until_gone(mut self) {
        // The end of the stream, or a reset: either way there is nobody on the other side.
        let _ = std::io::copy(&mut self.lines, &mut std::io::sink());
    }
}

/// Listens until the handle is aborted. Conversations end with the process.
pub(crate) fn serve(
    path: &Path,
    running: Arc<Running>,
    stop: Arc<Notify>,
) -> Result<JoinHandle<()>, LabError> {
    let listener = UnixListener::bind(path).map_err(|source| LabError::File {
        action: "create",
        path: path.to_owned(),
        source,
    })?;
    Ok(tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                crate::tcp::pause().await;
                continue;
            };
            let running = running.clone();
            let stop = stop.clone();
            // Whoever hangs up has had enough.
            tokio::spawn(async move { converse(stream, &running, &stop).await });
        }
    }))
}

async fn converse(stream: UnixStream, running: &Running, stop: &Notify) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = AsyncReader::new(read);
    loop {
        let mut line = String::new();
        if (&mut lines).take(LONGEST).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let answer = answer(line.trim_end(), running).await.unwrap_or_else(|error| json!({ "error": error }));
        write.write_all(format!("{answer}\n").as_bytes()).await?;
        if line.trim_end() == "stop" {
            stop.notify_one();
            // The process takes the connection with it.
            std::future::pending::<()>().await;
        }
    }
}

async fn answer(line: &str, running: &Running) -> Result<Value, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let written = |value: serde_json::Result<Value>| value.map_err(|error| error.to_string());
    match words.as_slice() {
        ["arrivals"] => written(serde_json::to_value(running.witness().arrivals())),
        ["settle"] => Ok(running.settle().await.into()),
        ["reset"] => {
            running.witness().reset();
            Ok(true.into())
        }
        ["tape"] => written(serde_json::to_value(running.recording())),
        ["lost"] => Ok(running.witness().lost().into()),
        ["hosts"] => written(serde_json::to_value(running.world().hosts())),
        ["ca"] => Ok(running.ca_pem().into()),
        ["proof", nonce] => Ok(running.witness().proof(nonce).into()),
        ["fault", host, kind] => {
            let host = Name::parse(host).map_err(|error| error.to_string())?;
            let fault = match *kind {
                "off" => None,
                kind => Some(kind.parse().map_err(|error: crate::UnknownFault| error.to_string())?),
            };
            running.faults().set(&host, fault);
            Ok(true.into())
        }
        ["stop"] => Ok(true.into()),
        _ => Err(format!("not understood: {line}")),
    }
}
