//! DNS: every question is answered here, and asking sends nothing anywhere (G9).
//!
//! No probes are `dns-doh-allowed-host` (whether a permitted host serves DNS is a fact of the policy) and
//! `dns-rebind-toctou` (an address that changes between check and dial needs a permitted name in an attacker's hand, and
//! shows at the dialler alone).

mod direct;
mod ech;
mod edns;
mod encrypted;
mod files;
mod kinds;
mod labels;
mod multicast;
mod question;
mod rebind;
mod resolver;
mod upstream;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[
    resolver::PROBES,
    direct::PROBES,
    upstream::PROBES,
    encrypted::PROBES,
    kinds::PROBES,
    ech::PROBES,
    labels::PROBES,
    edns::PROBES,
    rebind::PROBES,
    multicast::PROBES,
    files::PROBES,
];
