//! The TLS name layer: does the name decide, and is no evidence no passage? (G3, G4)

mod names;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[names::PROBES];
