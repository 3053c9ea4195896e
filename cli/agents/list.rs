//! `closedbook agents list`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use closedbook_agents::{Row, Standing, Table};
use serde_json::json;

use crate::exit::Failure;
use crate::flags::agent::TableFlag;
use crate::output::{print, print_json};

#[derive(Args)]
pub(super) struct List {
    #[command(flatten)]
    table: TableFlag,
    /// Print JSON: the whole table
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let table = self.table.load()?;
        if self.json {
            let whole: serde_json::Value = serde_json::from_str(table.to_json())
                .map_err(|error| Failure::bug(format!("the table's own JSON: {error}")))?;
            print_json(&json!({ "schema": 1, "digest": table.digest(), "table": whole }))?;
        } else {
            print(&text(&table))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn text(table: &Table) -> String {
    let mut out =
        format!("agent table {} of {}, digest {}\n\n", table.version(), table.date(), table.digest());
    // Writing to a String can't fail.
    let _ = rows(&mut out, table);
    out
}

fn rows(out: &mut String, table: &Table) -> std::fmt::Result {
    writeln!(out, "{:<16} {:<12} {:<10} {:<18} PROVIDERS", "AGENT", "STATUS", "VERSION", "LOGIN")?;
    for row in table.rows() {
        let Some(usable) = row.usable() else { continue };
        let logins: Vec<&str> = usable.auth.keys().map(|auth| auth.word()).collect();
        let mut providers: Vec<&str> =
            usable.auth.values().flat_map(|login| &login.providers).map(String::as_str).collect();
        providers.sort_unstable();
        providers.dedup();
        let (name, status, version) = (&row.name, row.status(), usable.version.as_str());
        writeln!(
            out,
            "{name:<16} {status:<12} {version:<10} {:<18} {}",
            logins.join(" "),
            providers.join(" ")
        )?;
    }
    writeln!(out, "\nconditional:")?;
    each(out, table, |row| match &row.standing {
        Standing::Conditional { condition, .. } => Some(format!("only if {}", condition.text)),
        Standing::Supported(_) | Standing::Refused { .. } => None,
    })?;
    writeln!(out, "\nrefused:")?;
    each(out, table, |row| match &row.standing {
        Standing::Refused { reason } => Some(reason.clone()),
        Standing::Supported(_) | Standing::Conditional { .. } => None,
    })
}

fn each(out: &mut String, table: &Table, line: impl Fn(&Row) -> Option<String>) -> std::fmt::Result {
    for (row, line) in table.rows().filter_map(|row| Some((row, line(row)?))) {
        writeln!(out, "  {:<16} {line}", row.name)?;
    }
    Ok(())
}
