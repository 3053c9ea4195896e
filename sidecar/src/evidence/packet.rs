//! Packets that the kernel's rules refused, as nfnetlink_log hands them on: the beginning of each, written by the task.
//!
//! Nothing here refuses: a packet that can't be read was refused all the same, and is recorded as such.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

mod copies;
mod headers;
#[cfg(test)]
mod tests;

pub use copies::{Copy, copies};

/// What is known of a refused packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// An IP packet.
    Ip {
        /// Where it said that it came from.
        source: IpAddr,
        /// Where it was to go.
        destination: IpAddr,
        /// What was in it.
        content: Content,
    },
    /// No IP packet that can be made sense of.
    Unreadable,
}

/// What an IP packet carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Tcp(Ports),
    /// A UDP datagram.
    Udp(Ports),
    /// An ICMP message of this type.
    Icmp(u8),
    /// An ICMPv6 message of this type.
    Icmpv6(u8),
    /// A later fragment, without the header of what it is a fragment of.
    Fragment(u8),
    /// A header of this protocol that was copied in part, or is none.
    Cut(u8),
    /// Something else, by its number.
    Protocol(u8),
}

/// The ports of a segment or datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ports {
    /// Where it came from.
    pub source: u16,
    /// Where it was to go.
    pub destination: u16,
}

impl Packet {
    /// Reads the beginning of a packet.
    pub fn parse(bytes: &[u8]) -> Self {
        headers::packet(bytes).unwrap_or(Packet::Unreadable)
    }

    /// Where it was to go; the port is 0 where its protocol has none.
    pub fn destination(&self) -> Option<SocketAddr> {
        match self {
            Packet::Ip { destination, .. } => {
                Some(SocketAddr::new(*destination, self.port().unwrap_or_default()))
            }
            Packet::Unreadable => None,
        }
    }

    /// Where it said that it came from; none where its protocol has no ports.
    pub fn source(&self) -> Option<SocketAddr> {
        match self {
            Packet::Ip { source, content: Content::Tcp(ports) | Content::Udp(ports), .. } => {
                Some(SocketAddr::new(*source, ports.source))
            }
            _ => None,
        }
    }

    /// The port that it was to go to, where its protocol has ports.
    pub fn port(&self) -> Option<u16> {
        match self {
            Packet::Ip { content: Content::Tcp(ports) | Content::Udp(ports), .. } => Some(ports.destination),
            _ => None,
        }
    }
}

/// `udp to 192.0.2.1:123`, for people.
impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.destination()) {
            (Packet::Ip { content: content @ (Content::Tcp(_) | Content::Udp(_)), .. }, Some(to)) => {
                write!(f, "{content} to {to}")
            }
            (Packet::Ip { destination, content, .. }, _) => write!(f, "{content} to {destination}"),
            (Packet::Unreadable, _) => f.write_str("a packet that can't be read"),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Tcp(_) => f.write_str("tcp"),
            Content::Udp(_) => f.write_str("udp"),
            Content::Icmp(8) | Content::Icmpv6(128) => f.write_str("icmp echo request"),
            Content::Icmp(kind) => write!(f, "icmp type {kind}"),
            Content::Icmpv6(kind) => write!(f, "icmpv6 type {kind}"),
            Content::Fragment(protocol) => write!(f, "a fragment of {}", Number(*protocol)),
            Content::Cut(protocol) => write!(f, "part of {}", Number(*protocol)),
            Content::Protocol(protocol) => write!(f, "{}", Number(*protocol)),
        }
    }
}

/// A protocol by its number in IANA's list.
struct Number(u8);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            headers::ICMP => "icmp",
            headers::TCP => "tcp",
            headers::UDP => "udp",
            headers::ICMPV6 => "icmpv6",
            4 => "ipip",
            41 => "ipv6",
            47 => "gre",
            50 => "esp",
            132 => "sctp",
            other => return write!(f, "protocol {other}"),
        })
    }
}
