//! The command line of the canary: the same for the static program and for `closedbook canary`.

mod aim;
mod control;
mod gate;
mod helper;
mod input;
mod list;
mod plan;
mod report;
mod run;
mod verify;
mod worker;

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, Parser, Subcommand};

/// Tries every practical way out from inside a trial.
#[derive(Debug, Parser)]
#[command(name = "closedbook-canary", version, propagate_version = true, subcommand_required = true)]
struct Program {
    #[command(flatten)]
    arguments: CanaryArgs,
}

/// Try every practical way out of a trial from inside it, and judge what was seen.
#[derive(Debug, Args)]
pub struct CanaryArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(Box<plan::Plan>),
    Run(Box<run::Run>),
    List(list::List),
    Verify(Box<verify::Verify>),
    Gate(Box<gate::Gate>),
    Report(Box<report::Show>),
    /// Carries out an order that comes on standard input.
    #[command(hide = true)]
    Worker,
    /// Takes steps that come on standard input, for a worker that must not take them itself.
    #[command(hide = true)]
    Helper,
}

/// Why a command ends without having done what was asked.
#[derive(Debug)]
pub(crate) struct Stop {
    code: u8,
    what: String,
    remedy: Option<String>,
}

/// The static program.
pub fn main() -> ExitCode {
    match Program::try_parse() {
        Ok(program) => run(program.arguments, &[]),
        Err(error) => {
            // A closed terminal is no reason for another exit code.
            let _ = error.print();
            ExitCode::from(if error.use_stderr() { 2 } else { 0 })
        }
    }
}

/// Does what was asked. `words` lead to this command line from that of the program that is running: none for the static
/// program, `canary` for `closedbook canary`.
pub fn run(arguments: CanaryArgs, words: &[&str]) -> ExitCode {
    let ended = match arguments.command {
        Command::Plan(plan) => plan.run(),
        Command::Run(run) => run.run(&run::again(words)),
        Command::List(list) => list.run(),
        Command::Verify(verify) => verify.run(),
        Command::Gate(gate) => gate.run(),
        Command::Report(report) => report.run(),
        Command::Worker => Ok(worker::run()),
        Command::Helper => Ok(helper::run()),
    };
    ended.unwrap_or_else(|stop| {
        let name = if words.is_empty() { "closedbook-canary" } else { "closedbook" };
        eprintln!("{name}: {}", stop.what);
        if let Some(remedy) = &stop.remedy {
            eprintln!("  remedy: {remedy}");
        }
        ExitCode::from(stop.code)
    })
}

impl Stop {
    /// The user asked for something that can't be.
    pub(crate) fn usage(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code: 2, what: what.into(), remedy: Some(remedy.into()) }
    }

    /// It was read, and is not to be believed.
    pub(crate) fn refused(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { code: 1, what: what.into(), remedy: Some(remedy.into()) }
    }

    /// It can't be told: never a pass.
    pub(crate) fn inconclusive(what: impl Into<String>) -> Self {
        Self { code: 3, what: what.into(), remedy: None }
    }
}

/// An error and its sources on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

/// On standard output. Whoever closes it has seen enough.
pub(crate) fn print(text: &str) -> Result<(), Stop> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Stop::inconclusive(format!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The time, RFC 3339, UTC. Only a year beyond 9999 can't be written.
fn now() -> String {
    use time::format_description::well_known::Rfc3339;
    time::OffsetDateTime::from(SystemTime::now()).format(&Rfc3339).unwrap_or_default()
}
