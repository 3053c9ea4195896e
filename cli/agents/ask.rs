//! Asking a program for its version, sealed: a CLI may call home even to say who it is.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use crate::child::Ended;
use crate::exit::Failure;

/// JavaScript CLIs take seconds on a busy machine; one that takes longer waits for something that won't come.
const LONGEST: Duration = Duration::from_secs(60);

/// Runs `PROGRAM --version` with no host allowed; `None` if there is no such program.
pub(super) fn version(program: &OsStr) -> Result<Option<Ended>, Failure> {
    let own =
        std::env::current_exe().map_err(|error| Failure::host(format!("can't find myself: {error}")))?;
    let shown = program.to_string_lossy();
    let mut command = Command::new(own);
    command.args(["run", "--quiet", "--"]).arg(program).arg("--version");
    let ended = Ended::of(&mut command, LONGEST)
        .map_err(|error| Failure::host(format!("can't start {shown}: {error}")))?;
    match ended.code {
        _ if ended.killed => {
            Err(Failure::refused(format!("{shown} --version has not ended after {LONGEST:?}")))
        }
        Some(127) => Ok(None),
        // closedbook's own: the host lacks something, or a fault.
        Some(code @ (4 | 70)) if ended.stderr.starts_with("closedbook: ") => Err(Failure::host(format!(
            "{shown} can't be asked for its version sealed (exit {code}): {}",
            ended.stderr.trim().trim_start_matches("closedbook: ")
        ))),
        _ => Ok(Some(ended)),
    }
}
