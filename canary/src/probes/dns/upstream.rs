//! The resolver that the sidecar itself asks: in a shared namespace its way out may be open to everybody.

use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};

use super::question::{Over, Refused, id};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::targets::Targets;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, dns};

/// Marks that filters are known to exempt: of gost in Harbor, of kube-proxy and WireGuard, and small numbers.
const MARKS: [u32; 6] = [114_514, 0x1, 75, 0x1112, 1337, 0x4000];

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "dns-upstream-netns-wide",
        group: Group::Dns,
        leak: "a rule that lets anybody in the namespace talk to the sidecar's upstream resolver",
        how: "a name with a nonce, asked of the upstream resolver's own address",
        expected: "answered here or refused; nothing arrives",
        sources: &[
            "https://github.com/mcdonc/klangk/issues/2264",
            "https://github.com/mcdonc/klangk/issues/2271",
        ],
        needs: &[Need::WitnessZone],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: plain,
    },
    Probe {
        id: "dns-upstream-spoof-mark",
        group: Group::Dns,
        leak: "the mark by which the sidecar's own questions are let out, on a question of somebody else",
        how: "a name with a nonce, asked of the upstream resolver from sockets with marks that are known",
        expected: "the mark can't be set, or helps nobody; nothing arrives",
        sources: &[
            "https://github.com/mcdonc/klangk/issues/2276",
            "https://github.com/mcdonc/klangk/issues/2284",
        ],
        needs: &[Need::WitnessZone],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: marked,
    },
];

/// The upstream where it is known; the witness answers in its place.
fn upstream(targets: &Targets) -> SocketAddr {
    let known = targets.witness.as_ref().and_then(|witness| witness.resolver);
    SocketAddr::new(known.unwrap_or(targets.foreign().ip), 53)
}

fn plain(trial: &mut Trial<'_>) {
    let refused = Refused::of(trial.targets());
    let to = upstream(trial.targets());
    let attempts = [Over::Udp, Over::Tcp]
        .map(|over| refused.ask(format!("over {}", over.word()), to, over, dns::kind::A));
    trial.attempt_all(attempts.into());
}

fn marked(trial: &mut Trial<'_>) {
    let refused = Refused::of(trial.targets());
    let to = upstream(trial.targets());
    let attempts = MARKS.map(|mark| {
        let refused = refused.clone();
        let ask = move |nonce: &Nonce| {
            ask_marked(to, mark, &dns::question(id(nonce), &refused.name(nonce), dns::kind::A))
        };
        Attempt::new(format!("mark {mark:#x}"), to, Want::Stopped, ask)
    });
    trial.attempt_all(attempts.into());
}

fn ask_marked(to: SocketAddr, mark: u32, question: &[u8]) -> Seen {
    let socket = match Socket::new(Domain::for_address(to), Type::DGRAM, Some(Protocol::UDP)) {
        Ok(socket) => socket,
        Err(error) => return Seen::of_error("socket", &error),
    };
    if let Err(error) = socket.set_mark(mark) {
        return Seen::of_error("setsockopt(SO_MARK)", &error);
    }
    dns::ask_on(&socket.into(), to, question, PATIENCE)
}
