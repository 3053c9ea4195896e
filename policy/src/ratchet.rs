//! Whether one phase permits more than another (G8: narrowing always works, widening needs to be asked for).

use std::fmt;

use crate::settings::{DnsAnswers, Ech, PrivateAddresses};
use crate::{Carries, Entry, Name, Phase, Ports, Target};

/// The first thing that a phase permits and another does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Widening {
    /// An entry that the other's entries don't cover.
    Entry(Entry),
    /// A permitted name is dialled elsewhere, or no longer elsewhere.
    Route(Name),
    /// Encrypted Client Hello is no longer refused.
    Ech,
    /// Private addresses are no longer refused.
    PrivateAddresses,
    /// Questions for permitted names now leave the machine.
    RealAnswers,
}

impl Phase {
    /// What this phase permits beyond `other`; `None` if it permits nothing that `other` refuses.
    ///
    /// Never says `None` wrongly. It may name an entry that several entries of `other` cover only together (two
    /// halves of a block of addresses, say).
    pub fn widens(&self, other: &Phase) -> Option<Widening> {
        let beyond = self.entries().iter().find(|entry| !covered(entry, other.entries()));
        if let Some(entry) = beyond {
            return Some(Widening::Entry(entry.clone()));
        }
        // A phase without entries permits nothing, so its settings open nothing.
        if self.entries().is_empty() {
            return None;
        }
        let (mine, theirs) = (self.settings(), other.settings());
        let names = mine.routes.keys().chain(theirs.routes.keys());
        let mut rerouted = names
            .filter(|name| mine.routes.get(*name) != theirs.routes.get(*name))
            .filter(|name| self.resolves(name).is_some());
        if let Some(name) = rerouted.next() {
            return Some(Widening::Route(name.clone()));
        }
        if mine.ech == Ech::OuterName && theirs.ech == Ech::Refuse {
            return Some(Widening::Ech);
        }
        if mine.private == PrivateAddresses::Allow && theirs.private == PrivateAddresses::Refuse {
            return Some(Widening::PrivateAddresses);
        }
        (mine.dns_answers == DnsAnswers::Real && theirs.dns_answers == DnsAnswers::Synthetic)
            .then_some(Widening::RealAnswers)
    }
}

/// Whether entries for the same hosts, taken together, open every port of this one.
fn covered(entry: &Entry, others: &[Entry]) -> bool {
    let ports = others
        .iter()
        .filter(|other| carries(other.carries(), entry.carries()) && hosts(other.target(), entry.target()))
        .map(Entry::ports)
        .cloned()
        .reduce(|all, ports| all.union(&ports));
    ports.is_some_and(|ports: Ports| ports.union(entry.ports()) == ports)
}

fn carries(wide: Carries, narrow: Carries) -> bool {
    wide == narrow || (wide == Carries::WebSocket && narrow == Carries::Web)
}

fn hosts(wide: &Target, narrow: &Target) -> bool {
    match (wide, narrow) {
        (Target::Names(wide), Target::Names(narrow)) => wide.covers(narrow),
        (Target::Addresses(wide), Target::Addresses(narrow)) => wide.covers(narrow),
        _ => false,
    }
}

impl fmt::Display for Widening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Widening::Entry(entry) => entry.fmt(f),
            Widening::Route(name) => write!(f, "another route for {name}"),
            Widening::Ech => f.write_str("Encrypted Client Hello"),
            Widening::PrivateAddresses => f.write_str("private addresses"),
            Widening::RealAnswers => f.write_str("DNS questions for permitted names"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Policy;

    fn widening(from: &str, to: &str) -> Option<String> {
        let phase = |text: &str| {
            let policy = Policy::from_toml(&format!("schema = 1\n{text}")).unwrap();
            policy.phase("agent").unwrap().clone()
        };
        phase(to).widens(&phase(from)).map(|widening| widening.to_string())
    }

    /// G8: what is narrower or equal passes; what is wider is named.
    #[test]
    fn entries() {
        let check = |from: &str, to: &str| {
            widening(&format!("phase.agent.allow = [{from}]"), &format!("phase.agent.allow = [{to}]"))
        };
        assert_eq!(check("'a.x'", "'a.x'"), None);
        assert_eq!(check("'a.x'", ""), None);
        assert_eq!(check("", "'a.x'"), Some("a.x".into()));
        assert_eq!(check("'*.x.y'", "'a.x.y:443', '*.b.x.y'"), None);
        assert_eq!(check("'*.x.y'", "'x.y'"), Some("x.y".into()));
        assert_eq!(check("'a.x:80', 'a.x:443'", "'a.x'"), None);
        assert_eq!(check("'a.x:443'", "'a.x'"), Some("a.x".into()));
        assert_eq!(check("'ws://a.x'", "'a.x'"), None);
        assert_eq!(check("'a.x'", "'ws://a.x'"), Some("ws://a.x".into()));
        assert_eq!(check("'a.x:22'", "'tcp://a.x:22'"), Some("tcp://a.x:22".into()));
        assert_eq!(check("'tcp://a.x:22'", "'a.x:22'"), Some("a.x:22".into()));
        assert_eq!(check("'10.0.0.0/8'", "'10.1.0.0/16', '10.2.3.4:80'"), None);
        assert_eq!(check("'10.1.0.0/16'", "'10.0.0.0/8'"), Some("10.0.0.0/8".into()));
    }

    #[test]
    fn settings() {
        let allow = "phase.agent.allow = ['a.x']\n";
        let check = |from: &str, to: &str| widening(&format!("{allow}{from}"), &format!("{allow}{to}"));
        assert_eq!(check("route.'a.x' = 'b.x'", "route.'a.x' = 'c.x'"), Some("another route for a.x".into()));
        assert_eq!(check("route.'a.x' = 'b.x'", ""), Some("another route for a.x".into()));
        assert_eq!(check("", "route.'unnamed.x' = 'c.x'"), None);
        assert_eq!(check("tls.ech = 'refuse'", ""), Some("Encrypted Client Hello".into()));
        assert_eq!(check("", "tls.ech = 'refuse'"), None);
        assert_eq!(check("", "resolve.private = 'allow'"), Some("private addresses".into()));
        assert_eq!(check("", "dns.answers = 'real'"), Some("DNS questions for permitted names".into()));
    }

    #[test]
    fn lockdown_widens_nothing() {
        let policy =
            Policy::from_toml("schema = 1\nphase.agent.allow = []\nresolve.private = 'allow'").unwrap();
        let lockdown = policy.phase("lockdown").unwrap();
        assert_eq!(lockdown.widens(policy.phase("agent").unwrap()), None);
    }
}
