//! IPv6 in all its forms (G9).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
