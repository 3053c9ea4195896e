//! What must work: without it, nothing that is blocked means anything (G12, G14).

mod hosts;
mod refused;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[hosts::PROBES, refused::PROBES];
