//! The rules of the *sealed* topology: a namespace with `lo` and nothing else.

use super::ruleset::{
    Action, Chain, Direction, Entry, Hook, Kind, Limit, Log, Match, Name, Point, Policy, Reject, Rule,
    Ruleset, Transport,
};

/// nfnetlink_log group that copies of refused packets go to.
pub const LOG_GROUP: u16 = 77;

const TABLE: Name = Name::new(c"closedbook");
const LOOPBACK: Name = Name::new(c"lo");
const REFUSE: Name = Name::new(c"refuse");
const DNS: u16 = 53;

/// Where copies of refused packets go, and how much of each.
pub const PACKET_LOG: Log = Log { group: LOG_GROUP, snaplen: SNAPLEN };

/// Enough for the longest headers a record is made from: IPv6 with one extension header, and TCP.
const SNAPLEN: u32 = 128;

/// A task that floods learns nothing from more records, and the reader must not drown in them. How many went unrecorded
/// is told by the number in each packet's mark: counters could be read only with CAP_NET_ADMIN, which nobody holds by
/// then.
const LOG_LIMIT: Limit = Limit { per_second: 10, burst: 20 };

/// Ports of the listeners on 127.0.0.1 and `::1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealedPorts {
    /// TCP: the transparent proxy.
    pub proxy: u16,
    /// UDP and TCP: the DNS server.
    pub dns: u16,
}

impl Default for SealedPorts {
    fn default() -> Self {
        Self { proxy: 12345, dns: 15053 }
    }
}

/// Rules for a namespace whose only device is `lo`.
///
/// | packet | fate |
/// |---|---|
/// | port 53, UDP or TCP, any destination | the DNS listener |
/// | TCP to an address that isn't the namespace's own | the proxy listener |
/// | anything sent to a listener without such a redirection | refused, recorded |
/// | anything else between the namespace's own addresses | passes |
/// | anything else | refused, recorded |
/// | whatever would still leave by, or came in by, a device that isn't `lo` | dropped, counted |
/// | what came to a listener without a redirection after all | dropped, counted |
pub fn sealed(ports: &SealedPorts) -> Ruleset {
    Ruleset {
        table: TABLE,
        chains: vec![divert(*ports), judge(*ports), refuse(), guard_out(), guard_in(*ports)],
    }
}

/// G3, G9: who asks, and where to, is decided in userspace; here flows only get there.
fn divert(ports: SealedPorts) -> Chain {
    // Earlier than the -100 of container engines, whose own resolver redirection would otherwise take the
    // question for 127.0.0.11 away from us.
    let hook = Hook { kind: Kind::Nat, point: Point::Output, priority: -150, policy: Policy::Accept };
    Chain {
        name: Name::new(c"divert"),
        entry: Entry::Hook(hook),
        rules: vec![
            // Before `own`: resolvers like 127.0.0.11 and 127.0.0.53 are own addresses too.
            Rule::new(Name::new(c"dns-udp"), Action::Redirect(ports.dns))
                .when(Match::Port(Transport::Udp, DNS))
                .counted(),
            Rule::new(Name::new(c"dns-tcp"), Action::Redirect(ports.dns))
                .when(Match::Port(Transport::Tcp, DNS))
                .counted(),
            // G12: what the task's processes say to each other is no business of the proxy.
            Rule::new(Name::new(c"own"), Action::Return).when(Match::LocalDestination),
            Rule::new(Name::new(c"tcp"), Action::Redirect(ports.proxy))
                .when(Match::Protocol(Transport::Tcp))
                .counted(),
        ],
    }
}

