//! Questions about names that are refused, such that the answer means something.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::targets::Targets;
use crate::trial::{Attempt, Want};
use crate::wire::{PATIENCE, dns};

/// What a question is sent over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Udp,
    Tcp,
}

/// A name that is to be refused, and that exists: whoever denies it has not looked it up.
#[derive(Debug, Clone)]
pub(super) enum Refused {
    /// Below the witness's zone. The nonce is its label, so a resolver that passes the question on delivers the nonce.
    Below(String),
    /// A public name, where nobody has a zone.
    Public(String),
}

impl Over {
    pub(super) fn ask(self, server: SocketAddr, question: &[u8]) -> Seen {
        match self {
            Over::Udp => dns::ask_udp(server, question, PATIENCE),
            Over::Tcp => dns::ask_tcp(server, question, PATIENCE),
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Over::Udp => "UDP",
            Over::Tcp => "TCP",
        }
    }
}

impl Refused {
    pub(super) fn of(targets: &Targets) -> Self {
        match targets.zone() {
            Some(zone) => Refused::Below(zone.to_owned()),
            None => Refused::Public(targets.refused_name().to_owned()),
        }
    }

    /// The name for this try.
    pub(super) fn name(&self, nonce: &Nonce) -> String {
        match self {
            Refused::Below(zone) => format!("{}.{zone}", nonce.label()),
            Refused::Public(name) => name.clone(),
        }
    }

    /// Asks for it. A public name's denial speaks for itself.
    pub(super) fn ask<'s>(&self, what: String, server: SocketAddr, over: Over, kind: u16) -> Attempt<'s> {
        let refused = self.clone();
        let ask =
            move |nonce: &Nonce| over.ask(server, &dns::question(id(nonce), &refused.name(nonce), kind));
        let attempt = Attempt::new(what, server, Want::Stopped, ask);
        match self {
            Refused::Below(_) => attempt,
            Refused::Public(name) => attempt.exists(name),
        }
    }
}

/// The id of a question: a part of its nonce, so that two that are under way can't be taken for one another.
pub(super) fn id(nonce: &Nonce) -> u16 {
    nonce.as_str().get(6..10).and_then(|digits| u16::from_str_radix(digits, 16).ok()).unwrap_or(0x0c0d)
}

/// Where an ordinary client of this container asks. Without a line in /etc/resolv.conf the C libraries ask this machine.
pub(super) fn own_server(around: &Surroundings) -> SocketAddr {
    let first = around.nameservers.first().copied();
    SocketAddr::new(first.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)), 53)
}
