//! Names whose answer is itself the test.
//!
//! | name | answer |
//! |---|---|
//! | `private.test` | 10.0.0.5, fd00::5 |
//! | `metadata.test` | 169.254.169.254, fd00:ec2::254 |
//! | `loopback.test` | 127.0.0.1, ::1 |
//! | `unspecified.test` | 0.0.0.0, :: |
//! | `linklocal.test` | 169.254.7.7, fe80::7 |
//! | `mapped.test` | ::ffff:10.0.0.5 only |
//! | `synthetic.test` | 198.18.0.1 |
//! | `rebind.test` | a public address and 10.0.0.5 in turn, TTL 0 |
//! | `alias.test` | CNAME to `example.com` |
//! | `alias-private.test` | CNAME to `private.test` |
//! | `many.test` | addresses that swallow the SYN, then one that lives |
//! | `half.test` | an unreachable AAAA, a living A |
//! | `dead.test` | only unreachable addresses |
//! | `silent.test` | only addresses that swallow the SYN |
//! | `v6only.test`, `v4only.test` | one family |
//! | `empty.test` | NOERROR without data |
//! | `nxdomain.test`, `servfail.test`, `refused.test` | that code |
//! | `timeout.test` | no answer ever |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use closedbook_policy::Name;

use super::{WITNESS_ZONE, split};

/// What the resolver says about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// These addresses; either list may be empty (NOERROR without data).
    Addresses {
        /// A records.
        v4: Vec<Ipv4Addr>,
        /// AAAA records.
        v6: Vec<Ipv6Addr>,
    },
    /// One of the two on each question in turn, with TTL 0.
    Alternating(Ipv4Addr, Ipv4Addr),
    /// A CNAME.
    Alias(&'static str),
    /// NXDOMAIN.
    NoSuchName,
    /// SERVFAIL.
    ServerFailure,
    /// REFUSED.
    Refused,
    /// Nothing is sent.
    Silence,
}

/// An address in the lab where no server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dead {
    /// The address, a single one.
    pub address: IpAddr,
    /// What happens to packets for it.
    pub route: DeadRoute,
}

/// How an address is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadRoute {
    /// Dialling fails at once with EHOSTUNREACH: a route of type `unreachable`.
    Unreachable,
    /// Packets vanish, so dialling hangs: a unicast route to `lo`, where a packet that is not local and may not be
    /// forwarded is dropped without a word. (A `blackhole` route would fail at once with EINVAL.)
    Swallowed,
}

const UNREACHABLE_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 250);
const UNREACHABLE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0xdead, 1);
const SWALLOWED_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 251);
const SWALLOWED_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0xdead, 2);
const LIVE_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 201);
const LIVE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 2, 201);

/// The dead addresses. Every other address is local to the lab.
pub const DEAD: [Dead; 4] = [
    Dead { address: IpAddr::V4(UNREACHABLE_V4), route: DeadRoute::Unreachable },
    Dead { address: IpAddr::V6(UNREACHABLE_V6), route: DeadRoute::Unreachable },
    Dead { address: IpAddr::V4(SWALLOWED_V4), route: DeadRoute::Swallowed },
    Dead { address: IpAddr::V6(SWALLOWED_V6), route: DeadRoute::Swallowed },
];

impl Answer {
    pub(super) fn at(v4: Ipv4Addr, v6: Ipv6Addr) -> Self {
        Self::Addresses { v4: vec![v4], v6: vec![v6] }
    }

    fn of(addresses: &[IpAddr]) -> Self {
        let (v4, v6) = split(addresses);
        Self::Addresses { v4, v6 }
    }
}

pub(super) fn in_witness_zone(name: &Name) -> bool {
    name.as_str() == WITNESS_ZONE || Name::parse(WITNESS_ZONE).is_ok_and(|zone| name.is_below(&zone))
}

pub(super) fn answer(name: &Name) -> Option<Answer> {
    let private = Ipv4Addr::new(10, 0, 0, 5);
    Some(match name.as_str() {
        "private.test" => Answer::at(private, Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 5)),
        "metadata.test" => {
            Answer::at(Ipv4Addr::new(169, 254, 169, 254), Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254))
        }
        "loopback.test" => Answer::at(Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST),
        "unspecified.test" => Answer::at(Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED),
        "linklocal.test" => {
            Answer::at(Ipv4Addr::new(169, 254, 7, 7), Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 7))
        }
        "mapped.test" => Answer::of(&[private.to_ipv6_mapped().into()]),
        "synthetic.test" => Answer::of(&[Ipv4Addr::new(198, 18, 0, 1).into()]),
        "rebind.test" => Answer::Alternating(LIVE_V4, private),
        "alias.test" => Answer::Alias("example.com"),
        "alias-private.test" => Answer::Alias("private.test"),
        "many.test" => Answer::of(&[SWALLOWED_V4.into(), LIVE_V4.into(), SWALLOWED_V6.into()]),
        "half.test" => Answer::of(&[LIVE_V4.into(), UNREACHABLE_V6.into()]),
        "dead.test" => Answer::at(UNREACHABLE_V4, UNREACHABLE_V6),
        "silent.test" => Answer::at(SWALLOWED_V4, SWALLOWED_V6),
        "v6only.test" => Answer::of(&[LIVE_V6.into()]),
        "v4only.test" => Answer::of(&[LIVE_V4.into()]),
        "empty.test" => Answer::of(&[]),
        "nxdomain.test" => Answer::NoSuchName,
        "servfail.test" => Answer::ServerFailure,
        "refused.test" => Answer::Refused,
        "timeout.test" => Answer::Silence,
        _ => return None,
    })
}
