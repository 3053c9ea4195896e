//! What a probe found, for people and for programs.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use closedbook_agents::{Choice, Table};
use closedbook_audit::offer::{How, Judgement, Offered, Reach, Weight};
use serde_json::{Value, json};

use super::contacts::Contact;
use super::start::Start;
use crate::output::harmless;

/// How many hosts are shown to people.
const HOSTS: usize = 50;
/// How many lines of a CLI's output are shown when it asked no model.
const LAST_LINES: usize = 5;

/// A probe that is over.
pub(super) struct Probed<'a> {
    pub(super) table: &'a Table,
    pub(super) choice: Choice<'a>,
    /// The version that was probed, where it is known.
    pub(super) version: Option<String>,
    /// That it is not the row's.
    pub(super) other: Option<String>,
    pub(super) starts: Vec<Start>,
    pub(super) judgement: Judgement,
}

impl Probed<'_> {
    /// For people.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String can't fail.
        let _ = self.write(&mut out);
        out
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        json!({
            "schema": 1,
            "agent": self.choice.row().name,
            "pinned": self.choice.usable().version,
            "version": self.version,
            "other_version": self.other,
            "table": { "version": self.table.version(), "digest": self.table.digest() },
            "provider": self.choice.provider().name,
            "verdict": verdict(self.judgement.weight()),
            "findings": self.judgement.findings,
            "starts": self.starts.iter().map(|start| self.start(start)).collect::<Vec<_>>(),
        })
    }

    fn start(&self, start: &Start) -> Value {
        let hosts = start.contacts.iter().map(|contact| {
            json!({
                "host": contact.host, "allowed": contact.allowed, "refused": contact.refused,
                "expected": self.expected(contact).word(),
            })
        });
        let web = start.offer.web().map(|(tool, reach)| json!({ "name": tool.name, "reach": reach }));
        json!({
            "name": start.name,
            "switches": start.set,
            "switches_not_set": start.not_set,
            "exit_code": start.ended.code,
            "timed_out": start.timed_out,
            "seconds": (start.ended.took.as_secs_f64() * 10.0).round() / 10.0,
            "offer": start.offer,
            "web": web.collect::<Vec<_>>(),
            "hosts": hosts.collect::<Vec<_>>(),
            "last_lines": if start.offer.turns == 0 { start.ended.last_lines(LAST_LINES) } else { Vec::new() },
        })
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        let (row, usable) = (self.choice.row(), self.choice.usable());
        let version = self.version.as_deref().unwrap_or("of an unknown version");
        writeln!(
            out,
            "{} {version}, agent table {} (pin {})",
            row.name,
            self.table.version(),
            usable.version
        )?;
        if let Some(other) = &self.other {
            writeln!(out, "  {other}: what is found here says nothing of that version")?;
        }
        for start in &self.starts {
            self.write_start(out, start)?;
        }
        self.write_hosts(out)?;
        writeln!(out)?;
        for finding in &self.judgement.findings {
            let word = match finding.weight {
                Weight::Failure => "FAILURE",
                Weight::Unknown => "unknown",
                Weight::Remark => "remark",
            };
            let tool =
                finding.tool.as_deref().map_or_else(String::new, |tool| format!("{}: ", harmless(tool)));
            writeln!(out, "{word:<8} {tool}{}", harmless(&finding.text))?;
        }
        match self.judgement.weight() {
            Weight::Failure => writeln!(out, "fail: a web tool is offered although the switches are set"),
            Weight::Unknown => writeln!(out, "inconclusive: nobody can say that no web tool is offered"),
            Weight::Remark => writeln!(out, "pass: with the switches set, no web tool is offered"),
        }
    }

    fn write_start(&self, out: &mut String, start: &Start) -> fmt::Result {
        let Start { title, set, not_set, ended, offer, .. } = start;
        let took = ended.took.as_secs_f64();
        let end = match (start.timed_out, ended.code) {
            (true, _) => "was ended for want of time".to_owned(),
            (false, Some(0)) => "ended well".to_owned(),
            (false, code) => format!("ended with code {}", code.unwrap_or(-1)),
        };
        writeln!(out, "\n{title}: {end} after {took:.1} s")?;
        for switch in set {
            writeln!(out, "  set      {}", harmless(switch))?;
        }
        for switch in not_set {
            writeln!(out, "  not set  {} (a file of the machine)", harmless(switch))?;
        }
        let models: Vec<_> = offer.models.iter().map(|model| harmless(model)).collect();
        let models = if models.is_empty() { "no model".to_owned() } else { models.join(", ") };
        writeln!(out, "  asked    {models}, {} time{}", offer.turns, plural(offer.turns))?;
        let is_tool = |tool: &&Offered| !matches!(tool.how, How::Request | How::ByItself | How::Mentioned);
        let names: BTreeSet<&str> =
            offer.tools.iter().filter(is_tool).map(|tool| tool.name.as_str()).collect();
        writeln!(out, "  offered  {} tool{}", names.len(), plural(names.len()))?;
        let mut none = true;
        for (tool, reach) in offer.web() {
            none = false;
            writeln!(out, "  web      {:<24} {}{}", harmless(&tool.name), how(tool), reach_words(reach))?;
        }
        if none && offer.turns > 0 {
            writeln!(out, "  web      none")?;
        }
        if offer.turns == 0 {
            for line in ended.last_lines(LAST_LINES) {
                writeln!(out, "  | {line}")?;
            }
        }
        Ok(())
    }

    fn write_hosts(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "\nhosts asked for")?;
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let all =
            self.starts.iter().flat_map(|start| &start.contacts).filter(|contact| seen.insert(&contact.host));
        let all: Vec<&Contact> = all.collect();
        for contact in all.iter().take(HOSTS) {
            let what = if contact.refused == 0 { "allowed" } else { "refused" };
            writeln!(out, "  {what}  {:<40} {}", harmless(&contact.host), self.expected(contact))?;
        }
        if let Some(more @ 1..) = all.len().checked_sub(HOSTS) {
            writeln!(out, "  and {more} more")?;
        }
        Ok(())
    }

    fn expected(&self, contact: &Contact) -> Expected<'_> {
        let is = |host: &closedbook_agents::Host| host.as_str() == contact.host;
        if self.choice.provider().hosts.iter().any(is) {
            return Expected::Model;
        }
        if contact.host == super::BAIT {
            return Expected::Bait;
        }
        let optional = self.choice.usable().optional.iter().find(|needed| is(&needed.host));
        optional.map_or(Expected::Unlisted, |needed| Expected::Optional(&needed.purpose))
    }
}

