//! Addresses and blocks of addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use thiserror::Error;

/// A block of IP addresses (RFC 4632, RFC 4291 section 2.3); one address is a block of full length.
///
/// IPv4-mapped IPv6 (`::ffff:0:0/96`, RFC 4291 section 2.5.5.2) is kept as the IPv4 it stands for: a socket that
/// dials either form sends the same packets, so they must not be two things to an allowlist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cidr {
    address: IpAddr,
    length: u8,
}

/// Why a text is not an address or a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum InvalidCidr {
    /// The part before the slash is no IP address.
    #[error("the part before the slash is not an IP address")]
    Address,
    /// The part after the slash is no decimal number.
    #[error("the prefix length is not a number")]
    Length,
    /// The prefix is longer than the address.
    #[error("the prefix length is over {max}")]
    TooLong {
        /// 32 for IPv4, 128 for IPv6.
        max: u8,
    },
    /// Bits beyond the prefix are set, so the text says two things at once.
    #[error("the address has bits beyond the prefix")]
    HostBits {
        /// The block that the prefix names.
        block: Cidr,
    },
}

impl Cidr {
    /// The block that holds one address.
    pub fn single(address: IpAddr) -> Self {
        let address = canonical(address);
        Self { address, length: width(address) }
    }

    /// Reads `192.0.2.1`, `192.0.2.0/24`, `2001:db8::1` or `2001:db8::/32`.
    pub fn parse(text: &str) -> Result<Self, InvalidCidr> {
        let Some((address, length)) = text.split_once('/') else {
            return text.parse().map(Self::single).map_err(|_| InvalidCidr::Address);
        };
        let address: IpAddr = address.parse().map_err(|_| InvalidCidr::Address)?;
        if !length.bytes().all(|byte| byte.is_ascii_digit()) || (length.starts_with('0') && length.len() > 1)
        {
            return Err(InvalidCidr::Length);
        }
        let length: u8 = match length.parse::<u32>() {
            Ok(length) if length <= u32::from(width(address)) => length as u8,
            Ok(_) => return Err(InvalidCidr::TooLong { max: width(address) }),
            Err(_) => return Err(InvalidCidr::Length),
        };
        let given = Self { address, length }.unmapped();
        let block = given.masked();
        if block != given {
            return Err(InvalidCidr::HostBits { block });
        }
        Ok(block)
    }

    /// Whether the address lies in the block. IPv4-mapped IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, canonical(address)) {
            (IpAddr::V4(_), address @ IpAddr::V4(_)) | (IpAddr::V6(_), address @ IpAddr::V6(_)) => {
                Self { address, length: self.length }.masked() == *self
            }
            _ => false,
        }
    }

    /// Whether every address of `other` lies in this block.
    pub fn covers(&self, other: &Cidr) -> bool {
        self.length <= other.length && self.contains(other.address)
    }

    /// The lowest address of the block.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The number of leading bits that all addresses of the block share.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// The address, where the block holds just one.
    pub fn as_single(&self) -> Option<IpAddr> {
        (self.length == width(self.address)).then_some(self.address)
    }

    /// A block of the table in [`ranges`](crate::ranges), checked by its tests instead of at run time.
    pub(crate) const fn v4(octets: [u8; 4], length: u8) -> Self {
        let [a, b, c, d] = octets;
        Self { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), length }
    }

    /// As [`Cidr::v4`], for IPv6.
    pub(crate) const fn v6(segments: [u16; 8], length: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        Self { address: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), length }
    }

    fn masked(self) -> Self {
        let address = match self.address {
            IpAddr::V4(v4) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.length.min(32))).unwrap_or(0);
                IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & mask))
            }
            IpAddr::V6(v6) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.length.min(128))).unwrap_or(0);
                IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & mask))
            }
        };
        Self { address, length: self.length }
    }

    fn unmapped(self) -> Self {
        match (canonical(self.address), self.length.checked_sub(96)) {
            (v4 @ IpAddr::V4(_), Some(length)) if self.address.is_ipv6() => Self { address: v4, length },
            _ => self,
        }
    }
}

