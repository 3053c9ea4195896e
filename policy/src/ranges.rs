//! Addresses that are not like others: never dialled, or dialled only when the policy names them.
//!
//! A name that is permitted may still resolve to the cloud's metadata service or to the host itself: whoever runs
//! its DNS decides. So what a resolver says is checked against these tables before anything is dialled (G3, G9).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::Cidr;
use crate::cidr::canonical;

/// How an address may be dialled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// As any other.
    Ordinary,
    /// Only if the policy names it, or permits all private addresses. Carries what the address is.
    Private(&'static str),
    /// Under no policy. Carries what the address is.
    Never(&'static str),
}

/// Ranges that no policy opens.
const NEVER: &[(Cidr, &str)] = &[
    (Cidr::v4([0, 0, 0, 0], 8), "this network (RFC 1122 section 3.2.1.3); Linux dials the host itself"),
    (Cidr::v4([127, 0, 0, 0], 8), "loopback (RFC 1122 section 3.2.1.3)"),
    (Cidr::v4([169, 254, 0, 0], 16), "link-local, home of cloud metadata (RFC 3927)"),
    (Cidr::v4([100, 100, 100, 200], 32), "Alibaba Cloud metadata"),
    (Cidr::v4([168, 63, 129, 16], 32), "Azure platform address"),
    (Cidr::v4([192, 0, 0, 192], 32), "Oracle Cloud metadata"),
    (Cidr::v4([198, 18, 0, 0], 15), "closedbook's synthetic addresses (RFC 2544 benchmarking range)"),
    (Cidr::v4([224, 0, 0, 0], 4), "multicast (RFC 5771)"),
    (Cidr::v4([240, 0, 0, 0], 4), "reserved, with the broadcast address (RFC 1112, RFC 919)"),
    (Cidr::v6([0, 0, 0, 0, 0, 0, 0, 0], 128), "unspecified (RFC 4291); Linux dials the host itself"),
    (Cidr::v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback (RFC 4291)"),
    (Cidr::v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local (RFC 4291)"),
    (Cidr::v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast (RFC 4291)"),
    (Cidr::v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), "AWS metadata"),
    (Cidr::v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), "Google Cloud metadata"),
    (Cidr::v6([0xfd00, 0x5a, 0, 0, 0, 0, 0, 0], 64), "closedbook's own addresses"),
];

/// Ranges that a policy opens by naming them, or with `resolve.private = "allow"`.
const PRIVATE: &[(Cidr, &str)] = &[
    (Cidr::v4([10, 0, 0, 0], 8), "private (RFC 1918)"),
    (Cidr::v4([172, 16, 0, 0], 12), "private (RFC 1918)"),
    (Cidr::v4([192, 168, 0, 0], 16), "private (RFC 1918)"),
    (Cidr::v4([100, 64, 0, 0], 10), "shared address space (RFC 6598)"),
    (Cidr::v4([192, 0, 0, 0], 24), "IETF protocol assignments (RFC 6890)"),
    (Cidr::v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local (RFC 4193)"),
    (Cidr::v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local (RFC 3879)"),
    (Cidr::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "local-use translation prefix (RFC 8215)"),
];

/// Where a prefix hides an IPv4 address: the bits to shift away below it, and whether it is inverted.
struct Embedding {
    block: Cidr,
    shift: u32,
    inverted: bool,
}

/// IPv6 that some node on the way turns into IPv4, and so must pass the IPv4 tables too. (IPv4-mapped addresses
/// never get here: they *are* IPv4 to every caller.)
const EMBEDDED: &[Embedding] = &[
    // IPv4-compatible (RFC 4291 section 2.5.5.1, deprecated).
    Embedding { block: Cidr::v6([0, 0, 0, 0, 0, 0, 0, 0], 96), shift: 0, inverted: false },
    // IPv4-translated (RFC 2765 section 2.1, of SIIT).
    Embedding { block: Cidr::v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), shift: 0, inverted: false },
    // NAT64, well-known prefix (RFC 6052 section 2.1).
    Embedding { block: Cidr::v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), shift: 0, inverted: false },
    // NAT64, local-use prefix (RFC 8215) as a /96. The shorter prefix lengths of RFC 6052 end in zeros, which read
    // as 0.0.0.0 here and are refused.
    Embedding { block: Cidr::v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), shift: 0, inverted: false },
    // 6to4 (RFC 3056 section 2).
    Embedding { block: Cidr::v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), shift: 80, inverted: false },
    // Teredo (RFC 4380 section 4): the server, and the client with its bits inverted.
    Embedding { block: Cidr::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), shift: 64, inverted: false },
    Embedding { block: Cidr::v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), shift: 0, inverted: true },
];

/// How this address may be dialled: the strictest answer of the address and of every IPv4 address inside it.
pub(crate) fn standing(address: IpAddr) -> Standing {
    match canonical(address) {
        address @ IpAddr::V4(_) => by_tables(address),
        IpAddr::V6(v6) => embedded(v6)
            .map(|v4| by_tables(IpAddr::V4(v4)))
            .fold(by_tables(IpAddr::V6(v6)), Standing::stricter),
    }
}

/// What all addresses of the block are, if no policy opens any of them.
pub(crate) fn never(block: &Cidr) -> Option<&'static str> {
    let whole = NEVER.iter().find(|(range, _)| range.covers(block)).map(|(_, what)| *what);
    whole.or_else(|| match block.as_single().map(standing) {
        Some(Standing::Never(what)) => Some(what),
        _ => None,
    })
}

fn by_tables(address: IpAddr) -> Standing {
    let look_up = |table: &[(Cidr, &'static str)]| {
        table.iter().find(|(range, _)| range.contains(address)).map(|(_, what)| *what)
    };
    match look_up(NEVER) {
        Some(what) => Standing::Never(what),
        None => look_up(PRIVATE).map_or(Standing::Ordinary, Standing::Private),
    }
}

fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    EMBEDDED.iter().filter(move |embedding| embedding.block.contains(address.into())).map(move |embedding| {
        let bits = (address.to_bits() >> embedding.shift) as u32;
        Ipv4Addr::from_bits(if embedding.inverted { !bits } else { bits })
    })
}

impl Standing {
    fn stricter(self, other: Standing) -> Standing {
        match (self, other) {
            (Standing::Never(_), _) => self,
            (_, Standing::Never(_)) => other,
            (Standing::Private(_), _) => self,
            (Standing::Ordinary, _) => other,
        }
    }
}

#[cfg(test)]
mod tests;
