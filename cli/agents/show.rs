//! `closedbook agents show`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use closedbook_agents::{Ask, Needed, Refused, Row, Runs, Standing, Table, Usable};
use serde_json::json;

use crate::exit::Failure;
use crate::flags::agent::TableFlag;
use crate::output::{print, print_json};

#[derive(Args)]
pub(super) struct Show {
    /// The agent's name
    #[arg(value_name = "NAME")]
    agent_name: String,
    #[command(flatten)]
    table: TableFlag,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let table = self.table.load()?;
        let row = row(&table, &self.agent_name)?;
        if self.json {
            print_json(
                &json!({ "schema": 1, "table": table.version(), "digest": table.digest(), "agent": row }),
            )?;
        } else {
            let mut out = String::new();
            // Writing to a String can't fail.
            let _ = text(&mut out, &table, row);
            print(&out)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The row of this name, refused ones too: they are there to be read.
pub(super) fn row<'a>(table: &'a Table, name: &str) -> Result<&'a Row, Failure> {
    table.row(name).ok_or_else(|| {
        let refused = table.choose(&Ask { agent: name, ..Ask::default() }).err();
        Failure::refused(refused.as_ref().map(Refused::to_string).unwrap_or_default())
    })
}

fn text(out: &mut String, table: &Table, row: &Row) -> std::fmt::Result {
    writeln!(out, "{} ({}): {}", row.title, row.name, row.status())?;
    match &row.standing {
        Standing::Refused { reason } => writeln!(out, "  because {reason}")?,
        Standing::Conditional { condition, .. } => {
            writeln!(out, "  only if  {}\n  to check {}", condition.text, condition.check)?;
        }
        Standing::Supported(_) => {}
    }
    if let Some(usable) = row.usable() {
        run(out, table, usable)?;
        tools(out, usable)?;
    }
    for found in &row.disagreements {
        writeln!(out, "\nsources disagree about {}", found.about)?;
        for (source, says) in &found.says {
            writeln!(out, "  {source}: {says}")?;
        }
        writeln!(out, "  the row: {}", found.row)?;
    }
    for note in &row.notes {
        writeln!(out, "\nnote: {note}")?;
    }
    writeln!(out, "\nsources")?;
    for (name, source) in row.sources.iter().filter_map(|name| Some((name, table.source(name)?))) {
        let link = source.link.as_deref().unwrap_or_default();
        writeln!(out, "  {name}: {}, {} {link}", source.title, source.date)?;
    }
    Ok(())
}

fn run(out: &mut String, table: &Table, usable: &Usable) -> std::fmt::Result {
    let place = if usable.preinstalled { "in the image" } else { "installed in the setup phase" };
    writeln!(out, "\nprogram   {} {}, {}, {place}", usable.program, usable.version, usable.package)?;
    for (label, value) in &usable.labels {
        writeln!(out, "label     {label}={value}")?;
    }
    for (auth, login) in &usable.auth {
        let verified = if login.verified { "" } else { " (not verified)" };
        writeln!(out, "login     {auth}{verified}")?;
        for provider in login.providers.iter().filter_map(|name| table.provider(name)) {
            let hosts = login.hosts.as_deref().unwrap_or(&provider.hosts);
            let hosts: Vec<&str> = hosts.iter().map(|host| host.as_str()).collect();
            writeln!(out, "          {:<16} {}  key {}", provider.name, hosts.join(" "), provider.key)?;
        }
        for (what, text) in [("login", &login.login), ("token", &login.token), ("note", &login.note)] {
            if let Some(text) = text {
                writeln!(out, "          {what}: {text}")?;
            }
        }
    }
    hosts(out, "setup", &usable.setup)?;
    hosts(out, "refused", &usable.optional)?;
    if let Some(effort) = &usable.effort {
        let levels = serde_json::to_value(&effort.levels).unwrap_or_default();
        let levels: Vec<&str> =
            levels.as_array().into_iter().flatten().filter_map(|level| level.as_str()).collect();
        writeln!(out, "effort    {}: {}", effort.how, levels.join(" "))?;
        if let Some(note) = &effort.note {
            writeln!(out, "          {note}")?;
        }
    }
    Ok(())
}

fn hosts(out: &mut String, title: &str, hosts: &[Needed]) -> std::fmt::Result {
    let mut title = title;
    for Needed { host, purpose } in hosts {
        writeln!(out, "{title:<9} {:<36} {purpose}", host.as_str())?;
        title = "";
    }
    Ok(())
}

fn tools(out: &mut String, usable: &Usable) -> std::fmt::Result {
    if usable.tools.is_empty() {
        writeln!(out, "\nno web tools")?;
    }
    for tool in &usable.tools {
        let runs = match tool.runs {
            Runs::Client => "in the container",
            Runs::Provider => "at the provider, where no allowlist stops it",
            Runs::Both => "at the provider or in the container",
        };
        writeln!(out, "\nweb tool  {}, {runs}\n  does     {}", tool.name, tool.does)?;
        for switch in &tool.switches {
            writeln!(out, "  off by   {switch}")?;
        }
        writeln!(out, "  shown    {}", tool.verified)?;
    }
    if !usable.quiet.is_empty() {
        writeln!(out, "\nquieter")?;
    }
    for quiet in &usable.quiet {
        writeln!(out, "  {}  ({})", quiet.switch, quiet.does)?;
    }
    for (title, words) in [
        ("settings", &usable.config),
        ("transcripts", &usable.transcripts),
        ("proof in them", &usable.events),
    ] {
        if !words.is_empty() {
            writeln!(out, "{title}\n  {}", words.join("  "))?;
        }
    }
    Ok(())
}
