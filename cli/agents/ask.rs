//! Asking a program for its version, sealed: a CLI may call home even to say who it is.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::exit::Failure;

/// JavaScript CLIs take seconds on a busy machine; one that takes longer waits for something that won't come.
const LONGEST: Duration = Duration::from_secs(60);
/// What a program says that talks without end.
const MOST: u64 = 64 * 1024;

/// What a program said.
pub(super) struct Answer {
    pub(super) succeeded: bool,
    /// Both streams, standard output first.
    pub(super) said: String,
}

/// Runs `PROGRAM --version` with no host allowed; `None` if there is no such program.
pub(super) fn version(program: &OsStr) -> Result<Option<Answer>, Failure> {
    let own =
        std::env::current_exe().map_err(|error| Failure::host(format!("can't find myself: {error}")))?;
    let shown = program.to_string_lossy();
    let mut child = Command::new(own)
        .args(["run", "--quiet", "--"])
        .arg(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Failure::host(format!("can't start {shown}: {error}")))?;
    let streams = (reader(child.stdout.take()), reader(child.stderr.take()));
    let status = wait(&mut child)
        .map_err(|error| Failure::host(format!("can't wait for {shown}: {error}")))?
        .ok_or_else(|| Failure::refused(format!("{shown} --version has not ended after {LONGEST:?}")))?;
    let said = |stream: std::thread::JoinHandle<String>| stream.join().unwrap_or_default();
    let (out, err) = (said(streams.0), said(streams.1));
    match status.code() {
        Some(127) => Ok(None),
        // closedbook's own: the host lacks something, or a fault.
        Some(code @ (4 | 70)) if err.starts_with("closedbook: ") => Err(Failure::host(format!(
            "{shown} can't be asked for its version sealed (exit {code}): {}",
            err.trim().trim_start_matches("closedbook: ")
        ))),
        _ => Ok(Some(Answer { succeeded: status.success(), said: out + "\n" + &err })),
    }
}

fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut said = Vec::new();
        // What could not be read was not said.
        let _ = stream.map(|stream| stream.take(MOST).read_to_end(&mut said));
        String::from_utf8_lossy(&said).into_owned()
    })
}

fn wait(child: &mut Child) -> std::io::Result<Option<std::process::ExitStatus>> {
    let end = Instant::now() + LONGEST;
    loop {
        match child.try_wait()? {
            None if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            None => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            ended => return Ok(ended),
        }
    }
}
