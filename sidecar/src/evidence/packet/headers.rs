//! IPv4 (RFC 791), IPv6 with its extension headers (RFC 8200), and the first octets of what they carry.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::super::cursor::Cursor;
use super::{Content, Packet, Ports};

pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMPV6: u8 = 58;

pub(super) fn packet(bytes: &[u8]) -> Option<Packet> {
    match bytes.first()? >> 4 {
        4 => v4(Cursor::new(bytes)),
        6 => v6(Cursor::new(bytes)),
        _ => None,
    }
}

fn v4(mut bytes: Cursor<'_>) -> Option<Packet> {
    let words = bytes.u8()? & 0x0f;
    bytes.take(5)?;
    let offset = bytes.u16()? & 0x1fff;
    bytes.take(1)?;
    let protocol = bytes.u8()?;
    bytes.take(2)?;
    let (source, destination) = (v4_address(&mut bytes)?, v4_address(&mut bytes)?);
    let options = usize::from(words).checked_sub(5)? * 4;
    let content = match bytes.take(options) {
        None => Content::Cut(protocol),
        Some(_) if offset > 0 => Content::Fragment(protocol),
        Some(_) => content(protocol, bytes),
    };
    Some(Packet::Ip { source, destination, content })
}

fn v6(mut bytes: Cursor<'_>) -> Option<Packet> {
    bytes.take(6)?;
    let next = bytes.u8()?;
    bytes.take(1)?;
    let (source, destination) = (v6_address(&mut bytes)?, v6_address(&mut bytes)?);
    let content = behind_extensions(next, bytes);
    Some(Packet::Ip { source, destination, content })
}

/// Each extension header is of eight octets or more, so the number of steps is bounded by the octets there are.
fn behind_extensions(mut next: u8, mut bytes: Cursor<'_>) -> Content {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    loop {
        let mut ahead = bytes;
        let header = next;
        let step = match header {
            HOP_BY_HOP | ROUTING | DESTINATION => extension(&mut ahead, |length| 6 + 8 * length),
            // The one whose length counts in other units (RFC 4302 section 2.2).
            AUTHENTICATION => extension(&mut ahead, |length| (4 * (length + 2)).saturating_sub(2)),
            FRAGMENT => match fragment(&mut ahead) {
                Some((protocol, 0)) => Some(protocol),
                Some((protocol, _)) => return Content::Fragment(protocol),
                None => None,
            },
            protocol => return content(protocol, bytes),
        };
        match step {
            Some(protocol) => (next, bytes) = (protocol, ahead),
            None => return Content::Cut(header),
        }
    }
}

/// The protocol behind an extension header that says its own length.
fn extension(bytes: &mut Cursor<'_>, rest: impl Fn(usize) -> usize) -> Option<u8> {
    let next = bytes.u8()?;
    let length = bytes.u8()?;
    bytes.take(rest(length.into()))?;
    Some(next)
}

/// The protocol behind a fragment header, and the offset.
fn fragment(bytes: &mut Cursor<'_>) -> Option<(u8, u16)> {
    let next = bytes.u8()?;
    bytes.take(1)?;
    let offset = bytes.u16()? >> 3;
    bytes.take(4)?;
    Some((next, offset))
}

fn content(protocol: u8, mut bytes: Cursor<'_>) -> Content {
    let known = match protocol {
        TCP => ports(&mut bytes).map(Content::Tcp),
        UDP => ports(&mut bytes).map(Content::Udp),
        ICMP => bytes.u8().map(Content::Icmp),
        ICMPV6 => bytes.u8().map(Content::Icmpv6),
        other => Some(Content::Protocol(other)),
    };
    known.unwrap_or(Content::Cut(protocol))
}

fn ports(bytes: &mut Cursor<'_>) -> Option<Ports> {
    Some(Ports { source: bytes.u16()?, destination: bytes.u16()? })
}

fn v4_address(bytes: &mut Cursor<'_>) -> Option<IpAddr> {
    bytes.u32().map(|bits| Ipv4Addr::from_bits(bits).into())
}

/// In its one form: an address of IPv4 in IPv6's clothes is one of IPv4.
fn v6_address(bytes: &mut Cursor<'_>) -> Option<IpAddr> {
    let octets: [u8; 16] = bytes.take(16)?.try_into().ok()?;
    Some(IpAddr::from(Ipv6Addr::from(octets)).to_canonical())
}
