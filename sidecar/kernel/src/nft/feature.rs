//! Which part of the kernel a refused message asked for in vain.

use std::fmt;

use nix::errno::Errno;

use super::ruleset::{Action, Chain, Entry, Hook, Kind, Match, Rule};

/// A part of nf_tables that a kernel may be built without, or whose module may not be loaded. Inside a
/// container the kernel can't always load it on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// nf_tables itself.
    NfTables,
    /// Tables of family `inet`.
    Inet,
    /// Chains of type `nat`.
    Nat,
    /// Looking at connection tracking.
    Conntrack,
    /// Asking the routing tables.
    Fib,
    /// Redirecting to a local port.
    Redirect,
    /// Giving copies of packets to userspace.
    Log,
    /// Rate limits.
    Limit,
    /// Answering refused packets.
    Reject,
    /// Counting packets in their marks.
    Number,
}

impl Feature {
    /// The modules that bring it, as `modprobe` wants them.
    pub const fn modules(self) -> &'static str {
        match self {
            Self::NfTables | Self::Inet => "nf_tables",
            Self::Nat => "nft_chain_nat",
            Self::Conntrack => "nft_ct",
            Self::Fib => "nft_fib_inet",
            Self::Redirect => "nft_redir",
            Self::Log => "nft_log nfnetlink_log",
            Self::Limit => "nft_limit",
            Self::Reject => "nft_reject_inet",
            Self::Number => "nft_numgen",
        }
    }

    /// What a chain needs beyond nf_tables itself.
    pub(super) fn of_chain(chain: &Chain) -> Vec<Self> {
        match chain.entry {
            Entry::Hook(Hook { kind: Kind::Nat, .. }) => vec![Self::Nat],
            Entry::Hook(Hook { kind: Kind::Filter, .. }) | Entry::Goto => Vec::new(),
        }
    }

    /// What a rule needs beyond nf_tables itself.
    pub(super) fn of_rule(rule: &Rule) -> Vec<Self> {
        let matches = rule.matches.iter().filter_map(|condition| match condition {
            Match::LocalDestination => Some(Self::Fib),
            Match::Redirected | Match::Invalid => Some(Self::Conntrack),
            Match::Protocol(_) | Match::Port(..) | Match::Interface(..) => None,
        });
        let limit = rule.limit.map(|_| Self::Limit);
        let action = match rule.action {
            Action::Redirect(_) => Some(Self::Redirect),
            Action::Reject(_) => Some(Self::Reject),
            Action::Log(_) => Some(Self::Log),
            Action::Number => Some(Self::Number),
            Action::Accept | Action::Drop | Action::Return | Action::Goto(_) => None,
        };
        matches.chain(limit).chain(action).collect()
    }

    /// Whether this is how the kernel says that it doesn't have something.
    pub(super) fn is_missing(errno: Errno) -> bool {
        matches!(errno, Errno::ENOENT | Errno::EOPNOTSUPP | Errno::EAFNOSUPPORT | Errno::EPROTONOSUPPORT)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.modules())
    }
}
