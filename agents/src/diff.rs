//! What another version of the table newly allows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use crate::choice::{Ask, Judge};
use crate::row::{AuthMode, Row};
use crate::table::Table;

/// What changed from one table to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// The version before.
    pub from: u32,
    /// The version after.
    pub to: u32,
    /// The agents that changed, by name.
    pub agents: BTreeMap<String, AgentChange>,
}

/// What changed of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentChange {
    /// Its status before and after; `absent` where there is no row.
    pub status: Option<(String, String)>,
    /// Its version before and after.
    pub version: Option<(String, String)>,
    /// Hosts that a phase newly permits: what a reader of a diff must look at.
    pub allows: Vec<HostChange>,
    /// Hosts that a phase permits no more.
    pub allows_no_more: Vec<HostChange>,
    /// Web tools that are new in the row, gone from it, or whose switches changed.
    pub tools: Vec<String>,
    /// Whatever else differs, by the name of the field.
    pub other: Vec<String>,
}

/// A host in one phase of one policy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HostChange {
    /// The provider.
    pub provider: String,
    /// The login.
    pub auth: AuthMode,
    /// The phase.
    pub phase: &'static str,
    /// The host.
    pub host: String,
}

impl Diff {
    /// What changed.
    pub fn between(old: &Table, new: &Table) -> Self {
        let names: BTreeSet<&str> = old.rows().chain(new.rows()).map(|row| row.name.as_str()).collect();
        let agents = names
            .into_iter()
            .map(|name| (name.to_owned(), change(name, old, new)))
            .filter(|(_, change)| *change != AgentChange::default())
            .collect();
        Self { from: old.version(), to: new.version(), agents }
    }

    /// Whether any policy permits a host that it did not.
    pub fn widens(&self) -> bool {
        self.agents.values().any(|change| !change.allows.is_empty())
    }
}

fn change(name: &str, old: &Table, new: &Table) -> AgentChange {
    let (before, after) = (old.row(name), new.row(name));
    let (hosts_before, hosts_after) = (hosts(name, old), hosts(name, new));
    let status = |row: Option<&Row>| row.map_or("absent", Row::status).to_owned();
    let version = |row: Option<&Row>| {
        row.and_then(Row::usable).map_or_else(|| "none".to_owned(), |usable| usable.version.to_string())
    };
    AgentChange {
        status: differing(status(before), status(after)),
        version: differing(version(before), version(after)),
        allows: hosts_after.difference(&hosts_before).cloned().collect(),
        allows_no_more: hosts_before.difference(&hosts_after).cloned().collect(),
        tools: tools(before, after),
        other: match (before, after) {
            (Some(before), Some(after)) => other(before, after),
            _ => Vec::new(),
        },
    }
}

fn differing(before: String, after: String) -> Option<(String, String)> {
    (before != after).then_some((before, after))
}

/// Every host of every policy that the table makes for the agent.
fn hosts(agent: &str, table: &Table) -> BTreeSet<HostChange> {
    let mut all = BTreeSet::new();
    for auth in AuthMode::ALL {
        for provider in table.providers() {
            let ask = Ask { agent, provider: Some(&provider.name), auth: Some(auth), version: None };
            let Ok(choice) = table.choose(&ask) else { continue };
            let verifier = choice.verifier_hosts(Judge::Usual).unwrap_or_default();
            let phases = [
                ("setup", choice.setup_hosts().collect::<Vec<_>>()),
                ("agent", choice.agent_hosts().iter().collect()),
                ("verifier", verifier.iter().collect()),
            ];
            for (phase, hosts) in phases {
                let change = |host: &crate::Host| HostChange {
                    provider: provider.name.clone(),
                    auth,
                    phase,
                    host: host.to_string(),
                };
                all.extend(hosts.into_iter().map(change));
            }
        }
    }
    all
}

fn tools(before: Option<&Row>, after: Option<&Row>) -> Vec<String> {
    let of = |row: Option<&Row>| -> BTreeMap<String, String> {
        let usable = row.and_then(Row::usable);
        let tools = usable.map(|usable| usable.tools.as_slice()).unwrap_or_default();
        tools
            .iter()
            .map(|tool| (tool.name.clone(), serde_json::to_string(tool).unwrap_or_default()))
            .collect()
    };
    let (before, after) = (of(before), of(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let word = |name: &String| match (before.get(name), after.get(name)) {
        (None, Some(_)) => Some(format!("new: {name}")),
        (Some(_), None) => Some(format!("gone: {name}")),
        (old, new) if old != new => Some(format!("changed: {name}")),
        _ => None,
    };
    names.into_iter().filter_map(word).collect()
}

/// The fields that differ and are not told otherwise.
fn other(before: &Row, after: &Row) -> Vec<String> {
    const TOLD: [&str; 5] = ["status", "version", "tools", "auth", "setup"];
    let fields = |row: &Row| -> BTreeMap<String, serde_json::Value> {
        let mut all = BTreeMap::new();
        if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(row) {
            for (key, value) in fields {
                match value {
                    serde_json::Value::Object(inner) if key == "standing" => all.extend(inner),
                    value => drop(all.insert(key, value)),
                }
            }
        }
        all
    };
    let (before, after) = (fields(before), fields(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differs = |name: &&String| !TOLD.contains(&name.as_str()) && before.get(*name) != after.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}

/// For people, and for the changelog: Markdown, what is newly allowed first.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## Version {} (from {})", self.to, self.from)?;
        if self.agents.is_empty() {
            return writeln!(f, "\nNothing that a policy or a check depends on.");
        }
        for (name, change) in &self.agents {
            writeln!(f, "\n### {name}\n")?;
            let AgentChange { status, version, allows, allows_no_more, tools, other } = change;
            for (what, pair) in [("status", status), ("version", version)] {
                if let Some((before, after)) = pair {
                    writeln!(f, "- {what}: {before} -> {after}")?;
                }
            }
            for (what, hosts) in [("newly allowed", allows), ("allowed no more", allows_no_more)] {
                for (host, places) in by_host(hosts) {
                    writeln!(f, "- {what}: `{host}` ({places})")?;
                }
            }
            if !tools.is_empty() {
                writeln!(f, "- web tools: {}", tools.join(", "))?;
            }
            if !other.is_empty() {
                writeln!(f, "- also changed: {}", other.join(", "))?;
            }
        }
        Ok(())
    }
}

/// One line a host, since most hosts change for all providers at once.
fn by_host(changes: &[HostChange]) -> BTreeMap<&str, String> {
    let mut all: BTreeMap<&str, BTreeMap<&str, BTreeSet<String>>> = BTreeMap::new();
    for HostChange { provider, auth, phase, host } in changes {
        all.entry(host).or_default().entry(phase).or_default().insert(format!("{provider} {auth}"));
    }
    let line = |phases: BTreeMap<&str, BTreeSet<String>>| {
        let one = |(phase, who): (&str, BTreeSet<String>)| {
            format!("{phase}: {}", who.into_iter().collect::<Vec<_>>().join(", "))
        };
        phases.into_iter().map(one).collect::<Vec<_>>().join("; ")
    };
    all.into_iter().map(|(host, phases)| (host, line(phases))).collect()
}

#[cfg(test)]
mod tests;
