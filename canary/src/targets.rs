//! What is aimed at: permitted hosts, hosts that are to be refused, the witness, and addresses where nobody lives.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Where nobody lives (RFC 5737): an answer from here comes from whoever is in between.
pub const NOWHERE_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 77);
/// The same (RFC 3849).
pub const NOWHERE_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0x77, 0x77);

/// A name that exists for as long as there are documents (RFC 2606), where no other is known.
pub const PUBLIC_NAME: &str = "example.net";

/// Everything that a phase's probes aim at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    /// Hosts that the phase permits by exact name, in the policy's order.
    pub permitted: Vec<Permitted>,
    /// Suffixes of wildcard entries: `example.org` for `*.example.org`.
    pub wildcards: Vec<String>,
    /// Hosts that an earlier phase permits on port 443 and this one does not permit.
    pub setup_only: Vec<String>,
    /// Hosts that an earlier phase permits on port 80 and this one does not, and that prove their answers: those of a lab.
    #[serde(default)]
    pub setup_only_http: Vec<String>,
    /// Public hosts that no phase permits.
    pub refused: Vec<String>,
    /// A server of the operator's own.
    pub witness: Option<Witness>,
    /// Certificates to trust beside the usual ones, PEM.
    pub trust: Option<String>,
    /// Whether permitted hosts answer with the witness's proofs and are the operator's own: the lab's are. Others are not asked
    /// what only an attacker would ask them, and can't prove an answer in the clear.
    #[serde(default)]
    pub own_hosts: bool,
    /// Whether the policy refuses hellos with ECH, GREASE included.
    #[serde(default)]
    pub refuses_ech: bool,
}

/// A host that is permitted by its exact name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permitted {
    /// The name.
    pub name: String,
    /// Whether port 443 is.
    pub https: bool,
    /// Whether port 80 is.
    pub http: bool,
}

/// A server that answers every protocol with a proof of the nonce, and writes down what arrives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// A name of it that no phase permits.
    pub name: String,
    /// Its address.
    pub v4: Option<Ipv4Addr>,
    /// Its address.
    pub v6: Option<Ipv6Addr>,
    /// A second address, at which nothing but one probe ever aims: whatever arrives there is that probe's.
    pub quiet: Option<Ipv4Addr>,
    /// A zone whose authoritative server it is.
    pub zone: Option<String>,
    /// A resolver that would ask it, if it could be reached: the lab's, or a public one.
    pub resolver: Option<IpAddr>,
}

/// An address that must not be reached, and what an answer from it would mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    /// The address.
    pub ip: IpAddr,
    /// Whether nobody lives there.
    pub nowhere: bool,
}

impl Foreign {
    /// With a port.
    pub fn port(self, port: u16) -> SocketAddr {
        SocketAddr::new(self.ip, port)
    }
}

impl Targets {
    /// An IPv4 address that must not be reached: the witness's, or one where nobody lives.
    pub fn foreign(&self) -> Foreign {
        match self.witness.as_ref().and_then(|witness| witness.v4) {
            Some(ip) => Foreign { ip: ip.into(), nowhere: false },
            None => Foreign { ip: NOWHERE_V4.into(), nowhere: true },
        }
    }

    /// The same over IPv6.
    pub fn foreign_v6(&self) -> Foreign {
        match self.witness.as_ref().and_then(|witness| witness.v6) {
            Some(ip) => Foreign { ip: ip.into(), nowhere: false },
            None => Foreign { ip: NOWHERE_V6.into(), nowhere: true },
        }
    }

    /// A name that must be refused: the witness's, or one that nobody has (RFC 6761).
    pub fn foreign_name(&self) -> &str {
        self.witness.as_ref().map_or("canary.invalid", |witness| witness.name.as_str())
    }

    /// A public name that exists, and that no phase permits.
    pub fn refused_name(&self) -> &str {
        self.refused.first().map_or(PUBLIC_NAME, String::as_str)
    }

    /// The first host that is permitted on port 443.
    pub fn https(&self) -> Option<&Permitted> {
        self.permitted.iter().find(|host| host.https)
    }

    /// The first host that is permitted on port 80.
    pub fn http(&self) -> Option<&Permitted> {
        self.permitted.iter().find(|host| host.http)
    }

    /// The zone whose questions the witness would see.
    pub fn zone(&self) -> Option<&str> {
        self.witness.as_ref().and_then(|witness| witness.zone.as_deref())
    }
}
