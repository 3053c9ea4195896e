//! Other protocols over TCP: what is neither TLS nor HTTP has no evidence, and no passage (G4).
//!
//! `proto-nested-proxy` is no probe: whether a permitted host relays for others is a fact of the policy.

mod ftp;
mod ports;
mod proxy;
mod raw;
mod server_first;
mod ssh;
mod starttls;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[
    server_first::PROBES,
    ssh::PROBES,
    starttls::PROBES,
    raw::PROBES,
    ports::PROBES,
    ftp::PROBES,
    proxy::PROBES,
];
