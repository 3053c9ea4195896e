//! Phases, starts and ends: is it closed at every moment? (G6, G7).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
