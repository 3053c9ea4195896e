//! TCP segments that belong to no connection.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::ip::{self, flag, protocol};
use crate::wire::raw;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-raw-tcp-invalid",
    group: Group::L4,
    leak: "segments that connection tracking calls invalid: no rule redirects them, and where TCP is only redirected they leave",
    how: "segments with a nonce to the witness whose flags no stack would send, or that no handshake came before",
    expected: "no raw socket, or nothing arrives",
    sources: &[
        "RFC 9293 section 3.1",
        "https://wiki.nftables.org/wiki-nftables/index.php/Connection_Tracking_System",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: segments,
}];

/// What they are, and their flags. All ports are such that a listener is there: what counts is not its answer.
const FLAGS: [(&str, u8); 6] = [
    ("SYN with data", flag::SYN),
    ("SYN and FIN", flag::SYN | flag::FIN),
    ("ACK with data", flag::ACK | flag::PSH),
    ("FIN alone", flag::FIN),
    ("no flags", 0),
    ("all flags", 0x3f),
];

fn segments(trial: &mut Trial<'_>) {
    if super::leads_nowhere(trial) {
        return;
    }
    let foreign = trial.targets().foreign();
    let to = foreign.port(443);
    let attempts = FLAGS.into_iter().zip(40_001..).map(|((what, flags), port)| {
        let send = move |nonce: &Nonce| match raw::source(to.ip()) {
            Ok(source) => {
                let segment = ip::tcp((source, port).into(), to, flags, nonce.as_str().as_bytes());
                raw::send(to.ip(), protocol::TCP, &segment)
            }
            Err(seen) => seen,
        };
        Attempt::new(what, to, Want::Stopped, send).nowhere(foreign.nowhere)
    });
    trial.attempt_all(attempts.collect());
}
