//! What is near: the sidecar itself, neighbours, the host (G9, G10).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
