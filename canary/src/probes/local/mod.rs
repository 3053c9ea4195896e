//! What is near: the sidecar itself, neighbours, the host (G9, G10).

mod gateway;
mod listeners;
mod metadata;
mod sockets;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] =
    &[listeners::PROBES, metadata::PROBES, gateway::PROBES, sockets::PROBES];
