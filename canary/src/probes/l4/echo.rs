//! Ping.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::targets::Foreign;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::raw::{self, Ping};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "l4-icmp-echo",
        group: Group::L4,
        leak: "the payload of pings: a tunnel both ways, and without any capability where ping_group_range is open",
        how: "an echo request with a nonce to the witness, by an unprivileged ping socket and by a raw one",
        expected: "refused, or no such socket; nothing arrives",
        sources: &["RFC 792", "https://man7.org/linux/man-pages/man7/icmp.7.html", "CVE-2025-55284"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: over_v4,
    },
    Probe {
        id: "l4-icmpv6",
        group: Group::L4,
        leak: "the same over IPv6, where all of ICMPv6 is let through because neighbour discovery needs some of it",
        how: "an echo request with a nonce to the witness's IPv6 address, by both kinds of socket",
        expected: "refused, or no such socket; nothing arrives",
        sources: &["RFC 4443 section 4.1", "RFC 4890"],
        needs: &[Need::Ipv6Kernel],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: over_v6,
    },
];

fn over_v4(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    ping(trial, foreign);
}

fn over_v6(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign_v6();
    ping(trial, foreign);
}

fn ping(trial: &mut Trial<'_>, foreign: Foreign) {
    let attempt = |what: &str, how: Ping| {
        let send = move |nonce: &Nonce| raw::ping(foreign.ip, how, nonce);
        Attempt::new(what, foreign.ip, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![
        attempt("an unprivileged ping socket", Ping::Unprivileged),
        attempt("a raw socket", Ping::Raw),
    ]);
}
