//! `canary list`: every probe there is.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::{Stop, print};
use crate::probe::{Group, Moment, Need, Probe};

/// Describe every probe: what leaks, how it is tried, what is expected, where it was reported.
#[derive(Debug, Args)]
pub(super) struct List {
    /// Only this group: allow, tls, http, proto, dns, udp, l4, ip6, priv, life, local, client.
    #[arg(long, value_name = "GROUP", value_parser = group)]
    group: Option<Group>,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    /// Does it.
    pub(super) fn run(self) -> Result<ExitCode, Stop> {
        let probes: Vec<&Probe> =
            crate::catalogue().filter(|probe| self.group.is_none_or(|group| probe.group == group)).collect();
        if self.json {
            let all: Vec<_> = probes.iter().map(|probe| told(probe)).collect();
            print(&format!(
                "{}\n",
                json!({ "schema": 1, "canary": env!("CARGO_PKG_VERSION"), "probes": all })
            ))?;
        } else {
            let all: Vec<String> = probes.iter().map(|probe| shown(probe)).collect();
            print(&all.join("\n"))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn shown(probe: &Probe) -> String {
    let levels: Vec<&str> = probe.levels.iter().map(|level| level.word()).collect();
    let needs: Vec<String> = probe.needs.iter().map(|need| word(*need)).collect();
    let mut text = format!("{}\n", probe.id);
    for (what, content) in [
        ("leak", probe.leak.to_owned()),
        ("how", probe.how.to_owned()),
        ("expected", probe.expected.to_owned()),
        ("when", when(probe.moment).to_owned()),
        ("as", levels.join(", ")),
        ("needs", needs.join(", ")),
        ("source", probe.sources.join("; ")),
    ] {
        if !content.is_empty() {
            // Writing to a String can't fail.
            let _ = writeln!(text, "  {what:9} {content}");
        }
    }
    text
}

fn told(probe: &Probe) -> serde_json::Value {
    json!({
        "id": probe.id,
        "group": probe.group,
        "leak": probe.leak,
        "how": probe.how,
        "expected": probe.expected,
        "sources": probe.sources,
        "needs": probe.needs,
        "moment": probe.moment,
        "levels": probe.levels,
        "within": probe.within.as_secs(),
    })
}

/// The word that JSON has for it.
fn word(need: Need) -> String {
    serde_json::to_value(need).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn when(moment: Moment) -> &'static str {
    match moment {
        Moment::Phase => "in each phase",
        Moment::Switch => "across a switch of phase",
        Moment::Crash => "after the sidecar was killed",
    }
}

fn group(text: &str) -> Result<Group, String> {
    let found = Group::ALL.into_iter().find(|group| group.word() == text);
    found.ok_or_else(|| {
        let words: Vec<&str> = Group::ALL.iter().map(|group| group.word()).collect();
        format!("there is no such group; there are {}", words.join(", "))
    })
}
