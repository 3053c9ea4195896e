//! ICMP, raw and packet sockets, other protocols over IP, and tricks of the transport layer (G9).
//!
//! No probes are `l4-established-inbound`, for which somebody outside has to dial in, and `l4-io-uring`, which takes memory
//! that is shared with the kernel: safe code has no way to that. What it sends goes through the same hooks as what sockets
//! send, so it is another way out only where system calls are all that is filtered.

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

use crate::nonce::Nonce;
use crate::probe::Probe;
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::routes;

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

/// Where there is no device but loopback, and no witness: what is sent by hand meets nobody, and nobody could say whether
/// it did. Notes that, and says so.
fn leads_nowhere(trial: &mut Trial<'_>) -> bool {
    let moot = trial.targets().witness.is_none() && routes::way_out() == "lo";
    if moot {
        let other = |_: &Nonce| Seen::NotFound;
        trial.attempt(Attempt::new("a device beside loopback", "/proc/net/dev", Want::Absent, other));
    }
    moot
}
