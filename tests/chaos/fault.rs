//! What can happen to a part.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::chance::Chance;
use crate::support::life::{Life, Part};
use crate::support::{Mode, as_mode, program};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// The proxy dies, and is replaced.
    Killed,
    /// A part stands still for a while.
    Stopped(Part),
    /// The proxy gets no further descriptors for a while.
    NoDescriptors,
    /// The proxy gets no further memory; that may be its end.
    NoMemory,
    /// The phase is switched.
    Switched(&'static str),
    /// Nothing happens for a moment.
    Peace,
}

impl Fault {
    pub(crate) fn any(chance: &mut Chance) -> Self {
        match chance.below(12) {
            0..3 => Self::Killed,
            3 | 4 => Self::Stopped(Part::Proxy),
            5 => Self::Stopped([Part::Supervisor, Part::Init, Part::Lab][chance.below(3) as usize]),
            6 => Self::NoDescriptors,
            7 => Self::NoMemory,
            8 | 9 => Self::Switched("agent"),
            10 => Self::Switched(["setup", "lockdown"][chance.below(2) as usize]),
            _ => Self::Peace,
        }
    }

    /// Returns when it is over, but for a proxy that may still be on its way back.
    pub(crate) fn happen(self, life: &mut Life, mode: Mode, chance: &mut Chance) {
        let moment = Duration::from_millis(chance.below(80));
        match self {
            Self::Killed => {
                wait_for(life, Part::Proxy);
                life.kill(Part::Proxy);
            }
            Self::Stopped(part) => {
                let pid = wait_for(life, part);
                // It may be replaced at this moment, and its number is still its own: nobody has waited for it.
                let _ = kill(pid, Signal::SIGSTOP);
                thread::sleep(moment);
                let _ = kill(pid, Signal::SIGCONT);
            }
            Self::NoDescriptors => {
                let pid = wait_for(life, Part::Proxy);
                let open = fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count);
                limited(pid, "nofile", &(open + 1).to_string(), moment);
            }
            Self::NoMemory => {
                let pid = wait_for(life, Part::Proxy);
                limited(pid, "as", "1", moment);
            }
            Self::Switched(phase) => switch(life, mode, phase),
            Self::Peace => {}
        }
        thread::sleep(moment);
    }
}

fn wait_for(life: &mut Life, part: Part) -> Pid {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        life.look();
        if let Some(pid) = life.part(part) {
            return Pid::from_raw(pid.try_into().unwrap());
        }
        assert!(Instant::now() < deadline, "no {part:?}");
        thread::yield_now();
    }
}

/// A soft limit, for a moment.
fn limited(pid: Pid, resource: &str, limit: &str, moment: Duration) {
    let prlimit = || {
        let mut command = Command::new("prlimit");
        // The process may be gone.
        command.args(["--pid", &pid.to_string()]).stderr(Stdio::null());
        command
    };
    let before =
        prlimit().args([&format!("--{resource}"), "--noheadings", "--output=SOFT"]).output().unwrap();
    let before = String::from_utf8(before.stdout).unwrap();
    let set = |limit: &str| prlimit().arg(format!("--{resource}={limit}:")).status().unwrap();
    set(limit);
    thread::sleep(moment);
    set(before.trim());
}

/// Without a proxy nobody answers, and the phase stays: both are fine.
fn switch(life: &Life, mode: Mode, phase: &str) {
    let mut command = as_mode(mode, true);
    command.arg(format!("XDG_RUNTIME_DIR={}", life.folder("runtime").display()));
    command.args([program(), "phase", phase, "--widen", "--name", "chaos"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0..=2 | 70)), "{output:?}");
}
