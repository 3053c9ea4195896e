//! Any UDP port.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::udp;

/// Ports that somebody may have thought harmless, or useful. Port 53 is tried with questions, by `dns-direct-udp`.
const PORTS: [u16; 12] = [123, 443, 500, 1194, 4500, 5353, 33434, 51820, 1, 69, 1900, 65535];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "udp-any",
    group: Group::Udp,
    leak: "any UDP port: a tunnel needs one",
    how: "a datagram with a nonce to each of twelve ports of the witness",
    expected: "refused at once, and nothing arrives",
    sources: &["https://github.com/github/gh-aw-firewall"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: any,
}];

fn any(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let attempt = |port: u16| {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| udp::exchange(to, nonce.as_str().as_bytes(), nonce);
        Attempt::new(format!("UDP port {port}"), to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    trial.attempt_all(PORTS.into_iter().map(attempt).collect());
}
