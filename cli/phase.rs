//! `closedbook phase`: which phase is in force, and another instead.

use std::process::ExitCode;

use clap::Args;
use closedbook_sidecar::control::report;
use serde_json::json;

use crate::exit::Failure;
use crate::instance::Target;
use crate::output::{harmless, print, print_json};

/// Show the phase of a running closedbook, or switch it.
///
/// A switch is complete when this returns: what the new phase does not permit is cut, and not a byte of it passes any
/// more. What it still permits goes on undisturbed.
#[derive(Debug, Args)]
pub(crate) struct Phase {
    /// The phase to switch to; `lockdown` always exists and permits nothing. Without it, the phase is shown.
    #[arg(value_name = "PHASE")]
    phase: Option<String>,

    /// Permit what was not permitted before.
    #[arg(long, requires = "phase")]
    widen: bool,

    /// Cut every flow, also those that the new phase permits.
    #[arg(long, requires = "phase")]
    cut_all: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

impl Phase {
    /// Does it.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let mut client = self.target.connect()?;
        let (method, params) = match &self.phase {
            None => ("phase.get", json!({})),
            Some(name) => {
                let cut = if self.cut_all { "all" } else { "refused" };
                ("phase.set", json!({ "name": name, "widen": self.widen, "cut": cut }))
            }
        };
        if self.json {
            print_json(&client.call_for_json(method, params)?)?;
        } else if self.phase.is_some() {
            print(&switched(&client.call(method, params)?))?;
        } else {
            print(&shown(&client.call(method, params)?))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn shown(phase: &report::Phase) -> String {
    let mut text = format!("{} (epoch {}, since {})\n", phase.name, phase.epoch, phase.since);
    if phase.allow.is_empty() {
        text.push_str("  nothing is permitted\n");
    }
    for entry in &phase.allow {
        text.push_str(&format!("  {entry}\n"));
    }
    text.push_str(&format!("phases: {}\n", phase.phases.join(", ")));
    text
}

fn switched(switched: &report::Switched) -> String {
    let report::Switched { phase, epoch, widened, cut, kept, .. } = switched;
    let mut text = format!("{phase} (epoch {epoch}): {} cut, {kept} go on\n", flows(cut.total));
    if let Some(widened) = widened {
        text.push_str(&format!("  permits more than before: {widened}\n"));
    }
    for host in &cut.hosts {
        let port = host.port.map_or_else(String::new, |port| format!(":{port}"));
        text.push_str(&format!("  cut {}{port} ({}, {})\n", harmless(&host.host), host.kind, host.flows));
    }
    text
}

fn flows(count: usize) -> String {
    match count {
        1 => "1 flow".to_owned(),
        count => format!("{count} flows"),
    }
}
