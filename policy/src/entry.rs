//! One entry of an allow list.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::cidr::Cidr;
use crate::{Name, Pattern, Ports};

mod grammar;
mod invalid;

pub use invalid::{EntryFault, InvalidEntry};

/// One entry of an allow list: hosts, ports, and what may be carried.
///
/// | text | means |
/// |---|---|
/// | `api.example.com` | that name, TLS or HTTP, ports 80 and 443 |
/// | `*.example.com:443,8000-8100` | any name below `example.com`, never `example.com` itself |
/// | `192.0.2.7`, `192.0.2.0/24:8443`, `[2001:db8::/32]:443` | those addresses, for clients that name none |
/// | `ws://api.example.com:8080` | as without `ws://`, and plain HTTP may upgrade to WebSocket |
/// | `tcp://git.example.com:22` | that name, any protocol, those ports |
///
/// Printed in its one canonical form, which [`Entry::parse`] reads back to an equal entry.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    target: Target,
    ports: Ports,
    carries: Carries,
    /// The canonical text, kept since it goes into every log record.
    text: Arc<str>,
}

/// The hosts of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// By name.
    Names(Pattern),
    /// By address.
    Addresses(Cidr),
}

/// What may be carried on a connection that an entry permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Carries {
    /// TLS, or plain HTTP.
    Web,
    /// TLS, or plain HTTP that may upgrade to WebSocket (RFC 6455).
    WebSocket,
    /// Anything, since the server speaks first; only with [`Pattern::Exact`] and explicit ports.
    Tcp,
}

impl Entry {
    /// Reads an entry as a person writes it. The error says what to write instead, where that can be known.
    pub fn parse(text: &str) -> Result<Self, InvalidEntry> {
        grammar::read(text).map_err(|fault| InvalidEntry::new(text, fault))
    }

    /// The hosts.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The ports.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// What may be carried.
    pub fn carries(&self) -> Carries {
        self.carries
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the entry names this host name, on whatever port.
    pub fn names(&self, name: &Name) -> bool {
        matches!(&self.target, Target::Names(pattern) if pattern.matches(name))
    }

    /// Whether the entry names this address, on whatever port.
    pub fn names_address(&self, address: IpAddr) -> bool {
        matches!(&self.target, Target::Addresses(block) if block.contains(address))
    }

    /// Whether the entry permits this port.
    pub fn opens(&self, port: u16) -> bool {
        self.ports.contains(port)
    }

    /// The canonical text, shared.
    pub(crate) fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// Sorts the more specific entry first, so that the rule which is logged is the narrowest that permits.
    pub(crate) fn precedence(&self) -> impl Ord + '_ {
        let (rank, breadth) = match &self.target {
            Target::Names(Pattern::Exact(_)) => (0, 0),
            Target::Names(Pattern::Below(suffix)) => (1, usize::MAX - suffix.labels().count()),
            Target::Addresses(block) => (2, usize::MAX - usize::from(block.length())),
        };
        (rank, breadth, &*self.text)
    }

    fn new(target: Target, ports: Ports, carries: Carries) -> Self {
        let text = canonical_text(&target, &ports, carries).into();
        Self { target, ports, carries, text }
    }
}

fn canonical_text(target: &Target, ports: &Ports, carries: Carries) -> String {
    let prefix = match carries {
        Carries::Web => "",
        Carries::WebSocket => "ws://",
        Carries::Tcp => "tcp://",
    };
    // `tcp://` entries always show their ports: there is no default for them.
    let bare = carries != Carries::Tcp && *ports == Ports::web();
    match target {
        Target::Addresses(block) if block.address().is_ipv6() && !bare => {
            format!("{prefix}[{block}]:{ports}")
        }
        target if bare => format!("{prefix}{target}"),
        target => format!("{prefix}{target}:{ports}"),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Names(pattern) => pattern.fmt(f),
            Target::Addresses(block) => block.fmt(f),
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entry({})", self.text)
    }
}

#[cfg(test)]
mod tests;
