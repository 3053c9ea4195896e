//! What should be allowed: a policy, or a row of the agent table.

use std::net::IpAddr;

use closedbook_agents::{Choice, Host, Judge, Refused};
use closedbook_policy::{self as policy, LOCKDOWN, Name, Pattern, Policy, Target};

/// What each phase should permit, and what is expected to be asked for and refused.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    /// Where it is from, for people: a file, `row claude-code`.
    pub origin: String,
    /// The digest of the policy that it makes.
    pub digest: Option<String>,
    /// The phases.
    pub phases: Vec<Phase>,
    /// Hosts that are asked for and may stay refused: telemetry, update checks.
    pub optional: Vec<Entry>,
}

/// One phase.
#[derive(Debug, Clone)]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// What it permits.
    pub entries: Vec<Entry>,
}

/// An entry of an allow list, and where it is from.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The entry.
    pub entry: policy::Entry,
    /// Why it is there: `row claude-code, setup`.
    pub origin: String,
}

impl Allowed {
    /// What a policy permits.
    pub fn of_policy(origin: &str, policy: &Policy) -> Self {
        let phase = |phase: &std::sync::Arc<policy::Phase>| Phase {
            name: phase.name().to_owned(),
            entries: phase
                .entries()
                .iter()
                .map(|entry| Entry {
                    entry: entry.clone(),
                    origin: format!("{origin}, phase.{}", phase.name()),
                })
                .collect(),
        };
        Self {
            origin: origin.to_owned(),
            digest: Some(policy.digest().to_string()),
            phases: policy.phases().filter(|one| one.name() != LOCKDOWN).map(phase).collect(),
            optional: Vec::new(),
        }
    }

    /// What a row of the agent table permits, with this provider and login. Its optional hosts are expected to be refused.
    ///
    /// # Errors
    ///
    /// If the judge is no provider of the table.
    pub fn of_choice(choice: &Choice<'_>, judge: Judge<'_>) -> Result<Self, Refused> {
        let origin = format!("row {}", choice.row().name);
        let entry = |phase: &str, host: &Host| {
            let entry = policy::Entry::parse(host.as_str()).ok()?;
            Some(Entry { entry, origin: format!("{origin}, {phase}") })
        };
        let phase = |name: &str, hosts: &[&Host]| Phase {
            name: name.to_owned(),
            entries: hosts.iter().filter_map(|host| entry(name, host)).collect(),
        };
        let (setup, agent) =
            (choice.setup_hosts().collect::<Vec<_>>(), choice.agent_hosts().iter().collect::<Vec<_>>());
        let verifier: Vec<&Host> = choice.verifier_hosts(judge)?.iter().collect();
        let optional =
            choice.usable().optional.iter().filter_map(|needed| entry("optional", &needed.host)).collect();
        let digest = choice.policy(judge)?.ok().map(|policy| policy.digest().to_string());
        let phases = vec![phase("setup", &setup), phase("agent", &agent), phase("verifier", &verifier)];
        Ok(Self { origin, digest, phases, optional })
    }

    /// The phase of this name. `lockdown` permits nothing, whoever asks.
    pub(super) fn phase(&self, name: &str) -> Option<&[Entry]> {
        if name == LOCKDOWN {
            return Some(&[]);
        }
        self.phases.iter().find(|phase| phase.name == name).map(|phase| phase.entries.as_slice())
    }

    pub(super) fn is_optional(&self, host: &str) -> bool {
        self.optional.iter().any(|entry| names(&entry.entry, host))
    }
}

/// Whether the entry names this host, a name or an address, on whatever port.
pub(super) fn names(entry: &policy::Entry, host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => entry.names_address(address),
        Err(_) => Name::parse(host).is_ok_and(|name| entry.names(&name)),
    }
}

/// Whether the entry stands for more than one host.
pub(super) fn is_wide(entry: &policy::Entry) -> bool {
    match entry.target() {
        Target::Names(Pattern::Below(_)) => true,
        Target::Names(Pattern::Exact(_)) => false,
        Target::Addresses(block) => block.length() < if block.address().is_ipv6() { 128 } else { 32 },
    }
}
