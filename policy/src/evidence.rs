//! What a connection says about itself. Made by the parsers, judged by [`Phase::decide`](crate::Phase::decide).

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use crate::Name;

/// One attempt to reach something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// What the client said.
    pub evidence: Evidence,
    /// Where the client aimed: its address is for the log and for entries that name addresses; its port counts.
    pub original: SocketAddr,
}

/// What the first bytes of a connection prove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A whole TLS ClientHello.
    Tls(Hello),
    /// One HTTP/1 request head.
    Http(Request),
    /// A connection to the synthetic address that was handed out for this name; nothing was read.
    Tcp(Name),
}

/// The part of a ClientHello that matters (RFC 8446 section 4.1.2, RFC 6066 section 3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The one `host_name` of the server_name extension.
    pub server_name: Option<Name>,
    /// Whether encrypted_client_hello (RFC 9849) is present; GREASE can't be told from the real thing.
    pub ech: bool,
}

/// The part of an HTTP/1 request head that matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The host of the one Host field.
    pub host: Host,
    /// The port of the Host field, where it has one.
    pub port: Option<u16>,
    /// Whether the request asks to leave HTTP.
    pub upgrade: Upgrade,
}

/// Whether a request asks to leave HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upgrade {
    /// An ordinary request.
    None,
    /// `Upgrade: websocket` (RFC 6455). Any other upgrade is refused where it is read.
    WebSocket,
}

/// A host by name or by address.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// By name.
    Name(Name),
    /// By address.
    Address(IpAddr),
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Name(name) => name.fmt(f),
            Host::Address(address) => address.fmt(f),
        }
    }
}
