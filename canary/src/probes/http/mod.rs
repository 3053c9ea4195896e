//! Plain HTTP: is each request checked, and is what is ambiguous refused? (G5)

mod plain;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[plain::PROBES];
