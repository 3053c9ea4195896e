//! Packets by hand: what no ordinary socket would send. Pure.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Protocol numbers (IANA).
pub mod protocol {
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 fragment header.
    pub const FRAGMENT: u8 = 44;
    /// ICMPv6.
    pub const ICMPV6: u8 = 58;
    /// IPv6 destination options.
    pub const DESTINATION: u8 = 60;
}

/// Flags of a TCP segment (RFC 9293 section 3.1).
pub mod flag {
    /// No more data.
    pub const FIN: u8 = 0x01;
    /// Synchronise.
    pub const SYN: u8 = 0x02;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// Acknowledge.
    pub const ACK: u8 = 0x10;
}

/// An IPv4 header (RFC 791 section 3.1).
#[derive(Debug, Clone)]
pub struct V4 {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    fragment: u16,
    options: Vec<u8>,
}

impl V4 {
    /// Without options, not a fragment.
    pub fn new(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8) -> Self {
        Self { source, destination, protocol, fragment: 0, options: Vec::new() }
    }

    /// A fragment at this offset, in octets (a multiple of eight).
    pub fn fragment(mut self, offset: u16, more: bool) -> Self {
        self.fragment = (offset / 8) | if more { 0x2000 } else { 0 };
        self
    }

    /// With options, filled up to a whole word.
    pub fn options(mut self, mut options: Vec<u8>) -> Self {
        options.resize(options.len().next_multiple_of(4), 0);
        self.options = options;
        self
    }

    /// The packet.
    pub fn packet(&self, payload: &[u8]) -> Vec<u8> {
        let words = 5 + u8::try_from(self.options.len() / 4).unwrap_or(0);
        let length = usize::from(words) * 4 + payload.len();
        let mut header = vec![0x40 | words, 0];
        header.extend(u16::try_from(length).unwrap_or(u16::MAX).to_be_bytes());
        // An identification that is not zero: the kernel would choose one for each fragment.
        header.extend([0x0c, 0xb0]);
        header.extend(self.fragment.to_be_bytes());
        header.extend([64, self.protocol]);
        let addresses = [self.source.octets(), self.destination.octets()].concat();
        let sum = checksum(&[&header, &addresses, &self.options]);
        header.extend(sum.to_be_bytes());
        [header.as_slice(), &addresses, &self.options, payload].concat()
    }
}

/// An IPv6 packet (RFC 8200 section 3), its payload beginning with the header `next`.
pub fn v6(source: Ipv6Addr, destination: Ipv6Addr, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0];
    packet.extend(u16::try_from(payload.len()).unwrap_or(u16::MAX).to_be_bytes());
    packet.extend([next, 64]);
    packet.extend(source.octets());
    packet.extend(destination.octets());
    packet.extend(payload);
    packet
}

/// A UDP datagram with its header (RFC 768).
pub fn udp(source: SocketAddr, destination: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let mut datagram = ports(source, destination);
    datagram.extend(u16::try_from(8 + payload.len()).unwrap_or(u16::MAX).to_be_bytes());
    let sum = match sum_between(source.ip(), destination.ip(), protocol::UDP, &[&datagram, &[0; 2], payload])
    {
        // Zero means that there is none.
        0 => u16::MAX,
        sum => sum,
    };
    datagram.extend(sum.to_be_bytes());
    datagram.extend(payload);
    datagram
}

/// A TCP segment with these flags, in no connection (RFC 9293 section 3.1).
pub fn tcp(source: SocketAddr, destination: SocketAddr, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut segment = ports(source, destination);
    segment.extend([0x0c, 0xb0, 0, 1]);
    let acknowledged = if flags & flag::ACK == 0 { [0; 4] } else { [0x0c, 0xb1, 0, 1] };
    segment.extend(acknowledged);
    segment.extend([0x50, flags, 0xff, 0xff]);
    let sum = sum_between(source.ip(), destination.ip(), protocol::TCP, &[&segment, &[0; 4], payload]);
    segment.extend(sum.to_be_bytes());
    segment.extend([0, 0]);
    segment.extend(payload);
    segment
}

/// An echo request of either family (RFC 792, RFC 4443 section 4.1). The checksum of ICMPv6 is left to the kernel, which
/// knows the addresses.
pub fn echo(is_v6: bool, id: u16, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![if is_v6 { 128 } else { 8 }, 0, 0, 0];
    message.extend(id.to_be_bytes());
    message.extend([0, 1]);
    message.extend(payload);
    if !is_v6 {
        let sum = checksum(&[&message]).to_be_bytes();
        message.splice(2..4, sum);
    }
    message
}

fn ports(source: SocketAddr, destination: SocketAddr) -> Vec<u8> {
    [source.port().to_be_bytes(), destination.port().to_be_bytes()].concat()
}

/// With the pseudo header of RFC 9293 section 3.1 and RFC 8200 section 8.1. All parts but the last are even.
fn sum_between(source: IpAddr, destination: IpAddr, protocol: u8, parts: &[&[u8]]) -> u16 {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut pseudo = match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => [source.octets(), destination.octets()].concat(),
        (source, destination) => [octets(source), octets(destination)].concat(),
    };
    pseudo.extend(u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes());
    pseudo.extend([0, 0, 0, protocol]);
    let all: Vec<&[u8]> = std::iter::once(pseudo.as_slice()).chain(parts.iter().copied()).collect();
    checksum(&all)
}

fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// RFC 1071. All parts but the last are even.
pub fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2)).map(|pair| match *pair {
        [high, low] => u32::from(u16::from_be_bytes([high, low])),
        [high] => u32::from(high) << 8,
        _ => 0,
    });
    let mut sum: u32 = words.fold(0, u32::wrapping_add);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> (SocketAddr, SocketAddr) {
        ("192.0.2.1:1000".parse().unwrap(), "198.51.100.7:9".parse().unwrap())
    }

    /// The example of RFC 1071 section 3, and that a sum over what carries its own is nothing.
    #[test]
    fn sums_are_right() {
        assert_eq!(checksum(&[&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]]), !0xddf2);
        let (source, destination) = ends();
        for payload in [&b""[..], b"odd", b"even"] {
            for (number, made) in [
                (protocol::UDP, udp(source, destination, payload)),
                (protocol::TCP, tcp(source, destination, flag::SYN, payload)),
            ] {
                assert_eq!(sum_between(source.ip(), destination.ip(), number, &[&made]), 0, "{number}");
            }
            assert_eq!(checksum(&[&echo(false, 7, payload)]), 0);
        }
    }

    #[test]
    fn headers_say_what_is_behind_them() {
        let (IpAddr::V4(source), IpAddr::V4(destination)) = (ends().0.ip(), ends().1.ip()) else { panic!() };
        let header = V4::new(source, destination, 17).options(vec![0x83, 3, 4]).fragment(16, true);
        let packet = header.packet(b"12345");
        assert_eq!(packet[0], 0x46);
        assert_eq!(packet[2..4], [0, 29]);
        assert_eq!(packet[6..8], [0x20, 2]);
        assert_eq!(checksum(&[&packet[..24]]), 0);
        let packet = v6(Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED, 58, b"abc");
        assert_eq!((packet.len(), packet[5], packet[6]), (43, 3, 58));
    }
}
