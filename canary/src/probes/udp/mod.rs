//! UDP: nothing of it passes but DNS, and that is answered here (G9).

mod any;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[any::PROBES];
