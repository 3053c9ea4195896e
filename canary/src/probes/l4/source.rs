//! A source address of the sender's choice.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, raw, udp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-transparent-freebind",
    group: Group::L4,
    leak: "packets in another's name: rules that go by the source don't hold for them",
    how: "a datagram to the witness from the address beside ours, by IP_TRANSPARENT and by IP_FREEBIND",
    expected: "the option can't be set, or what is sent is refused as anything is",
    sources: &[
        "https://man7.org/linux/man-pages/man7/ip.7.html",
        "https://github.com/NLnetLabs/unbound/issues/82",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: spoofed,
}];

type Allow = fn(&Socket) -> io::Result<()>;

/// Datagrams alone: the answer to a first segment goes to the neighbour, so no TCP connection comes about.
fn spoofed(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let to = foreign.port(9);
    let transparent: Allow = |socket| socket.set_ip_transparent_v4(true);
    let freebind: Allow = |socket| socket.set_freebind_v4(true);
    let by_transparent = |nonce: &Nonce| match bound(to, "setsockopt(IP_TRANSPARENT)", transparent) {
        Ok(socket) => udp::converse(&socket, to, nonce.as_str().as_bytes(), nonce, PATIENCE),
        Err(seen) => seen,
    };
    // The kernel lets everybody bind to it, and finds no route from it where it is not local (ip_route_output_key): a
    // fact of the place, that no filter is needed for.
    let by_freebind = |nonce: &Nonce| {
        let socket = match bound(to, "setsockopt(IP_FREEBIND)", freebind) {
            Ok(socket) => socket,
            Err(seen) => return seen,
        };
        match socket.connect(to).and_then(|()| socket.send(nonce.as_str().as_bytes())) {
            Err(error) if error.kind() == ErrorKind::NetworkUnreachable => Seen::NotFound,
            Err(error) => Seen::of_error("sendto", &error),
            Ok(_) => Seen::found("a datagram from a neighbour's address was sent"),
        }
    };
    trial.attempt_all(vec![
        Attempt::new("transparent", to, Want::Stopped, by_transparent).nowhere(foreign.nowhere),
        Attempt::new("freebind", to, Want::Absent, by_freebind).nowhere(foreign.nowhere),
    ]);
}

/// A socket at the address beside ours: the next hop takes what comes from there for a neighbour's.
fn bound(to: SocketAddr, call: &str, allow: Allow) -> Result<UdpSocket, Seen> {
    let IpAddr::V4(own) = raw::source(to.ip())? else { return Err(Seen::failed("no IPv4 address")) };
    let [a, b, c, d] = own.octets();
    let neighbour: SocketAddr = (Ipv4Addr::new(a, b, c, d ^ 1), 0).into();
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))
        .map_err(|error| Seen::of_error("socket", &error))?;
    allow(&socket).map_err(|error| Seen::of_error(call, &error))?;
    socket.bind(&neighbour.into()).map_err(|error| Seen::of_error("bind", &error))?;
    Ok(socket.into())
}
