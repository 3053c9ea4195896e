//! Other protocols over TCP: what is neither TLS nor HTTP has no evidence, and no passage (G4).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
