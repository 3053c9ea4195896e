use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitCode, ExitStatus};

use closedbook_lab::{Lab, LabError, LabName, Place, Room, ca_environment};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::signal::unix::{self, SignalKind};

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
            Some((place, room)) => run_in(&room, &place, &self.command),
            None => {
                // Ends when this does: dropped on the way out, and bound to this process otherwise.
                let lab = Lab::start(self.shape.plan(LabName::fresh())).map_err(failure)?;
                run_in(&lab.room(), lab.place(), &self.command)
            }
        }
    }
}

fn run_in(room: &Room, place: &Place, command: &[std::ffi::OsString]) -> Result<ExitCode, Failure> {
    let [program, arguments @ ..] = command else { return Err(Failure::usage("there is no command")) };
    room.enter().map_err(failure)?;
    let mut command = Command::new(program);
    command.args(arguments).envs(ca_environment(&place.ca()));
    let fault = |error| Failure::bug(format!("can't wait for signals: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(fault)?;
    runtime.block_on(async {
        // By handlers, and before the command is there: a mask would be inherited by it, a handler is not, and no signal
        // finds this program unprepared.
        let mut passed = Passed::listen().map_err(fault)?;
        let mut child = command
            .spawn()
            .map_err(|error| Failure::usage(format!("can't run {}: {error}", program.display())))?;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(code(status)),
                Ok(None) => {}
                Err(error) => return Err(Failure::bug(format!("can't wait for the command: {error}"))),
            }
            if let Some(signal) = passed.next().await {
                pass_on(&child, signal);
            }
        }
    })
}

/// Signals that would end this program, and the one that tells of a child.
struct Passed {
    terminate: unix::Signal,
    hangup: unix::Signal,
    interrupt: unix::Signal,
    quit: unix::Signal,
    child: unix::Signal,
}

impl Passed {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
            interrupt: unix::signal(SignalKind::interrupt())?,
            quit: unix::signal(SignalKind::quit())?,
            child: unix::signal(SignalKind::child())?,
        })
    }

    /// The next that is to be passed on; none when a child has ended (the command, or the lab's first process).
    ///
    /// The terminal sends SIGINT and SIGQUIT to the whole group, the command included.
    async fn next(&mut self) -> Option<Signal> {
        tokio::select! {
            _ = self.terminate.recv() => Some(Signal::SIGTERM),
            _ = self.hangup.recv() => Some(Signal::SIGHUP),
            _ = self.interrupt.recv() => None,
            _ = self.quit.recv() => None,
            _ = self.child.recv() => None,
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
