use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::nonce;

/// Octets of an arrival that are kept.
const SAMPLE: usize = 256;

/// One thing that reached the lab; one line of the witness's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// When it was noticed, RFC 3339, UTC.
    pub ts: String,
    /// What it was.
    pub proto: Kind,
    /// The address it was sent to.
    pub local: Option<IpAddr>,
    /// The port it was sent to.
    pub local_port: Option<u16>,
    /// The address it came from.
    pub peer: Option<IpAddr>,
    /// The port it came from.
    pub peer_port: Option<u16>,
    /// The name it asked for: the server name of a hello, the host of a request, the name of a question.
    pub name: Option<String>,
    /// What the layer adds: flags of a segment, a protocol number, a request line, a question's type.
    pub detail: Option<String>,
    /// Octets in all.
    pub bytes: u64,
    /// The first 256 octets, in hex.
    pub hex: String,
    /// The same, printable ASCII as it is and a dot for the rest.
    pub ascii: String,
    /// The nonce found in it.
    pub nonce: Option<String>,
}

/// What arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The first segment of a TCP connection, with the data it may carry (Fast Open).
    TcpSyn,
    /// A TCP segment outside any ordinary connection.
    TcpSegment,
    /// A TCP connection and the first octets it brought, neither TLS nor HTTP.
    Tcp,
    /// A TLS handshake.
    Tls,
    /// An HTTP request.
    Http,
    /// A DNS question, over UDP or TCP.
    Dns,
    /// A UDP datagram, to any port but DNS.
    Udp,
    /// An ICMP message.
    Icmp,
    /// An ICMPv6 message.
    Icmpv6,
    /// An SCTP association and the first octets it brought.
    Sctp,
    /// A packet of another IP protocol, SCTP and fragments included.
    Ip,
    /// A frame that is not IP.
    Frame,
}

impl Arrival {
    pub(crate) fn new(proto: Kind, content: &[u8]) -> Self {
        let sample = content.get(..SAMPLE).unwrap_or(content);
        Self {
            ts: now(),
            proto,
            local: None,
            local_port: None,
            peer: None,
            peer_port: None,
            name: None,
            detail: None,
            bytes: content.len() as u64,
            hex: hex(sample),
            ascii: sample.iter().map(|byte| printable(*byte)).collect(),
            nonce: nonce::find(content),
        }
    }

    pub(crate) fn between(mut self, local: SocketAddr, peer: SocketAddr) -> Self {
        self.local_port = Some(local.port());
        self.peer_port = Some(peer.port());
        self.hosts(local.ip(), peer.ip())
    }

    pub(crate) fn hosts(mut self, local: IpAddr, peer: IpAddr) -> Self {
        self.local = Some(local.to_canonical());
        self.peer = Some(peer.to_canonical());
        self
    }

    pub(crate) fn named(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.nonce = self.nonce.or_else(|| nonce::find(name.as_bytes()));
        self.name = Some(name);
        self
    }

    pub(crate) fn detailed(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    pub(crate) fn with_nonce(mut self, nonce: Option<&str>) -> Self {
        if let Some(nonce) = nonce {
            self.nonce = Some(nonce.to_owned());
        }
        self
    }

    pub(crate) fn totalling(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// Whether `nonce` is in what was kept, even where it did not look like one.
    pub fn carries(&self, nonce: &str) -> bool {
        let within = |text: &str| text.to_ascii_lowercase().contains(&nonce.to_ascii_lowercase());
        self.nonce.as_deref() == Some(nonce)
            || within(&self.ascii)
            || self.name.as_deref().is_some_and(within)
            || self.detail.as_deref().is_some_and(within)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn printable(byte: u8) -> char {
    if byte.is_ascii_graphic() || byte == b' ' { char::from(byte) } else { '.' }
}

fn now() -> String {
    // Only a year beyond 9999 can't be written.
    OffsetDateTime::from(SystemTime::now()).format(&Rfc3339).unwrap_or_default()
}
