//! What a packet says about itself. Pure, total: any bytes give a value.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IP protocol numbers (IANA).
pub(crate) mod protocol {
    pub(crate) const ICMP: u8 = 1;
    pub(crate) const TCP: u8 = 6;
    pub(crate) const UDP: u8 = 17;
    pub(crate) const ICMPV6: u8 = 58;
}

/// Extension headers walked before giving up: RFC 8200 section 4.1 names fewer, and each once.
const MOST_EXTENSIONS: usize = 8;

/// An IP packet, as far as it can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// The protocol of the payload, after IPv6 extension headers.
    pub(crate) protocol: u8,
    pub(crate) layer: Layer<'a>,
}

/// What the packet carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer<'a> {
    Tcp {
        source: u16,
        destination: u16,
        flags: u8,
        payload: &'a [u8],
    },
    Udp {
        source: u16,
        destination: u16,
        payload: &'a [u8],
    },
    /// Another protocol, a fragment, or a header cut short.
    Other(&'a [u8]),
}

impl<'a> Packet<'a> {
    /// Reads a packet from its first IP octet. `None` when it is no IP packet at all.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => v4(bytes),
            6 => v6(bytes),
            _ => None,
        }
    }
}

/// RFC 791 section 3.1.
fn v4(bytes: &[u8]) -> Option<Packet<'_>> {
    let header: &[u8; 20] = bytes.first_chunk()?;
    let length = usize::from(header[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let fragment = u16::from_be_bytes([header[6], header[7]]);
    let protocol = header[9];
    let source = Ipv4Addr::new(header[12], header[13], header[14], header[15]);
    let destination = Ipv4Addr::new(header[16], header[17], header[18], header[19]);
    // Segmentation offload leaves total length at 0 on loopback.
    let end = if total == 0 { bytes.len() } else { total.min(bytes.len()) };
    let payload = bytes.get(length..end).unwrap_or_default();
    // More fragments, or an offset.
    let layer = if fragment & 0x3fff != 0 { Layer::Other(payload) } else { layer(protocol, payload) };
    Some(Packet { source: source.into(), destination: destination.into(), protocol, layer })
}

/// RFC 8200 section 3.
fn v6(bytes: &[u8]) -> Option<Packet<'_>> {
    let (header, mut rest) = bytes.split_first_chunk::<40>()?;
    let (_, addresses) = header.split_first_chunk::<8>()?;
    let (source, destination) = addresses.split_first_chunk::<16>()?;
    let destination: &[u8; 16] = destination.first_chunk()?;
    let mut protocol = header[6];
    let mut fragment = false;
    for _ in 0..MOST_EXTENSIONS {
        match extension(protocol, rest) {
            Some(Extension { next, after, cuts }) => {
                protocol = next;
                rest = after;
                fragment |= cuts;
            }
            None => break,
        }
    }
    let layer = if fragment { Layer::Other(rest) } else { layer(protocol, rest) };
    let source = Ipv6Addr::from(*source).into();
    Some(Packet { source, destination: Ipv6Addr::from(*destination).into(), protocol, layer })
}

struct Extension<'a> {
    next: u8,
    after: &'a [u8],
    cuts: bool,
}

/// Hop-by-hop options, routing, destination options (RFC 8200 sections 4.3, 4.4, 4.6) and fragment (4.5).
fn extension(protocol: u8, bytes: &[u8]) -> Option<Extension<'_>> {
    let [next, length, ..] = *bytes else { return None };
    match protocol {
        0 | 43 | 60 => {
            Some(Extension { next, after: bytes.get((usize::from(length) + 1) * 8..)?, cuts: false })
        }
        44 => Some(Extension { next, after: bytes.get(8..)?, cuts: true }),
        _ => None,
    }
}

fn layer(protocol: u8, bytes: &[u8]) -> Layer<'_> {
    let read = match protocol {
        protocol::TCP => tcp(bytes),
        protocol::UDP => udp(bytes),
        _ => None,
    };
    read.unwrap_or(Layer::Other(bytes))
}

fn tcp(bytes: &[u8]) -> Option<Layer<'_>> {
    let header: &[u8; 20] = bytes.first_chunk()?;
    let payload = bytes.get(usize::from(header[12] >> 4) * 4..).unwrap_or_default();
    let (source, destination) = ports(header);
    Some(Layer::Tcp { source, destination, flags: header[13], payload })
}

fn udp(bytes: &[u8]) -> Option<Layer<'_>> {
    let (header, payload) = bytes.split_first_chunk::<8>()?;
    let (source, destination) = ports(header);
    Some(Layer::Udp { source, destination, payload })
}

fn ports<const N: usize>(header: &[u8; N]) -> (u16, u16) {
    match *header.as_slice() {
        [a, b, c, d, ..] => (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests;
