//! Ordinary clients, where the image has them: what they make of a refusal counts too (G11).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
