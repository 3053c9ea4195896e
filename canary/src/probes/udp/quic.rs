//! QUIC: HTTP/3 to where TCP is refused.

use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{quic, udp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "udp-quic",
    group: Group::Udp,
    leak: "HTTP/3, which is no TCP connection and shows its name to nobody in passing",
    how: "the first packet of a QUIC connection to the witness, for its own name and for the permitted one",
    expected: "refused at once, so that clients turn to TCP; nothing arrives",
    sources: &["RFC 9000 section 17.2.2", "RFC 9114", "https://github.com/eblocker/eblocker/issues/399"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: quic,
}];

fn quic(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let foreign = targets.foreign();
    let attempt = |what: &str, port: u16, name: String| {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| initial(to, &name, nonce);
        Attempt::new(what, to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    let own = targets.foreign_name().to_owned();
    let permitted = targets.https().map(|host| host.name.clone());
    let mut attempts = vec![
        attempt("a refused name on port 443", 443, own.clone()),
        attempt("a refused name on port 8443", 8443, own),
    ];
    attempts.extend(permitted.map(|name| attempt("the permitted name on port 443", 443, name)));
    trial.attempt_all(attempts);
}

fn initial(to: SocketAddr, name: &str, nonce: &Nonce) -> Seen {
    match quic::initial(name, "h3", nonce) {
        Some(packet) => udp::exchange(to, &packet, nonce),
        None => Seen::failed("no QUIC packet could be made"),
    }
}