/// Whether a host is one of the row's.
enum Expected<'a> {
    /// The model's.
    Model,
    /// One that the row says is asked for and can be done without.
    Optional(&'a str),
    /// What only the prompt named.
    Bait,
    /// None of these.
    Unlisted,
}

impl Expected<'_> {
    fn word(&self) -> &'static str {
        match self {
            Expected::Model => "model",
            Expected::Optional(_) => "optional",
            Expected::Bait => "prompt",
            Expected::Unlisted => "unlisted",
        }
    }
}

impl fmt::Display for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Model => f.write_str("the model's"),
            Expected::Optional(purpose) => write!(f, "optional: {purpose}"),
            Expected::Bait => f.write_str("named in the prompt alone"),
            Expected::Unlisted => f.write_str("not in the row"),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn how(tool: &Offered) -> String {
    match tool.request {
        Some(number) if tool.how != How::Listed => format!("{}, request {number}", tool.how.words()),
        _ => tool.how.words().to_owned(),
    }
}

fn reach_words(reach: Reach) -> &'static str {
    match reach {
        Reach::Provider => " (runs at the provider)",
        Reach::Unknown => " (nobody knows how far it reaches)",
        Reach::Web | Reach::Local => "",
    }
}

fn verdict(weight: Weight) -> &'static str {
    match weight {
        Weight::Failure => "fail",
        Weight::Unknown => "inconclusive",
        Weight::Remark => "pass",
    }
}