/// G1: default deny, for every protocol and both families.
fn judge(ports: SealedPorts) -> Chain {
    // After the redirection, so that "local" speaks of where a packet really goes.
    let hook = Hook { kind: Kind::Filter, point: Point::Output, priority: 10, policy: Policy::Drop };
    let direct = |comment, transport, port| {
        Rule::new(comment, Action::Goto(REFUSE)).when(Match::Port(transport, port)).counted()
    };
    Chain {
        name: Name::new(c"judge"),
        entry: Entry::Hook(hook),
        rules: vec![
            // First because nearly every packet is one of these.
            Rule::new(Name::new(c"redirected"), Action::Accept)
                .when(Match::Redirected)
                .when(Match::LocalDestination),
            // G9: the listeners are reached by redirection or not at all. A packet that connection tracking
            // doesn't know ends here as well.
            direct(Name::new(c"direct-proxy"), Transport::Tcp, ports.proxy),
            direct(Name::new(c"direct-dns-tcp"), Transport::Tcp, ports.dns),
            direct(Name::new(c"direct-dns-udp"), Transport::Udp, ports.dns),
            Rule::new(Name::new(c"local"), Action::Accept).when(Match::LocalDestination),
            // G12: a segment that connection tracking can't place isn't redirected. Answering it with RST would
            // kill the flow it belongs to; without an answer the sender repeats it.
            Rule::new(Name::new(c"invalid"), Action::Drop)
                .when(Match::Protocol(Transport::Tcp))
                .when(Match::Invalid)
                .counted(),
            Rule::new(Name::new(c"foreign"), Action::Goto(REFUSE)).counted(),
        ],
    }
}

/// G11, G13: say no at once, in the packet's own protocol, and keep a record.
fn refuse() -> Chain {
    Chain {
        name: REFUSE,
        entry: Entry::Goto,
        rules: vec![
            Rule::new(Name::new(c"numbered"), Action::Number),
            Rule::new(Name::new(c"logged"), Action::Log(PACKET_LOG)).at_most(LOG_LIMIT).counted(),
            Rule::new(Name::new(c"refused-tcp"), Action::Reject(Reject::TcpReset))
                .when(Match::Protocol(Transport::Tcp))
                .counted(),
            Rule::new(Name::new(c"refused-other"), Action::Reject(Reject::AdminProhibited)).counted(),
        ],
    }
}

/// G2: in the output hook a redirected packet still carries the device it was first routed to
/// (`SO_BINDTODEVICE` included), so the device is judged here, where it is final. `reject` isn't possible here.
fn guard_out() -> Chain {
    let hook = Hook { kind: Kind::Filter, point: Point::Postrouting, priority: 300, policy: Policy::Drop };
    Chain {
        name: Name::new(c"guard_out"),
        entry: Entry::Hook(hook),
        rules: vec![
            Rule::new(Name::new(c"lo-out"), Action::Accept).when(Match::Interface(Direction::Out, LOOPBACK)),
            // The policy would do it; the rule counts it.
            Rule::new(Name::new(c"leak"), Action::Drop).counted(),
        ],
    }
}

/// G2: should a device be put into the namespace later on, nothing comes in by it either. G9: frames written to
/// `lo` by a packet socket pass no output hook, and IPv6 ones are taken for `::1`; the listeners don't get them.
fn guard_in(ports: SealedPorts) -> Chain {
    let hook = Hook { kind: Kind::Filter, point: Point::Input, priority: 0, policy: Policy::Drop };
    let forged = |comment, transport, port| {
        Rule::new(comment, Action::Drop).when(Match::Port(transport, port)).counted()
    };
    Chain {
        name: Name::new(c"guard_in"),
        entry: Entry::Hook(hook),
        rules: vec![
            Rule::new(Name::new(c"redirected-in"), Action::Accept)
                .when(Match::Interface(Direction::In, LOOPBACK))
                .when(Match::Redirected),
            forged(Name::new(c"forged-proxy"), Transport::Tcp, ports.proxy),
            forged(Name::new(c"forged-dns-tcp"), Transport::Tcp, ports.dns),
            forged(Name::new(c"forged-dns-udp"), Transport::Udp, ports.dns),
            Rule::new(Name::new(c"lo-in"), Action::Accept).when(Match::Interface(Direction::In, LOOPBACK)),
            Rule::new(Name::new(c"intrusion"), Action::Drop).counted(),
        ],
    }
}
