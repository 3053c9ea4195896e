//! What a policy permits that an agent can use to reach more than it names.
//!
//! None of this is refused: the operator may have reasons. `policy check` lists it, so that a list which is too wide
//! is not taken for a closed book.

use std::fmt;
use std::net::IpAddr;

use crate::{Carries, Cidr, Entry, LOCKDOWN, Name, Pattern, Phase, Policy, PrivateAddresses, Target};

mod hosts;

/// One thing to think about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// What kind of thing it is.
    pub concern: Concern,
    /// The field: `phase.agent`, `route`, `resolve.private`.
    pub field: String,
    /// The entry, route or value.
    pub subject: String,
    /// What exactly, for people.
    pub detail: String,
}

macro_rules! concerns {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal, $why:literal;)+) => {
        /// The closed list of concerns. Each has one stable word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Concern {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Concern {
            /// All of them.
            pub const ALL: &'static [Concern] = &[$(Concern::$variant),+];

            /// The stable word.
            pub fn word(self) -> &'static str {
                match self { $(Concern::$variant => $word),+ }
            }

            /// Why it matters, in one sentence.
            pub fn why(self) -> &'static str {
                match self { $(Concern::$variant => $why),+ }
            }
        }
    };
}

concerns! {
    /// A host of code repositories, outside `setup`.
    CodeHost = "channel-code-host", "repositories hold the benchmark and its answers, and anyone can write to them";
    /// A package registry, outside `setup`.
    PackageRegistry = "channel-package-registry", "packages can hold answers, and anyone can publish one";
    /// An object store or file host shared by strangers.
    SharedStorage = "channel-shared-storage", "anyone can put files there under the same name";
    /// A content delivery network, hosting platform or tunnel shared by strangers.
    SharedHosting = "channel-cdn-wildcard", "anyone can run a server behind this name";
    /// A telemetry service.
    Telemetry = "channel-telemetry", "anyone with a key can write there and read it back";
    /// A host that fetches other hosts for its clients, or searches them.
    Redirector = "channel-redirector", "it fetches or searches other hosts for whoever asks";
    /// A public DNS resolver that answers over HTTPS.
    DnsOverHttps = "channel-doh", "it resolves any name, and a question is a message to whoever owns the name";
    /// A wildcard.
    Wildcard = "channel-wildcard", "it permits names that nobody has looked at; exact names are safer";
    /// A wide block of addresses.
    WideBlock = "channel-wide-block", "it permits every server in the block, whoever runs it";
    /// Very many ports.
    ManyPorts = "channel-any-port", "it permits services on the host that nobody has looked at";
    /// A `tcp://` entry.
    RawTcp = "channel-raw-tcp", "what it carries is not looked at: any protocol passes, tunnels too";
    /// The agent's phase permits what the setup does not.
    WidePhase = "channel-wide-phase", "an agent seldom needs a host that its installation did not";
    /// Permitted names may lead to private addresses.
    PrivateNetwork = "channel-private-network", "whoever runs the DNS of a permitted name can point it at your network";
    /// A route from a name that no phase permits.
    UnusedRoute = "route-unused", "it has no effect, so it may be a slip of the pen";
}

impl Policy {
    /// Everything to think about, in the order of the phases and their entries.
    pub fn advice(&self) -> Vec<Advice> {
        let phases = self.phases().filter(|phase| phase.name() != LOCKDOWN);
        let mut advice: Vec<Advice> = phases.flat_map(|phase| of_phase(phase)).collect();
        advice.extend(wide_agent(self));
        if self.private_addresses() == PrivateAddresses::Allow {
            let detail = "every permitted name may lead to a private address".to_owned();
            advice.push(Advice::new(Concern::PrivateNetwork, "resolve.private", "allow", detail));
        }
        let permitted = |name: &Name| self.phases().any(|phase| phase.resolves(name).is_some());
        let unused = self.routes().filter(|(from, _)| !permitted(from));
        advice.extend(unused.map(|(from, to)| {
            let detail = format!("no phase permits {from}, so nothing is dialled at {to}");
            Advice::new(Concern::UnusedRoute, "route", from.as_str(), detail)
        }));
        advice
    }
}

impl Advice {
    fn new(concern: Concern, field: &str, subject: &str, detail: String) -> Self {
        Self { concern, field: field.to_owned(), subject: subject.to_owned(), detail }
    }
}

fn of_phase(phase: &Phase) -> Vec<Advice> {
    let field = format!("phase.{}", phase.name());
    let entries = phase.entries().iter();
    entries
        .flat_map(|entry| {
            let found = of_entry(entry, phase.name());
            found.into_iter().map(|(concern, detail)| Advice::new(concern, &field, entry.as_str(), detail))
        })
        .collect()
}

fn of_entry(entry: &Entry, phase: &str) -> Vec<(Concern, String)> {
    let mut found = match entry.target() {
        Target::Names(pattern) => of_names(pattern, phase),
        Target::Addresses(block) => of_addresses(block),
    };
    if entry.carries() == Carries::Tcp {
        found.push((Concern::RawTcp, "any protocol passes".to_owned()));
    }
    let ports: usize = entry.ports().ranges().map(|range| range.len()).sum();
    if ports > MANY_PORTS {
        found.push((Concern::ManyPorts, format!("{ports} ports are open")));
    }
    found
}

/// Generous: a range of ports for one service is seldom wider.
const MANY_PORTS: usize = 1000;

fn of_names(pattern: &Pattern, phase: &str) -> Vec<(Concern, String)> {
    let during_setup =
        |concern| phase == "setup" && matches!(concern, Concern::CodeHost | Concern::PackageRegistry);
    let mut found: Vec<(Concern, String)> = Vec::new();
    for (concern, host) in hosts::behind(pattern) {
        if !during_setup(concern) && found.iter().all(|(known, _)| *known != concern) {
            found.push((concern, format!("{} {host}", hosts::relation(pattern, &host))));
        }
    }
    // Said already, and more to the point, by a concern about what is behind the wildcard.
    if found.is_empty()
        && let Pattern::Below(suffix) = pattern
    {
        found.push((Concern::Wildcard, format!("every name below {suffix} is permitted")));
    }
    found
}

fn of_addresses(block: &Cidr) -> Vec<(Concern, String)> {
    // The sizes that one owner usually has as a whole.
    let narrowest_wide = if block.address().is_ipv4() { 24 } else { 64 };
    let mut found = Vec::new();
    if block.length() < narrowest_wide {
        found.push((Concern::WideBlock, format!("the block is wider than a /{narrowest_wide}")));
    }
    let resolvers = hosts::RESOLVERS.iter().filter_map(|text| text.parse::<IpAddr>().ok());
    if let Some(address) = resolvers.into_iter().find(|address| block.contains(*address)) {
        found.push((Concern::DnsOverHttps, format!("{address} is a public resolver")));
    }
    found
}

fn wide_agent(policy: &Policy) -> Option<Advice> {
    let (setup, agent) = (policy.phase("setup")?, policy.phase("agent")?);
    let widening = agent.widens(setup)?.to_string();
    let detail = "the agent's phase permits it, the setup phase does not".to_owned();
    Some(Advice::new(Concern::WidePhase, "phase.agent", &widening, detail))
}

impl fmt::Display for Concern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} {:?}: {}; {}",
            self.concern,
            self.field,
            self.subject,
            self.detail,
            self.concern.why()
        )
    }
}

#[cfg(test)]
mod tests;
