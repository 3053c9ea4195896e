//! `closedbook agents diff`.

use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use closedbook_agents::{Diff, History, Table};
use serde_json::json;

use crate::exit::Failure;
use crate::flags::agent;
use crate::output::{print, print_json};

#[derive(Args)]
pub(super) struct DiffOf {
    /// The older table: a version, or a file [default: the one before the built-in]
    old: Option<String>,
    /// The newer table: a version, or a file [default: the built-in]
    new: Option<String>,
    /// Print the changelog: every version, newest first
    #[arg(long, conflicts_with_all = ["old", "new", "strict", "json"])]
    changelog: bool,
    /// Exit 1 if the newer table lets any policy reach a host that it could not reach
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl DiffOf {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let history =
            History::embedded().map_err(|fault| Failure::bug(format!("the tables' history: {fault}")))?;
        if self.changelog {
            print(&history.changelog())?;
            return Ok(ExitCode::SUCCESS);
        }
        let latest = history.tables().last().map_or(0, Table::version);
        let old = find(&history, self.old.as_deref(), latest.saturating_sub(1))?;
        let new = find(&history, self.new.as_deref(), latest)?;
        let diff = Diff::between(&old, &new);
        if self.json {
            print_json(&json!({ "schema": 1, "widens": diff.widens(), "diff": diff }))?;
        } else {
            print(&diff.to_string())?;
        }
        Ok(ExitCode::from(u8::from(self.strict && diff.widens())))
    }
}

fn find(history: &History, given: Option<&str>, usual: u32) -> Result<Table, Failure> {
    let version = match given {
        None => usual,
        Some(given) => match given.parse() {
            Ok(version) => version,
            Err(_) => return agent::table(Path::new(given)),
        },
    };
    history.version(version).cloned().ok_or_else(|| {
        let known: Vec<String> = history.tables().iter().map(|table| table.version().to_string()).collect();
        Failure::refused(format!("there is no table of version {version}"))
            .remedy(format!("versions: {}; or name a file", known.join(", ")))
    })
}
