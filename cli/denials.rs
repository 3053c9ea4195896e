//! `closedbook denials`: what was refused, summed, and what would permit it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use closedbook_sidecar::control::report::{self, Concern};
use serde_json::json;

use crate::exit::Failure;
use crate::instance::Target;
use crate::output::{harmless, print, print_json};

/// Show what a running closedbook has refused, and the policy line that would permit each.
///
/// Hosts that would open more than they look like are marked, and why they should stay refused.
#[derive(Debug, Args)]
pub(crate) struct Denials {
    /// Print JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

impl Denials {
    /// Does it.
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        let mut client = self.target.connect()?;
        if self.json {
            print_json(&client.call_for_json("denials.summary", json!({}))?)?;
        } else {
            print(&text(&client.call("denials.summary", json!({}))?))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What is said about one name and one reason.
#[derive(Default)]
struct Sum {
    times: u64,
    entries: Vec<String>,
    concerns: Vec<Concern>,
}

fn text(denials: &report::Denials) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_text(&mut text, denials);
    text
}

fn write_text(out: &mut String, denials: &report::Denials) -> std::fmt::Result {
    if denials.denials.is_empty() {
        return writeln!(out, "nothing was refused");
    }
    let mut sums: BTreeMap<(&str, &str), Sum> = BTreeMap::new();
    for denial in &denials.denials {
        let sum = sums.entry((&denial.host, &denial.reason)).or_default();
        sum.times += denial.times;
        if let Some(entry) = &denial.entry
            && !sum.entries.contains(entry)
        {
            sum.entries.push(entry.clone());
        }
        let news = denial.concerns.iter().filter(|concern| !sum.concerns.contains(concern));
        let news: Vec<Concern> = news.cloned().collect();
        sum.concerns.extend(news);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.times));
    for ((host, reason), sum) in sums {
        writeln!(out, "{:>6}  {}  {reason}", sum.times, harmless(host))?;
        for entry in &sum.entries {
            writeln!(out, "          phase.{}: allow = [\"{entry}\"]", denials.phase)?;
        }
        for concern in &sum.concerns {
            writeln!(out, "          better not: {}; {} ({})", concern.detail, concern.why, concern.id)?;
        }
    }
    if denials.more > 0 {
        writeln!(out, "{:>6}  of more hosts than could be told apart", denials.more)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial(host: &str, port: u16, reason: &str, times: u64, entry: Option<&str>) -> report::Denial {
        report::Denial {
            host: host.into(),
            port: Some(port),
            kind: "tls".into(),
            reason: reason.into(),
            times,
            entry: entry.map(Into::into),
            concerns: Vec::new(),
        }
    }

    #[test]
    fn sums_by_name_and_reason() {
        let concern = Concern { id: "channel-x".into(), detail: "it is".into(), why: "so".into() };
        let mut github = denial("github.com", 443, "name-not-allowed", 4, Some("github.com"));
        github.concerns.push(concern);
        let denials = report::Denials {
            phase: "agent".into(),
            denials: vec![
                denial("a.example", 443, "name-not-allowed", 2, Some("a.example")),
                denial("a.example", 80, "name-not-allowed", 1, Some("a.example")),
                github,
                denial("b.example", 443, "ech-refused", 1, None),
            ],
            more: 0,
        };
        assert_eq!(
            text(&denials),
            "     4  github.com  name-not-allowed
          phase.agent: allow = [\"github.com\"]
          better not: it is; so (channel-x)
     3  a.example  name-not-allowed
          phase.agent: allow = [\"a.example\"]
     1  b.example  ech-refused
"
        );
    }
}
