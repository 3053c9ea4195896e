//! IPv6 in all its forms (G9).

mod global;
mod late;
mod link;
mod name_server;
mod translated;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] =
    &[global::PROBES, late::PROBES, link::PROBES, translated::PROBES, name_server::PROBES];
