//! The proof that something was permitted.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use crate::cidr::canonical;
use crate::phase::Epoch;
use crate::ranges::{self, Standing};
use crate::{Attempt, Host, Phase, Reason, Refusal};

/// The proof that an attempt was permitted: only [`Phase::decide`] makes one, and what dials takes one.
///
/// Not `Clone`: one decision, one connection.
#[derive(Debug)]
#[must_use = "a permit is there to be dialled"]
pub struct Permit {
    phase: Arc<Phase>,
    attempt: Attempt,
    rule: Arc<str>,
    destination: Destination,
    /// Whether a route chose the destination.
    chosen: Chosen,
}

/// Where a permitted connection goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Destination {
    /// A name to be resolved by closedbook's own resolver, or an address to be dialled as it is.
    pub host: Host,
    /// The TCP port.
    pub port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    ByEntry,
    ByRoute,
}

impl Permit {
    /// Applies the route of the permitted host, if there is one.
    pub(crate) fn new(phase: &Arc<Phase>, attempt: Attempt, rule: Arc<str>, host: Host) -> Self {
        let port = attempt.original.port();
        let (destination, chosen) = match phase.route(&host) {
            Some(target) => (
                Destination { host: target.host.clone(), port: target.port.unwrap_or(port) },
                Chosen::ByRoute,
            ),
            None => (Destination { host, port }, Chosen::ByEntry),
        };
        Self { phase: Arc::clone(phase), attempt, rule, destination, chosen }
    }

    /// Where to connect to, routes applied.
    pub fn destination(&self) -> &Destination {
        &self.destination
    }

    /// The text of the entry that permits it.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The phase that permits it.
    pub fn phase(&self) -> &Arc<Phase> {
        &self.phase
    }

    /// The switch of phase that it belongs to.
    pub fn epoch(&self) -> Epoch {
        self.phase.epoch()
    }

    /// What was permitted. After a switch, `phase.decide(permit.attempt().clone())` decides anew.
    pub fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Whether this address may be dialled for this permit: asked for every address that the resolver returns, and
    /// for a destination that is an address itself.
    ///
    /// 1. A destination by address is dialled at that address only.
    /// 2. Loopback, link-local, multicast, metadata and closedbook's own addresses: never.
    /// 3. Private addresses: if the route leads to that very address, if an entry of the phase names it with the
    ///    port, or if the policy says `resolve.private = "allow"`.
    /// 4. Anything else: yes.
    ///
    /// An IPv6 address that carries an IPv4 address (mapped, translated, 6to4, Teredo) must pass as both.
    pub fn may_dial(&self, address: IpAddr) -> Result<(), Refusal> {
        let address = canonical(address);
        match self.destination.host {
            Host::Address(only) if only != address => {
                return Err(Refusal::new(
                    Reason::AddressNotAllowed,
                    format!("the permit is for {only}, not for {address}"),
                ));
            }
            _ => {}
        }
        match ranges::standing(address) {
            Standing::Ordinary => Ok(()),
            Standing::Never(what) => {
                Err(Refusal::new(Reason::PrivateAddress, format!("{address} is never dialled: {what}")))
            }
            Standing::Private(what) if !self.names_private(address) => Err(Refusal::new(
                Reason::PrivateAddress,
                format!(
                    "{address} is {what}, and no entry of phase {} names it on port {}",
                    self.phase.name(),
                    self.destination.port
                ),
            )),
            Standing::Private(_) => Ok(()),
        }
    }

    fn names_private(&self, address: IpAddr) -> bool {
        let routed_there = self.chosen == Chosen::ByRoute
            && matches!(self.destination.host, Host::Address(to) if to == address);
        routed_there || self.phase.names_private(address, self.destination.port)
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port),
            host => write!(f, "{host}:{}", self.port),
        }
    }
}

#[cfg(test)]
mod tests;
