use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};

use closedbook_lab::{Lab, LabError, LabName, Place, Room, ca_environment};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::signals::Held;
use super::{Shape, failure, named};
use crate::exit::Failure;

#[derive(clap::Args)]
pub(crate) struct Exec {
    /// Which running lab; without one, a lab is made for the command.
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    shape: Shape,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<std::ffi::OsString>,
}

impl Exec {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let held = Held::back()?;
        let name = named(self.name.as_deref())?;
        let running = match Place::find(&name) {
            Ok((place, _)) => Some((place, Room::find(&name).map_err(failure)?)),
            Err(LabError::Absent(_)) if self.name.is_none() => None,
            Err(error) => return Err(failure(error)),
        };
        match running {
            Some(_) if !self.shape.host.is_empty() || !self.shape.fault.is_empty() => Err(Failure::usage(
                "--host and --fault are for a lab that is being made; this one is running already",
            )),
            Some((place, room)) => run_in(&room, &place, &self.command, &held),
            None => {
                // Ends when this does: dropped on the way out, and bound to this process otherwise.
                let lab = Lab::start(self.shape.plan(LabName::fresh())).map_err(failure)?;
                run_in(&lab.room(), lab.place(), &self.command, &held)
            }
        }
    }
}

fn run_in(
    room: &Room,
    place: &Place,
    command: &[std::ffi::OsString],
    held: &Held,
) -> Result<ExitCode, Failure> {
    let [program, arguments @ ..] = command else { return Err(Failure::usage("there is no command")) };
    room.enter().map_err(failure)?;
    let mut command = Command::new(program);
    command.args(arguments).envs(ca_environment(&place.ca()));
    let mut child = held
        .except_during(|| command.spawn())?
        .map_err(|error| Failure::usage(format!("can't run {}: {error}", program.display())))?;
    loop {
        // First: it may have ended while nothing was held back, and its signal is gone.
        match child.try_wait() {
            Ok(Some(status)) => return Ok(code(status)),
            Ok(None) => {}
            Err(error) => return Err(Failure::bug(format!("can't wait for the command: {error}"))),
        }
        match held.next()? {
            // A child that ended: the command's, or the lab's before it.
            Signal::SIGCHLD => {}
            // The terminal sends these to the whole group, the command included.
            Signal::SIGINT | Signal::SIGQUIT => {}
            other => pass_on(&child, other),
        }
    }
}

fn pass_on(child: &Child, signal: Signal) {
    // It may have ended in this very moment.
    if let Ok(pid) = i32::try_from(child.id()) {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// As shells have it: the command's own code, or 128 and the signal's number.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(70);
    ExitCode::from(u8::try_from(code).unwrap_or(70))
}
