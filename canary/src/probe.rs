//! What a probe is: one technique, with everything that can be said of it before it is tried.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::trial::Trial;

/// One technique.
pub struct Probe {
    /// Its stable name: the group, and the technique.
    pub id: &'static str,
    /// The group.
    pub group: Group,
    /// What leaks where it works.
    pub leak: &'static str,
    /// How it is tried.
    pub how: &'static str,
    /// What is seen where the book is closed.
    pub expected: &'static str,
    /// Where it was reported or specified.
    pub sources: &'static [Source],
    /// What must be there for it to be tried.
    pub needs: &'static [Need],
    /// When.
    pub moment: Moment,
    /// As whom.
    pub levels: &'static [Level],
    /// After which it is given up, and inconclusive.
    pub within: Duration,
    /// Tries it.
    pub run: fn(&mut Trial<'_>),
}

/// Where a technique was reported or specified: a short text, with a URL or an RFC where there is one.
pub type Source = &'static str;

/// As whom a probe is tried, where it makes no difference to choose: both.
pub(crate) const BOTH: &[Level] = &[Level::Agent, Level::Root];

/// Time enough for a probe whose tries end within [`crate::wire::PATIENCE`] each.
pub(crate) const USUAL: Duration = Duration::from_secs(15);

/// Groups of techniques, by what a filter has to understand to stop them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// What must work: the permitted hosts.
    Allow,
    /// The TLS name layer.
    Tls,
    /// Plain HTTP.
    Http,
    /// Other protocols over TCP.
    Proto,
    /// DNS.
    Dns,
    /// UDP.
    Udp,
    /// ICMP, raw and packet sockets, other protocols over IP, and tricks of the transport layer.
    L4,
    /// IPv6.
    Ip6,
    /// Privileges and namespaces.
    Priv,
    /// Phases, starts and ends.
    Life,
    /// What is near: the sidecar itself, neighbours, the host.
    Local,
    /// Ordinary clients, where the image has them.
    Client,
}

/// The privilege that a probe is tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The agent's user, without capabilities.
    Agent,
    /// uid 0 with what the container's bounding set leaves.
    Root,
}

/// When a probe is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// In each phase.
    Phase,
    /// Across a switch of phase: begun in the first, looked at in the second.
    Switch,
    /// After the sidecar was killed; only where a harness does that.
    Crash,
}

/// What must be there for a probe to be tried. What is missing is named in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// The phase permits a host by name, on port 443.
    PermittedTls,
    /// The phase permits a host by name, on port 80.
    PermittedHttp,
    /// The phase permits two hosts by name, on port 80.
    TwoPermittedHttp,
    /// Permitted hosts that are the operator's own, and prove their answers in the clear.
    OwnHosts,
    /// A witness that answers: a documentation address is no substitute.
    Witness,
    /// A zone whose authoritative server is the witness.
    WitnessZone,
    /// The kernel speaks IPv6, and the namespace has an address or a route for it.
    Ipv6,
    /// The kernel has IPv6 at all.
    Ipv6Kernel,
    /// The first phase permits a host that the second does not.
    SetupOnlyHost,
    /// The first phase permits a host on port 80 that the second does not.
    SetupOnlyHttp,
    /// The phase permits no host at all.
    NothingPermitted,
    /// A harness that switches the phase while the canary watches.
    Switches,
    /// A harness that kills the sidecar while the canary watches.
    Kills,
    /// The policy has a wildcard entry in this phase.
    Wildcard,
    /// curl, in the image.
    Curl,
    /// Python 3, in the image.
    Python,
}

impl Need {
    /// What a reader is told is missing.
    pub fn missing(self) -> &'static str {
        match self {
            Need::PermittedTls => "the phase permits no host by name on port 443",
            Need::PermittedHttp => "the phase permits no host by name on port 80",
            Need::TwoPermittedHttp => "the phase does not permit two hosts by name on port 80",
            Need::OwnHosts => {
                "the permitted hosts are not the operator's own, and prove no answer in the clear (--lab)"
            }
            Need::Witness => "there is no witness (--witness, --lab)",
            Need::WitnessZone => "there is no zone whose name server is the witness (--witness-zone, --lab)",
            Need::Ipv6 => "the namespace has no IPv6 address and no route",
            Need::Ipv6Kernel => "the kernel has no IPv6",
            Need::SetupOnlyHost => "no host is permitted in the first phase alone",
            Need::SetupOnlyHttp => "no host is permitted on port 80 in the first phase alone",
            Need::NothingPermitted => "the phase permits something",
            Need::Switches => "nobody switches the phase while the canary runs",
            Need::Kills => "nobody kills the sidecar while the canary runs",
            Need::Wildcard => "the phase has no wildcard entry",
            Need::Curl => "the image has no curl",
            Need::Python => "the image has no Python 3",
        }
    }
}

impl Group {
    /// All of them, in the order of reports.
    pub const ALL: [Group; 12] = [
        Group::Allow,
        Group::Tls,
        Group::Http,
        Group::Proto,
        Group::Dns,
        Group::Udp,
        Group::L4,
        Group::Ip6,
        Group::Priv,
        Group::Life,
        Group::Local,
        Group::Client,
    ];

    /// Its name, which starts the ids of its probes.
    pub fn word(self) -> &'static str {
        match self {
            Group::Allow => "allow",
            Group::Tls => "tls",
            Group::Http => "http",
            Group::Proto => "proto",
            Group::Dns => "dns",
            Group::Udp => "udp",
            Group::L4 => "l4",
            Group::Ip6 => "ip6",
            Group::Priv => "priv",
            Group::Life => "life",
            Group::Local => "local",
            Group::Client => "client",
        }
    }
}

impl Level {
    /// Both.
    pub const ALL: [Level; 2] = [Level::Agent, Level::Root];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Level::Agent => "agent",
            Level::Root => "root",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Probe({})", self.id)
    }
}
