//! Resolvers elsewhere, asked directly.

use super::question::{Over, Refused};
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::Trial;
use crate::wire::dns::kind;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "dns-direct-udp",
        group: Group::Dns,
        leak: "a name server of the attacker's own, or a public one, asked over UDP",
        how: "A and TXT of a name with a nonce, asked of the witness's address on UDP port 53",
        expected: "answered here or refused; nothing arrives",
        sources: &["https://github.com/github/gh-aw-firewall/issues/1270"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: over_udp,
    },
    Probe {
        id: "dns-direct-tcp",
        group: Group::Dns,
        leak: "the same over TCP, where only UDP is looked after",
        how: "A and TXT of a name with a nonce, asked of the witness's address on TCP port 53",
        expected: "answered here or refused; nothing arrives",
        sources: &["RFC 7766", "https://github.com/github/gh-aw-firewall/issues/1270"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: over_tcp,
    },
];

fn over_udp(trial: &mut Trial<'_>) {
    directly(trial, Over::Udp);
}

fn over_tcp(trial: &mut Trial<'_>) {
    directly(trial, Over::Tcp);
}

fn directly(trial: &mut Trial<'_>, over: Over) {
    let foreign = trial.targets().foreign();
    let refused = Refused::of(trial.targets());
    let to = foreign.port(53);
    let attempts = [("A", kind::A), ("TXT", kind::TXT)]
        .map(|(word, kind)| refused.ask(word.to_owned(), to, over, kind).nowhere(foreign.nowhere));
    trial.attempt_all(attempts.into());
}