/// The one form of an address that decisions see: IPv4-mapped IPv6 becomes IPv4.
pub(crate) fn canonical(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_single() {
            Some(address) => address.fmt(f),
            None => write!(f, "{}/{}", self.address, self.length),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    #[test]
    fn one_address_is_a_block_of_full_length() {
        assert_eq!(cidr("192.0.2.1/32"), cidr("192.0.2.1"));
        assert_eq!(cidr("192.0.2.1/32").to_string(), "192.0.2.1");
        assert_eq!(cidr("2001:DB8:0::1/128").to_string(), "2001:db8::1");
    }

    #[test]
    fn mapped_ipv6_is_ipv4() {
        assert_eq!(cidr("::ffff:192.0.2.1"), cidr("192.0.2.1"));
        assert_eq!(cidr("::ffff:192.0.2.0/120"), cidr("192.0.2.0/24"));
        assert_eq!(cidr("::ffff:0:0/96"), cidr("0.0.0.0/0"));
        assert!(cidr("192.0.2.0/24").contains("::ffff:192.0.2.9".parse().unwrap()));
        assert!(!cidr("::/0").contains("::ffff:192.0.2.9".parse().unwrap()), "an IPv6 block names no IPv4");
    }

    #[test]
    fn host_bits_are_refused_with_the_block_meant() {
        assert_eq!(Cidr::parse("10.1.2.3/8"), Err(InvalidCidr::HostBits { block: cidr("10.0.0.0/8") }));
        assert_eq!(
            Cidr::parse("2001:db8::1/32"),
            Err(InvalidCidr::HostBits { block: cidr("2001:db8::/32") })
        );
        assert_eq!(
            Cidr::parse("::ffff:10.1.2.3/104"),
            Err(InvalidCidr::HostBits { block: cidr("10.0.0.0/8") })
        );
    }

    #[test]
    fn other_faults() {
        assert_eq!(Cidr::parse("10.0.0.0/33"), Err(InvalidCidr::TooLong { max: 32 }));
        assert_eq!(Cidr::parse("::/129"), Err(InvalidCidr::TooLong { max: 128 }));
        for text in ["10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/8/8", "::/x", "::/99999999999"] {
            assert_eq!(Cidr::parse(text), Err(InvalidCidr::Length), "{text}");
        }
        for text in ["", "/8", "10.0.0/8", "010.0.0.0/8", "0x0a.0.0.0", "fe80::1%eth0", "1.2.3.4.5", "[::1]"]
        {
            assert_eq!(Cidr::parse(text), Err(InvalidCidr::Address), "{text}");
        }
    }

    proptest! {
        #[test]
        fn contains_is_equality_of_the_leading_bits(block: u128, length in 0u8..=128, address: u128) {
            let shift = 128 - u32::from(length);
            let top = |bits: u128| bits.checked_shr(shift).unwrap_or(0);
            let base = Ipv6Addr::from_bits(top(block).checked_shl(shift).unwrap_or(0));
            let block = Cidr { address: base.into(), length };
            // A near miss as often as a far one.
            for address in [address, base.to_bits() | (address & 0xff), base.to_bits() ^ (1 << (shift % 128))] {
                let v6 = Ipv6Addr::from_bits(address);
                prop_assume!(v6.to_ipv4_mapped().is_none());
                prop_assert_eq!(block.contains(v6.into()), top(address) == top(base.to_bits()));
            }
        }

        #[test]
        fn text_round_trip(bits: u32, length in 0u8..=32) {
            let block = Cidr { address: Ipv4Addr::from_bits(bits).into(), length }.masked();
            prop_assert_eq!(Cidr::parse(&block.to_string()), Ok(block));
        }
    }
}
