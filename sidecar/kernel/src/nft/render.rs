//! A ruleset in nft's own syntax, for people: `nft -f` of the text loads what [`apply`](super::apply) loads.

use std::fmt;

use super::expressions::OrdinalNumber;
use super::ruleset::{
    Action, Chain, Direction, Entry, Hook, Kind, Limit, Log, Match, Point, Policy, Reject, Rule, Ruleset,
    Transport,
};

impl Ruleset {
    /// The ruleset as a file for `nft -f`, which replaces an older table of the same name in one transaction.
    pub fn render(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Ruleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.table;
        // Deleting a table that isn't there is an error, adding one that is there is none.
        writeln!(f, "add table inet {table}\ndelete table inet {table}\ntable inet {table} {{")?;
        for (position, chain) in self.chains.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{chain}")?;
        }
        writeln!(f, "}}")
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "    chain {} {{", self.name)?;
        if let Entry::Hook(hook) = self.entry {
            writeln!(f, "        {hook}")?;
        }
        for rule in &self.rules {
            writeln!(f, "        {rule}")?;
        }
        writeln!(f, "    }}")
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Filter => "filter",
            Kind::Nat => "nat",
        };
        let point = match self.point {
            Point::Input => "input",
            Point::Output => "output",
            Point::Postrouting => "postrouting",
        };
        let policy = match self.policy {
            Policy::Accept => "accept",
            Policy::Drop => "drop",
        };
        write!(f, "type {kind} hook {point} priority {}; policy {policy};", self.priority)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for condition in &self.matches {
            write!(f, "{condition} ")?;
        }
        if let Some(Limit { per_second, burst }) = self.limit {
            write!(f, "limit rate {per_second}/second burst {burst} packets ")?;
        }
        if self.counter.is_some() {
            f.write_str("counter ")?;
        }
        write!(f, "{} comment \"{}\"", self.action, self.comment)
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(transport) => write!(f, "meta l4proto {transport}"),
            Self::Port(transport, port) => write!(f, "{transport} dport {port}"),
            Self::LocalDestination => f.write_str("fib daddr type local"),
            Self::Redirected => f.write_str("ct status dnat"),
            Self::Invalid => f.write_str("ct state invalid"),
            Self::Interface(Direction::In, name) => write!(f, "iifname \"{name}\""),
            Self::Interface(Direction::Out, name) => write!(f, "oifname \"{name}\""),
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
        })
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accept => f.write_str("accept"),
            Self::Drop => f.write_str("drop"),
            Self::Return => f.write_str("return"),
            Self::Goto(chain) => write!(f, "goto {chain}"),
            Self::Redirect(port) => write!(f, "redirect to :{port}"),
            Self::Reject(Reject::TcpReset) => f.write_str("reject with tcp reset"),
            Self::Reject(Reject::AdminProhibited) => f.write_str("reject with icmpx admin-prohibited"),
            Self::Number => write!(f, "meta mark set numgen inc mod {}", OrdinalNumber::MODULUS),
            Self::Log(Log { group, snaplen }) => write!(f, "log group {group} snaplen {snaplen}"),
        }
    }
}
