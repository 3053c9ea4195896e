//! The witness's record: what arrived, whoever sent it.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::nonce::Nonce;

/// What the witness wrote down while the probes ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What arrived.
    pub arrivals: Vec<Arrival>,
    /// Arrivals that it could not keep. With any, absence proves nothing.
    pub lost: u64,
    /// Whether it was shown to write down what arrives, after the last probe: by something that was sent to it then.
    pub alive: bool,
}

/// One thing that arrived: a line of the witness's file. Fields that are not needed here are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// What it was: `tls`, `http`, `dns`, `udp`, `tcp-syn`, ...
    pub proto: String,
    /// The address it was sent to.
    #[serde(default)]
    pub local: Option<IpAddr>,
    /// The port it was sent to.
    #[serde(default)]
    pub local_port: Option<u16>,
    /// The name it asked for.
    #[serde(default)]
    pub name: Option<String>,
    /// What the layer adds.
    #[serde(default)]
    pub detail: Option<String>,
    /// How its content begins, printable.
    #[serde(default)]
    pub ascii: String,
    /// The nonce that was found in it.
    #[serde(default)]
    pub nonce: Option<String>,
}

impl Arrival {
    /// Whether it bears this mark, in whatever spelling.
    pub fn carries(&self, nonce: &Nonce) -> bool {
        let wanted = nonce.label();
        if wanted.is_empty() {
            return false;
        }
        let within = |text: &str| text.to_ascii_lowercase().contains(&wanted);
        [self.nonce.as_deref(), self.name.as_deref(), self.detail.as_deref(), Some(self.ascii.as_str())]
            .into_iter()
            .flatten()
            .any(within)
    }

    /// For people.
    pub fn shown(&self) -> String {
        let place = match (self.local, self.local_port) {
            (Some(ip), Some(port)) => std::net::SocketAddr::new(ip, port).to_string(),
            (Some(ip), None) => ip.to_string(),
            _ => "the witness".to_owned(),
        };
        match &self.name {
            Some(name) => format!("{} for {name} at {place}", self.proto),
            None => format!("{} at {place}", self.proto),
        }
    }
}
