//! When the verdict falls: what reached the server before it has left.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::shape::{Shape, Shaped};
use crate::wire::{PATIENCE, tcp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "tls-sni-late-verdict",
    group: Group::Tls,
    leak: "the first segments reach a server before the name is judged: its address and the time are a message",
    how: "a hello with a name that is not allowed, in two halves, to an address of the witness that nothing else aims at",
    expected: "refused, and nothing arrives at that address, not even a SYN",
    sources: &[
        "https://aws.amazon.com/blogs/security/enhance-tls-inspection-with-sni-session-holding-in-aws-network-firewall",
    ],
    needs: &[Need::Witness],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: late,
}];

/// Long enough for a filter that passes on what it has.
const PAUSE: Duration = Duration::from_millis(400);

fn late(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let quiet = targets.witness.as_ref().and_then(|witness| witness.quiet);
    let to = SocketAddr::new(quiet.map_or(foreign.ip, IpAddr::V4), 443);
    let send = |nonce: &Nonce| match tcp::connect(to, PATIENCE) {
        Err(seen) => seen,
        Ok(stream) => {
            let octets = Hello::named(name.as_bytes(), nonce).octets();
            // The session id with the nonce is in the first half.
            let shape = Shape::Halt { after: octets.len() / 2, pause: PAUSE };
            let mut stream = Shaped::new(stream, shape);
            match stream.write_all(&octets) {
                Ok(()) => tcp::read(&mut stream, nonce, PATIENCE),
                Err(error) => Seen::of_error("send", &error),
            }
        }
    };
    // Without an address of its own, a SYN is nobody's: then only what bears the nonce counts.
    let what = match quiet {
        Some(_) => "a name that is not allowed, to an address of its own",
        None => "a name that is not allowed, to an address that others aim at too",
    };
    let attempt = Attempt::new(what, to, Want::Stopped, send).nowhere(foreign.nowhere);
    trial.attempt(if quiet.is_some() { attempt.quiet() } else { attempt });
}
