//! `closedbook status`: what a running closedbook is doing.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use closedbook_sidecar::control::report;
use serde_json::json;

use crate::exit::Failure;
use crate::instance::Target;
use crate::output::{print, print_json};

/// Show what a running closedbook is doing.
///
/// Exits 1 if something is degraded.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print JSON.
    #[arg(long)]
    json: bool,

    /// Print its metrics instead, as OpenMetrics text.
    #[arg(long, conflicts_with = "json")]
    metrics: bool,

    #[command(flatten)]
    target: Target,
}

impl Status {
    /// Does it.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let mut client = self.target.connect()?;
        if self.metrics {
            let metrics: report::Metrics = client.call("metrics", json!({}))?;
            print(&metrics.text)?;
            return Ok(ExitCode::SUCCESS);
        }
        let json = client.call_for_json("status", json!({}))?;
        let status: report::Status = serde_json::from_value(json.clone())
            .map_err(|error| Failure::refused(format!("the answer can't be understood: {error}")))?;
        if self.json {
            print_json(&json)?;
        } else {
            let mut text = String::new();
            // Writing to a String can't fail.
            let _ = write_text(&mut text, &status);
            print(&text)?;
        }
        Ok(ExitCode::from(u8::from(!status.degraded.is_empty())))
    }
}

fn write_text(out: &mut String, status: &report::Status) -> std::fmt::Result {
    writeln!(out, "phase     {} (epoch {}, since {})", status.phase, status.epoch, status.since)?;
    let table = status.table.map(|version| format!(", agent table {version}")).unwrap_or_default();
    match &status.policy_name {
        Some(name) => writeln!(out, "policy    {name} {}{table}", status.policy)?,
        None => writeln!(out, "policy    {}{table}", status.policy)?,
    }
    writeln!(out, "widening  {}", status.widen)?;
    let uptime = Duration::from_secs(status.uptime_ms / 1000);
    writeln!(out, "running   {uptime:?}, {}, version {}", status.topology, status.version)?;
    let report::Counters { allowed, denied, cut, unrecorded, bytes_up, bytes_down, reasons } =
        &status.counters;
    writeln!(out, "flows     {} now; {allowed} allowed, {denied} denied, {cut} cut so far", status.flows)?;
    let report::Load { connections, hellos, dials, descriptors, memory, .. } = &status.load;
    let of = |spent: &report::Spent| format!("{} of {}", spent.now, spent.most);
    let (connections, hellos, dials) = (of(connections), of(hellos), of(dials));
    writeln!(out, "load      connections {connections}, hellos {hellos}, dials {dials}")?;
    writeln!(out, "          descriptors {}, {} KiB of memory", of(descriptors), memory / 1024)?;
    writeln!(out, "bytes     {bytes_up} up, {bytes_down} down")?;
    for (reason, times) in reasons {
        writeln!(out, "            {reason} {times}")?;
    }
    if *unrecorded > 0 {
        writeln!(out, "            {unrecorded} that could not be recorded")?;
    }
    for change in &status.history {
        write_change(out, change)?;
    }
    if status.degraded.is_empty() {
        return writeln!(out, "health    ok");
    }
    for trouble in &status.degraded {
        writeln!(out, "DEGRADED  {}: {}", trouble.word, trouble.detail)?;
    }
    Ok(())
}

fn write_change(out: &mut String, change: &report::Change) -> std::fmt::Result {
    let report::Change { ts, from, to, widens, refused, cut, .. } = change;
    write!(out, "switch    {ts} {from} -> {to}: ")?;
    let widens = widens.as_deref().unwrap_or_default();
    match refused {
        Some(why) => writeln!(out, "refused ({why}), would permit {widens}"),
        None if widens.is_empty() => writeln!(out, "{cut} cut"),
        None => writeln!(out, "{cut} cut, permits {widens}"),
    }
}
