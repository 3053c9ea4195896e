//! Time, the exception that looks harmless.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::udp;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "udp-ntp",
    group: Group::Udp,
    leak: "a hole for NTP: its time stamps carry 24 octets of anything in each packet",
    how: "an NTP client's request to the witness, the nonce in the time stamps that a server ignores",
    expected: "refused at once, and nothing arrives",
    sources: &["RFC 5905 section 7.3"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: ntp,
}];

fn ntp(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let to = foreign.port(123);
    let ask = |nonce: &Nonce| udp::exchange(to, &request(nonce), nonce);
    trial.attempt(Attempt::new("an NTP request", to, Want::Stopped, ask).nowhere(foreign.nowhere));
}

/// Version 4, mode client; reference, origin and receive time stamps at octets 16 to 40.
fn request(nonce: &Nonce) -> Vec<u8> {
    let mut packet = vec![0x23, 0, 6, 0xec];
    packet.resize(16, 0);
    packet.extend(nonce.as_str().bytes().take(24));
    packet.resize(48, 0);
    packet
}
