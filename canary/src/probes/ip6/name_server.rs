//! Name servers that are asked over IPv6.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, dns};

/// Where nobody has to be: asked if /etc/resolv.conf names no server of this kind.
const ANY: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x53);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "ip6-dns-nameserver",
    group: Group::Ip6,
    leak: "a name server with an IPv6 address, where only questions over IPv4 are looked after",
    how: "a name with a nonce, asked of the first IPv6 name server in /etc/resolv.conf (or another) and of the witness",
    expected: "answered here, as over IPv4, or no route; nothing arrives",
    sources: &["https://github.com/NVIDIA/OpenShell/pull/2723"],
    needs: &[Need::Ipv6Kernel, Need::WitnessZone],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: ask,
}];

fn ask(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let Some(zone) = targets.zone() else { return };
    let listed = trial.around().nameservers.iter().find(|server| server.is_ipv6()).copied();
    let own = SocketAddr::new(listed.unwrap_or(IpAddr::V6(ANY)), 53);
    let witness = targets.foreign_v6();
    let question = |nonce: &Nonce| dns::question(0x0cb6, &format!("{}.{zone}", nonce.label()), dns::kind::A);
    let over_udp = |what: &str, to: SocketAddr| {
        Attempt::new(what, to, Want::Stopped, move |n: &Nonce| dns::ask_udp(to, &question(n), PATIENCE))
    };
    let over_tcp = |what: &str, to: SocketAddr| {
        Attempt::new(what, to, Want::Stopped, move |n: &Nonce| dns::ask_tcp(to, &question(n), PATIENCE))
    };
    let attempts = vec![
        over_udp("the name server, over UDP", own),
        over_tcp("the name server, over TCP", own),
        over_udp("the witness, over UDP", witness.port(53)),
        over_tcp("the witness, over TCP", witness.port(53)),
    ];
    trial.attempt_all(attempts);
}
