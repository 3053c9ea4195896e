//! ICMP, raw and packet sockets, other protocols over IP, and tricks of the transport layer (G9).
//!
//! No probes are `l4-established-inbound`, for which somebody outside has to dial in, and `l4-io-uring`: it asks for
//! shared memory with the kernel, which safe code has no way to. What io_uring sends goes through the same hooks as all
//! that the other probes send; where a filter of system calls is all there is, `priv-ld-preload` and its like show it.

mod cast;
mod device;
mod echo;
mod fast_open;
mod fragments;
mod frames;
mod multipath;
mod protocols;
mod segments;
mod source;
mod source_route;
mod transports;

use crate::probe::Probe;

pub(super) const PROBES: &[&[Probe]] = &[
    echo::PROBES,
    transports::PROBES,
    protocols::PROBES,
    segments::PROBES,
    frames::PROBES,
    fragments::PROBES,
    multipath::PROBES,
    fast_open::PROBES,
    source_route::PROBES,
    cast::PROBES,
    device::PROBES,
    source::PROBES,
];
