//! The image's own check script, without a network, as the original runs it.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child::Ended;
use crate::exit::Failure;
use crate::output::print;

/// The image that is checked when `tdb` is asked and none is named.
pub(super) const DEFAULT: &str = "trialdesignbench-env:1.7.0";

/// How long the engine may take to look at it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs it. Its own exit code counts: what it prints goes to the user. Gives the image's digest, which tells it from another
/// of the same name.
///
/// As `tdb`, its exit code is that of the whole, as the original has it.
pub(super) fn check(image: &str, quiet: bool, as_tdb: bool) -> Result<String, Failure> {
    if image.starts_with('-') {
        return Err(Failure::usage(format!("{image:?} is no image")));
    }
    let mut command = Command::new("docker");
    command.args(["run", "--rm", "--network", "none", image, "bash", "/opt/tdb/check_env.sh"]);
    if quiet {
        command.stdout(Stdio::null());
    }
    let status = command.stdin(Stdio::null()).status().map_err(|error| {
        Failure::host(format!("the image {image} can't be checked: docker can't be started: {error}"))
            .remedy("install docker.io, or leave --image out")
    })?;
    match status.code() {
        Some(0) if quiet => digest(image),
        Some(0) => {
            print(&format!("ok {image} tools and R packages\n"))?;
            digest(image)
        }
        // What the engine itself says: it is not there, or the image is not.
        Some(125) => {
            Err(Failure::host(format!("environment check failed for {image}: the engine refuses to run it"))
                .remedy("start the engine, and build or pull the image"))
        }
        code => {
            let shown = code.map_or_else(|| "by a signal".to_owned(), |code| code.to_string());
            let what = format!("environment check failed for {image} (exit {shown})");
            match code.and_then(|code| u8::try_from(code).ok()) {
                Some(code) if as_tdb => Err(Failure::of_another(code, what)),
                _ => Err(Failure::refused(what)),
            }
        }
    }
}

fn digest(image: &str) -> Result<String, Failure> {
    let mut command = Command::new("docker");
    command.args(["image", "inspect", "--format", "{{.Id}}", image]);
    let ended = Ended::of(&mut command, PATIENCE);
    let line = ended.ok().filter(|ended| ended.code == Some(0)).and_then(|ended| {
        let line = ended.stdout.lines().next()?.trim().to_owned();
        line.starts_with("sha256:").then_some(line)
    });
    line.ok_or_else(|| Failure::host(format!("the engine does not tell the digest of {image}")))
}
