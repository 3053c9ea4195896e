//! The limits, by name.

use closedbook_policy::{Reason, Refusal};

/// Which limit was reached. The word is stable: in the metric, and in the health.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Limit {
    Flows,
    Hellos,
    HelloMemory,
    DnsConnections,
    DnsRate,
    DnsNames,
    Dials,
    Descriptors,
    Log,
}

impl Limit {
    /// All, in the order of their numbers.
    pub(crate) const ALL: [Limit; 9] = [
        Limit::Flows,
        Limit::Hellos,
        Limit::HelloMemory,
        Limit::DnsConnections,
        Limit::DnsRate,
        Limit::DnsNames,
        Limit::Dials,
        Limit::Descriptors,
        Limit::Log,
    ];

    /// The stable word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Limit::Flows => "flows",
            Limit::Hellos => "hellos",
            Limit::HelloMemory => "hello-memory",
            Limit::DnsConnections => "dns-connections",
            Limit::DnsRate => "dns-rate",
            Limit::DnsNames => "dns-names",
            Limit::Dials => "dials",
            Limit::Descriptors => "descriptors",
            Limit::Log => "log",
        }
    }

    /// The stable word of the trouble that it is when it was reached.
    pub(crate) fn trouble(self) -> &'static str {
        match self {
            Limit::Flows => "limit-flows",
            Limit::Hellos => "limit-hellos",
            Limit::HelloMemory => "limit-hello-memory",
            Limit::DnsConnections => "limit-dns-connections",
            Limit::DnsRate => "limit-dns-rate",
            Limit::DnsNames => "limit-dns-names",
            Limit::Dials => "limit-dials",
            Limit::Descriptors => "limit-descriptors",
            Limit::Log => "limit-log",
        }
    }

    /// The refusal by it.
    pub(crate) fn refusal(self) -> Refusal {
        Refusal::new(Reason::Limit, self.detail())
    }

    /// What the record says.
    pub(crate) fn detail(self) -> &'static str {
        match self {
            Limit::Flows => "too many connections at once",
            Limit::Hellos => "too many connections that have not said what they want",
            Limit::HelloMemory => "unfinished hellos hold too much memory",
            Limit::DnsConnections => "too many connections of DNS over TCP",
            Limit::DnsRate => "too many DNS questions in a short time",
            Limit::DnsNames => "too many names have an address",
            Limit::Dials => "too many connections are being dialled",
            Limit::Descriptors => "out of descriptors or memory",
            Limit::Log => "the decision log can't be written",
        }
    }
}
