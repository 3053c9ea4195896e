//! A phase of a policy: one allow list, with what holds beside it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use thiserror::Error;

use crate::settings::{DnsAnswers, Ech, PrivateAddresses, RouteTarget, Settings};
use crate::{Carries, Digest, Entry, Host, Name, Pattern, Target};

/// The name of a phase that a policy can define: `[a-z0-9][a-z0-9-]{0,31}`, and not `lockdown`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PhaseName(Arc<str>);

/// Why a text is not the name of a phase that a policy can define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidPhaseName {
    /// Nothing there.
    #[error("the phase name is empty")]
    Empty,
    /// Over 32 characters.
    #[error("the phase name is longer than 32 characters")]
    TooLong,
    /// A character that is not a lower-case letter, a digit or an inner hyphen.
    #[error("a phase name holds lower-case letters, digits and inner hyphens")]
    Character,
    /// `lockdown`, which every policy has and none defines.
    #[error("`lockdown` always exists and permits nothing; it can't be defined")]
    Lockdown,
}

/// Which switch of phase a decision belongs to. Grows with each switch, so a permit can be told to be older.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// One phase: an allow list with everything that [`Phase::decide`] needs to know.
///
/// Immutable, and cheap to copy. A policy hands it out at epoch 0; whoever switches phases stamps it with
/// [`Phase::at`].
#[derive(Debug, Clone)]
pub struct Phase {
    name: Arc<str>,
    epoch: Epoch,
    policy: Digest,
    /// The most specific first.
    entries: Arc<[Entry]>,
    settings: Arc<Settings>,
}

/// The phase that every policy has, and that permits nothing.
pub const LOCKDOWN: &str = "lockdown";

impl PhaseName {
    /// Reads the name of a phase.
    pub fn parse(text: &str) -> Result<Self, InvalidPhaseName> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        match text.as_bytes() {
            [] => Err(InvalidPhaseName::Empty),
            [b'-', ..] | [.., b'-'] => Err(InvalidPhaseName::Character),
            bytes if !bytes.iter().all(|byte| plain(*byte) || *byte == b'-') => {
                Err(InvalidPhaseName::Character)
            }
            bytes if bytes.len() > 32 => Err(InvalidPhaseName::TooLong),
            _ if text == LOCKDOWN => Err(InvalidPhaseName::Lockdown),
            _ => Ok(Self(text.into())),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Phase {
    pub(crate) fn new(name: &str, policy: Digest, entries: &[Entry], settings: &Arc<Settings>) -> Self {
        let mut entries = entries.to_vec();
        entries.sort_by(|a, b| a.precedence().cmp(&b.precedence()));
        entries.dedup();
        let settings = Arc::clone(settings);
        Self { name: name.into(), epoch: Epoch::default(), policy, entries: entries.into(), settings }
    }

    /// The same phase, stamped with the switch that made it current.
    pub fn at(&self, epoch: Epoch) -> Arc<Phase> {
        Arc::new(Self { epoch, ..self.clone() })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The switch that made it current.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The digest of the policy it belongs to.
    pub fn policy(&self) -> Digest {
        self.policy
    }

    /// Its entries, the most specific first, none twice.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry that names this host, on whatever port: DNS may answer for it.
    pub fn resolves(&self, name: &Name) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.names(name))
    }

    /// Whether some entry permits this port: if not, a connection can be refused before its first byte is read.
    pub fn port_open(&self, port: u16) -> bool {
        self.entries.iter().any(|entry| entry.opens(port))
    }

    /// The names that a `tcp://` entry permits on this port. A connection to the address that was handed out for
    /// one of them is tried with [`Evidence::Tcp`](crate::Evidence::Tcp); nothing is read from it first.
    pub fn tcp_names(&self, port: u16) -> impl Iterator<Item = &Name> {
        self.entries.iter().filter(move |entry| entry.opens(port)).filter_map(|entry| {
            match (entry.carries(), entry.target()) {
                (Carries::Tcp, Target::Names(Pattern::Exact(name))) => Some(name),
                _ => None,
            }
        })
    }

    /// What a DNS question for a name of this phase gets.
    pub fn dns_answers(&self) -> DnsAnswers {
        self.settings.dns_answers
    }

    pub(crate) fn route(&self, host: &Host) -> Option<&RouteTarget> {
        match host {
            Host::Name(name) => self.settings.routes.get(name),
            Host::Address(_) => None,
        }
    }

    pub(crate) fn refuses_ech(&self) -> bool {
        self.settings.ech == Ech::Refuse
    }

    /// Whether the private address may be dialled on this port whatever name led to it.
    pub(crate) fn names_private(&self, address: IpAddr, port: u16) -> bool {
        self.settings.private == PrivateAddresses::Allow
            || self.entries.iter().any(|entry| entry.names_address(address) && entry.opens(port))
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl fmt::Display for PhaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_names() {
        for text in ["setup", "agent", "verifier", "a", "0", "agent-2", &"a".repeat(32)] {
            assert_eq!(PhaseName::parse(text).unwrap().as_str(), text);
        }
        use InvalidPhaseName::*;
        for (text, fault) in [
            ("", Empty),
            ("Agent", Character),
            ("-a", Character),
            ("a-", Character),
            ("a_b", Character),
            ("a.b", Character),
            ("a b", Character),
            ("\u{e4}", Character),
            ("lockdown", Lockdown),
            (&"a".repeat(33), TooLong),
        ] {
            assert_eq!(PhaseName::parse(text), Err(fault), "{text:?}");
        }
    }
}
