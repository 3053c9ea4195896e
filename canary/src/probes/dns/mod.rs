//! DNS: every question is answered here, and asking sends nothing anywhere (G9).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
