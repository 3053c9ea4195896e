//! Privileges and namespaces: is there an exemption, and can it be had? (G2, G17).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
