//! Neighbours, by addresses that need no route.

use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{cast, routes, tcp, udp};

/// Where the gateway often is, and nobody else has to be.
const FIRST: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const ALL_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "ip6-linklocal",
    group: Group::Ip6,
    leak: "link-local addresses: the gateway and the neighbours are there, without a route and past rules for others",
    how: "TCP and UDP with a nonce to fe80::1, UDP to all nodes and all routers, on the device of the way out",
    expected: "refused, or nobody there; nothing arrives",
    sources: &["RFC 4291 section 2.5.6", "RFC 4007"],
    needs: &[Need::Ipv6Kernel, Need::Witness],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: neighbours,
}];

fn neighbours(trial: &mut Trial<'_>) {
    let device = routes::way_out();
    let on_link = |ip: Ipv6Addr, port: u16| cast::scoped(SocketAddrV6::new(ip, port, 0, 0), &device);
    let to_all = |what: &str, ip: Ipv6Addr| {
        let to: SocketAddr = (ip, 9).into();
        let send = move |nonce: &Nonce| cast::send(to, nonce.as_str().as_bytes(), nonce);
        Attempt::new(what, to, Want::Stopped, send)
    };
    let (web, any) = (on_link(FIRST, 8443), on_link(FIRST, 9));
    let over_tcp = move |nonce: &Nonce| tcp::exchange(web, format!("{nonce}\r\n").as_bytes(), nonce);
    let over_udp = move |nonce: &Nonce| udp::exchange(any, nonce.as_str().as_bytes(), nonce);
    trial.attempt_all(vec![
        Attempt::new("TCP to fe80::1", web, Want::Stopped, over_tcp),
        Attempt::new("UDP to fe80::1", any, Want::Stopped, over_udp),
        to_all("UDP to all nodes", ALL_NODES),
        to_all("UDP to all routers", ALL_ROUTERS),
    ]);
}
