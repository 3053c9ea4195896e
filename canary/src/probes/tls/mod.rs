//! The TLS name layer: does the name decide, and is no evidence no passage? (G3, G4)

mod alpn;
mod coalescing;
mod ech;
mod late;
mod malformed;
mod names;
mod old;
mod places;
mod shapes;
mod size;
mod slow;
mod spelling;
mod tickets;

use std::fmt;
use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::Probe;
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{LONG_PATIENCE, lookup, shape, tcp, tls};

pub(super) const PROBES: &[&[Probe]] = &[
    names::PROBES,
    late::PROBES,
    spelling::PROBES,
    malformed::PROBES,
    shapes::PROBES,
    slow::PROBES,
    size::PROBES,
    old::PROBES,
    ech::PROBES,
    alpn::PROBES,
    tickets::PROBES,
    places::PROBES,
    coalescing::PROBES,
];

/// A try with octets that were made by hand, to an address that must not be reached.
fn by_hand<'s>(
    trial: &Trial<'s>,
    what: impl Into<String>,
    want: Want,
    octets: impl FnOnce(&Nonce) -> Vec<u8> + Send + 's,
) -> Attempt<'s> {
    let foreign = trial.targets().foreign();
    let to = foreign.port(443);
    let send = move |nonce: &Nonce| tcp::exchange(to, &octets(nonce), nonce);
    Attempt::new(what, to, want, send).nowhere(foreign.nowhere)
}

/// The permitted host by a client that trusts its certificate alone, its first words shaped as wanted.
fn reached<'s>(
    trial: &Trial<'s>,
    name: &'s str,
    shape: Option<shape::Shape>,
    options: tls::Options,
) -> impl FnOnce(&Nonce) -> Seen + Send + 's {
    let around = trial.around();
    move |nonce| {
        let to = match lookup::addresses(name, around) {
            Ok(found) => found.into_iter().next(),
            Err(seen) => return seen,
        };
        let Some(ip) = to else { return Seen::failed("the name has no address") };
        let options = tls::Options { within: LONG_PATIENCE, strict: true, ..options };
        shaped(SocketAddr::new(ip, 443), name, shape, &options, nonce)
    }
}

/// An ordinary client, its first words shaped as wanted.
fn shaped(
    to: SocketAddr,
    name: &str,
    shape: Option<shape::Shape>,
    options: &tls::Options,
    nonce: &Nonce,
) -> Seen {
    let stream = match tcp::connect(to, options.within) {
        Ok(stream) => stream,
        Err(seen) => return seen,
    };
    match shape {
        Some(shape) => tls::get_on(shape::Shaped::new(stream, shape), name, name, options, nonce),
        None => tls::get_on(stream, name, name, options, nonce),
    }
}

/// The name of the try with the permitted host, beside which the one with another means something.
fn permitted(how: impl fmt::Display) -> String {
    format!("the permitted name, {how}")
}

/// The name of the other.
fn refused(how: impl fmt::Display) -> String {
    format!("a name that is not allowed, {how}")
}
