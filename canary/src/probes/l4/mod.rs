//! ICMP, raw and packet sockets, other protocols over IP, and tricks of the transport layer (G9).

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[];
