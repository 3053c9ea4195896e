//! Phases, starts and ends: is it closed at every moment? (G6, G7).

mod again;
mod crash;
mod crowd;
mod daemon;
mod devices;
mod line;
mod start;
mod switch;
mod window;

use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::Probe;
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::targets::Targets;
use crate::wire::{LONG_PATIENCE, lookup, tls};

pub(super) const PROBES: &[&[Probe]] = &[
    start::PROBES,
    again::PROBES,
    crowd::PROBES,
    switch::PROBES,
    daemon::PROBES,
    window::PROBES,
    devices::PROBES,
    crash::PROBES,
];

/// Where a name is, as an ordinary client has it.
fn at(name: &str, port: u16, around: &Surroundings) -> Result<SocketAddr, Seen> {
    let addresses = lookup::addresses(name, around)?;
    let first = addresses.first().ok_or_else(|| Seen::failed(format!("{name} has no address")))?;
    Ok(SocketAddr::new(*first, port))
}

/// A client that insists on a good certificate.
fn strict(targets: &Targets) -> tls::Options {
    let ordinary = tls::Options::ordinary(targets.trust.as_deref());
    tls::Options { strict: true, within: LONG_PATIENCE, ..ordinary }
}

/// A request to a permitted host, from its name on.
fn get(name: &str, around: &Surroundings, options: &tls::Options, nonce: &Nonce) -> Seen {
    match at(name, 443, around) {
        Ok(to) => tls::get(to, name, name, options, nonce),
        Err(seen) => seen,
    }
}
