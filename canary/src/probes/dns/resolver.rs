//! Resolvers that are near: the container's own, the engine's, the gateway's.

use std::net::{Ipv4Addr, SocketAddr};

use super::question::{Over, Refused, own_server};
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::Trial;
use crate::wire::dns::kind;
use crate::wire::routes;

/// Docker's embedded resolver.
const EMBEDDED: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 11);
/// Docker's usual gateway, to be asked where the namespace has none.
const USUAL_GATEWAY: Ipv4Addr = Ipv4Addr::new(172, 17, 0, 1);

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "dns-embedded-recursion",
        group: Group::Dns,
        leak: "a resolver that looks every name up: the labels of a name are a tunnel, also out of an internal network",
        how: "A, AAAA and TXT of a name with a nonce, asked of the name server in /etc/resolv.conf, over UDP and TCP",
        expected: "NXDOMAIN or REFUSED, and the question goes nowhere",
        sources: &[
            "CVE-2024-29018",
            "https://github.com/moby/moby/security/advisories/GHSA-mq39-4gv4-mvpx",
            "https://github.com/coder/httpjail/issues/53",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: own,
    },
    Probe {
        id: "dns-embedded-direct",
        group: Group::Dns,
        leak: "Docker's own resolver, asked past /etc/resolv.conf: at 127.0.0.11, and at the ports that it really has",
        how: "a name with a nonce, asked of 127.0.0.11 on port 53 and on each port that is held there",
        expected: "refused, or answered by whoever answers for /etc/resolv.conf; the question goes nowhere",
        sources: &[
            "https://github.com/moby/libnetwork/issues/1085",
            "https://github.com/moby/libnetwork/issues/1938",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: embedded,
    },
    Probe {
        id: "dns-gateway",
        group: Group::Dns,
        leak: "the resolver of podman, pasta or the host on the bridge's gateway",
        how: "a name with a nonce, asked of the default route's gateway (172.17.0.1 where it has none)",
        expected: "refused, or answered by whoever answers for /etc/resolv.conf; the question goes nowhere",
        sources: &["https://github.com/containers/aardvark-dns"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: gateway,
    },
];

fn own(trial: &mut Trial<'_>) {
    let refused = Refused::of(trial.targets());
    let server = own_server(trial.around());
    let kinds = [("A", kind::A), ("AAAA", kind::AAAA), ("TXT", kind::TXT)];
    let attempts = [Over::Udp, Over::Tcp].into_iter().flat_map(|over| {
        let refused = &refused;
        kinds.map(|(word, kind)| refused.ask(format!("{word} over {}", over.word()), server, over, kind))
    });
    trial.attempt_all(attempts.collect());
}

fn embedded(trial: &mut Trial<'_>) {
    let refused = Refused::of(trial.targets());
    let (udp, tcp) = routes::ports_at(EMBEDDED);
    // Where nobody holds a port, port 53 stands for it: what is tried is the same in every place.
    let engine = |held: Vec<u16>| SocketAddr::new(EMBEDDED.into(), held.first().copied().unwrap_or(53));
    let usual = SocketAddr::new(EMBEDDED.into(), 53);
    trial.attempt_all(vec![
        refused.ask("port 53 over UDP".to_owned(), usual, Over::Udp, kind::A),
        refused.ask("port 53 over TCP".to_owned(), usual, Over::Tcp, kind::A),
        refused.ask("the port it holds, over UDP".to_owned(), engine(udp), Over::Udp, kind::TXT),
        refused.ask("the port it holds, over TCP".to_owned(), engine(tcp), Over::Tcp, kind::TXT),
    ]);
}

fn gateway(trial: &mut Trial<'_>) {
    let refused = Refused::of(trial.targets());
    let gateway = routes::default_route().and_then(|route| route.gateway).unwrap_or(USUAL_GATEWAY);
    let to = SocketAddr::new(gateway.into(), 53);
    let attempts =
        [Over::Udp, Over::Tcp].map(|over| refused.ask(format!("over {}", over.word()), to, over, kind::A));
    trial.attempt_all(attempts.into());
}
