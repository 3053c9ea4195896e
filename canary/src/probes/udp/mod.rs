//! UDP: nothing of it passes but DNS, and that is answered here (G9).

mod any;
mod ntp;
mod quic;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[quic::PROBES, any::PROBES, ntp::PROBES];
