//! `closedbook policy check` and `closedbook policy digest`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use closedbook_policy::{Advice, LOCKDOWN, Policy};
use serde_json::json;

use super::file::{self, Unusable};
use crate::exit::Failure;

#[derive(Args)]
pub(super) struct Check {
    /// The policy, TOML or JSON; `-` reads standard input
    file: PathBuf,
    /// Exit 1 if there is any advice
    #[arg(long)]
    strict: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
pub(super) struct Digest {
    /// The policy, TOML or JSON; `-` reads standard input
    file: PathBuf,
    /// Print JSON, with the canonical document
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let policy = match file::load(&self.file) {
            Ok(policy) => policy,
            Err(unusable) => return Err(self.unusable(unusable)?),
        };
        let advice = policy.advice();
        if self.json {
            file::print_json(&report(&policy, &advice))?;
        } else {
            file::print(&text(&policy, &advice))?;
        }
        Ok(ExitCode::from(u8::from(self.strict && !advice.is_empty())))
    }

    /// With `--json` the faults go to standard output too: that is where a program looks for them.
    fn unusable(&self, unusable: Unusable) -> Result<Failure, Failure> {
        if self.json {
            file::print_json(&unusable.json())?;
        }
        Ok(unusable.failure(&self.file))
    }
}

impl Digest {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let policy = super::load(&self.file)?;
        if self.json {
            file::print_json(&json!({ "digest": policy.digest(), "canonical": policy.to_json() }))?;
        } else {
            file::print(&format!("{}\n", policy.digest()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn report(policy: &Policy, advice: &[Advice]) -> serde_json::Value {
    let phases: serde_json::Map<_, _> = policy
        .phases()
        .map(|phase| {
            let entries: Vec<&str> = phase.entries().iter().map(|entry| entry.as_str()).collect();
            (phase.name().to_owned(), json!(entries))
        })
        .collect();
    let advice: Vec<_> = advice
        .iter()
        .map(|advice| {
            json!({
                "id": advice.concern.word(),
                "field": advice.field,
                "subject": advice.subject,
                "detail": advice.detail,
                "why": advice.concern.why(),
            })
        })
        .collect();
    json!({
        "valid": true,
        "name": policy.name(),
        "digest": policy.digest(),
        "phases": phases,
        "advice": advice,
    })
}

fn text(policy: &Policy, advice: &[Advice]) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_text(&mut text, policy, advice);
    text
}

fn write_text(out: &mut String, policy: &Policy, advice: &[Advice]) -> std::fmt::Result {
    if let Some(name) = policy.name() {
        writeln!(out, "name      {name}")?;
    }
    writeln!(out, "digest    {}", policy.digest())?;
    for phase in policy.phases().filter(|phase| phase.name() != LOCKDOWN) {
        writeln!(out, "phase     {}", phase.name())?;
        if phase.entries().is_empty() {
            writeln!(out, "            (nothing is allowed)")?;
        }
        for entry in phase.entries() {
            writeln!(out, "            {entry}")?;
        }
    }
    for (from, to) in policy.routes() {
        writeln!(out, "route     {from} -> {to}")?;
    }
    if advice.is_empty() {
        return writeln!(out, "no advice");
    }
    writeln!(out, "\nadvice: {} to think about", advice.len())?;
    for Advice { concern, field, subject, detail } in advice {
        writeln!(out, "  {concern}  {field}: {subject}\n      {detail}; {}", concern.why())?;
    }
    Ok(())
}
