//! `closedbook lab`: the fake internet.

use std::io::Write;
use std::process::ExitCode;

use clap::Subcommand;
use closedbook_lab::{Fault, LabError, LabName, Plan, World};
use closedbook_policy::Name;

use crate::exit::{Failure, chain};

mod down;
mod exec;
mod hosts;
mod load;
mod signals;
mod up;

/// The name of the lab that is meant when none is named.
const DEFAULT: &str = "default";

/// A fake internet with no way out: names, TLS, HTTP and a witness that sees whatever arrives.
#[derive(Subcommand)]
pub(crate) enum Lab {
    /// Start a lab, and keep it up until Ctrl-C or `lab down`.
    Up(up::Up),
    /// Run a command in a lab: a running one, or one that lives as long as the command.
    Exec(exec::Exec),
    /// List the names a lab knows.
    Hosts(hosts::Hosts),
    /// End a running lab.
    Down(down::Down),
    /// Make a bounded number of requests and measure them.
    Load(load::Load),
}

impl Lab {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Lab::Up(up) => up.run(),
            Lab::Exec(exec) => exec.run(),
            Lab::Hosts(hosts) => hosts.run(),
            Lab::Down(down) => down.run(),
            Lab::Load(load) => load.run(),
        }
    }
}

/// What a new lab is to be.
#[derive(clap::Args)]
struct Shape {
    /// One more name that the lab knows. May be given several times.
    #[arg(long, value_name = "NAME", value_parser = host)]
    host: Vec<Name>,
    /// What goes wrong with a host: `reset`, `silent`, `slow=SECONDS`, `status=CODE`, `half-close`, `huge`,
    /// `wrong-name`, `expired`, `not-yet`, `dns-missing`, `dns-failure`, `dns-silence`. May be given several times.
    #[arg(long, value_name = "HOST=KIND", value_parser = fault)]
    fault: Vec<(Name, Fault)>,
}

impl Shape {
    fn plan(self, name: LabName) -> Plan {
        let world = self.host.into_iter().fold(World::new(), World::with_host);
        Plan { name, world, faults: self.fault }
    }
}

/// The lab of this name, or the one that is meant when none is named.
fn named(name: Option<&str>) -> Result<LabName, Failure> {
    LabName::parse(name.unwrap_or(DEFAULT)).map_err(failure)
}

fn host(text: &str) -> Result<Name, String> {
    Name::parse_unicode(text).map_err(|error| error.to_string())
}

fn fault(text: &str) -> Result<(Name, Fault), String> {
    let (name, kind) = text.split_once('=').ok_or("expected HOST=KIND")?;
    let kind = kind.parse().map_err(|error: closedbook_lab::UnknownFault| error.to_string())?;
    Ok((host(name)?, kind))
}

/// Who can do something about an error of the lab.
fn failure(error: LabError) -> Failure {
    let text = format!("the lab: {}", chain(&error));
    match error {
        LabError::Named(_) => Failure::usage(text),
        LabError::Absent(_) => Failure::refused(text).remedy("start one with `closedbook lab up`"),
        LabError::Running(_) => {
            Failure::refused(text).remedy("end it with `closedbook lab down`, or give another --name")
        }
        LabError::Exposed(_) => Failure::refused(text).remedy("remove it, or set XDG_RUNTIME_DIR"),
        LabError::Fork(_) | LabError::IdMap(_) | LabError::IdMaps(_) | LabError::Namespace(_) => Failure::host(text)
            .remedy("the lab needs user namespaces: as root, or with `sysctl user.max_user_namespaces` above 0 and no \
                     AppArmor or seccomp rule against unshare(2)"),
        LabError::Mount(_) | LabError::Inside(_) | LabError::Routes(_) => Failure::host(text),
        _ => Failure::refused(text),
    }
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no failure.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
