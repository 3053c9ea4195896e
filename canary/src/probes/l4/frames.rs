//! Packet sockets.

use std::net::{IpAddr, Ipv4Addr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::targets::Foreign;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::frame::{self, ethertype};
use crate::wire::ip::{self, V4, flag, protocol};
use crate::wire::{raw, routes};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-af-packet",
    group: Group::L4,
    leak: "frames by packet socket, which no rule for IP packets sees: with them anything can be sent, in any name",
    how: "a datagram, a TCP segment and a frame of no protocol with a nonce, by the device of the way out",
    expected: "no packet socket, or a device that leads nowhere",
    sources: &["https://man7.org/linux/man-pages/man7/packet.7.html"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: frames,
}];

fn frames(trial: &mut Trial<'_>) {
    if super::leads_nowhere(trial) {
        return;
    }
    let foreign = trial.targets().foreign();
    let device = routes::way_out();
    let attempt = |what: &str, kind: u16, made: fn(Ipv4Addr, Ipv4Addr, &Nonce) -> Vec<u8>| {
        let device = device.clone();
        let send = move |nonce: &Nonce| send(&device, foreign, kind, made, nonce);
        Attempt::new(what, foreign.ip, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![
        attempt("a UDP datagram", ethertype::IPV4, datagram),
        attempt("a TCP segment", ethertype::IPV4, segment),
        attempt("a frame of no protocol", ethertype::EXPERIMENT, |_, _, nonce| nonce.as_str().into()),
    ]);
}

fn send(
    device: &str,
    foreign: Foreign,
    kind: u16,
    made: fn(Ipv4Addr, Ipv4Addr, &Nonce) -> Vec<u8>,
    nonce: &Nonce,
) -> Seen {
    // Without a route there is no own address; a frame needs none.
    let own = match raw::source(foreign.ip) {
        Ok(IpAddr::V4(own)) => own,
        _ => Ipv4Addr::UNSPECIFIED,
    };
    match foreign.ip {
        IpAddr::V4(to) => frame::send(device, foreign.ip, kind, &made(own, to, nonce)),
        IpAddr::V6(_) => Seen::failed("no IPv4 address to aim at"),
    }
}

fn datagram(own: Ipv4Addr, to: Ipv4Addr, nonce: &Nonce) -> Vec<u8> {
    let payload = ip::udp((own, 40_009).into(), (to, 9).into(), nonce.as_str().as_bytes());
    V4::new(own, to, protocol::UDP).packet(&payload)
}

fn segment(own: Ipv4Addr, to: Ipv4Addr, nonce: &Nonce) -> Vec<u8> {
    let payload = ip::tcp((own, 40_010).into(), (to, 443).into(), flag::SYN, nonce.as_str().as_bytes());
    V4::new(own, to, protocol::TCP).packet(&payload)
}
