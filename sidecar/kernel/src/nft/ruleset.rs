//! What a table of rules is, as plain values: no IO, no C handles, comparable and printable.
//!
//! The vocabulary is closed on purpose. What can't be said here can't be loaded, and what is said here is
//! rendered, encoded and read back by exhaustive matches.

use std::{ffi::CStr, fmt};

/// One table of family `inet`: IPv4 and IPv6 under the same rules, so neither can be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruleset {
    /// Name of the table.
    pub table: Name,
    /// The chains, in the order they are printed.
    pub chains: Vec<Chain>,
}

/// A list of rules and how packets get there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Name, unique in the table.
    pub name: Name,
    /// What sends packets here.
    pub entry: Entry,
    /// The rules, first one first.
    pub rules: Vec<Rule>,
}

/// What sends packets into a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// The kernel itself, at a hook.
    Hook(Hook),
    /// Only an [`Action::Goto`] of another chain.
    Goto,
}

/// Where in the kernel's packet path a chain is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// What the chain may do.
    pub kind: Kind,
    /// When it is called.
    pub point: Point,
    /// Order among chains of one point: lower runs earlier. Numeric because the words nft has for it are not
    /// accepted on every hook.
    pub priority: i32,
    /// What happens to packets no rule decided.
    pub policy: Policy,
}

/// Chain types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Judges every packet.
    Filter,
    /// Sees the first packet of a flow only, and may redirect the flow.
    Nat,
}

/// Points in the packet path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Packets about to be given to a local socket.
    Input,
    /// Packets a local socket sent.
    Output,
    /// Packets about to be given to a device, after every redirection.
    Postrouting,
}

/// Fate of packets no rule decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// They go on.
    Accept,
    /// They are gone.
    Drop,
}

/// If every match holds and the limit is not exceeded, count, then act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Identity of the rule in errors, counters and `nft list`; unique in the ruleset.
    pub comment: Name,
    /// Conditions, all of which must hold; none means always.
    pub matches: Vec<Match>,
    /// Rate above which the rule doesn't match.
    pub limit: Option<Limit>,
    /// Whether packets and bytes are counted.
    pub counter: Option<Counter>,
    /// What is done.
    pub action: Action,
}

/// A property of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// The transport protocol, found behind IPv6 extension headers too.
    Protocol(Transport),
    /// Transport protocol and destination port.
    Port(Transport, u16),
    /// The destination is one of the namespace's own addresses, after redirection.
    LocalDestination,
    /// Connection tracking knows the packet as part of a flow whose destination was rewritten.
    Redirected,
    /// Connection tracking can't place the packet in any flow.
    Invalid,
    /// The device the packet came in by or goes out by.
    Interface(Direction, Name),
}

/// Transport protocols that have ports and that rules speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// TCP, MPTCP included.
    Tcp,
    /// UDP.
    Udp,
}

/// Which of a packet's two devices is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The device it arrived by.
    In,
    /// The device it leaves by.
    Out,
}

/// A token bucket of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Packets per second in the long run.
    pub per_second: u64,
    /// Packets that may come at once.
    pub burst: u32,
}

/// Marks a rule that counts packets and bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter;

/// What a rule does with a packet that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The packet passes this chain.
    Accept,
    /// The packet is gone without a word.
    Drop,
    /// The rest of this chain is skipped, the policy of a hooked chain applies.
    Return,
    /// Another chain goes on, and this one is not come back to.
    Goto(Name),
    /// The flow is given to a port of the loopback device (127.0.0.1 or `::1`).
    Redirect(u16),
    /// The packet is gone and its sender told.
    Reject(Reject),
    /// A copy is given to userspace, and the next rule goes on with the packet.
    Log(Log),
    /// The packet's mark becomes its ordinal number among the packets that came to this rule, and the next rule goes on
    /// with it. Copies carry the mark, so whoever gets only some of them learns how many there were.
    Number,
}

/// How the sender of a refused packet is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reject {
    /// TCP RST: `connect` returns `ECONNREFUSED`.
    TcpReset,
    /// ICMP or ICMPv6 "administratively prohibited". Whoever sends learns it sooner, as `EPERM` of the call.
    /// ICMP about an IPv4 packet routed to `lo` isn't made by the kernel: it would have to come from the
    /// destination's address, which isn't ours.
    AdminProhibited,
}

/// Where copies of refused packets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Log {
    /// nfnetlink_log group.
    pub group: u16,
    /// Bytes of each packet copied, from the IP header on.
    pub snaplen: u32,
}

/// A name known at compile time: of a table, chain, device, or a comment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    c: &'static CStr,
    text: &'static str,
}

impl Name {
    /// Bytes a name may have: what nft allows for a comment, less what libnftnl adds.
    const LONGEST: usize = 120;

    /// Meant for constants.
    ///
    /// # Panics
    /// On a name that is not UTF-8 or longer than 120 bytes; in a constant that is a compile error.
    pub const fn new(name: &'static CStr) -> Self {
        match name.to_str() {
            Ok(text) if text.len() <= Self::LONGEST => Self { c: name, text },
            _ => panic!("a name is short and UTF-8"),
        }
    }

    /// The name as text.
    pub const fn as_str(self) -> &'static str {
        self.text
    }

    /// The name as C wants it.
    pub const fn as_c_str(self) -> &'static CStr {
        self.c
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text, f)
    }
}

impl Rule {
    /// A rule that always does `action` and counts nothing.
    pub const fn new(comment: Name, action: Action) -> Self {
        Self { comment, matches: Vec::new(), limit: None, counter: None, action }
    }

    /// The same rule under one more condition.
    #[must_use]
    pub fn when(mut self, condition: Match) -> Self {
        self.matches.push(condition);
        self
    }

    /// The same rule, matching at a bounded rate only.
    #[must_use]
    pub fn at_most(mut self, limit: Limit) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The same rule, counting what it acts on.
    #[must_use]
    pub fn counted(mut self) -> Self {
        self.counter = Some(Counter);
        self
    }
}
