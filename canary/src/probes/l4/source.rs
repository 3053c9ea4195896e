//! A source address of the sender's choice.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, tcp, udp};

/// Nobody's (RFC 5737).
const SOURCE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 99);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-transparent-freebind",
    group: Group::L4,
    leak: "packets in another's name: rules that go by the source don't hold for them",
    how: "a nonce to the witness from an address that is not ours, by IP_TRANSPARENT and by IP_FREEBIND",
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

fn spoofed(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let (web, datagrams) = (foreign.port(8443), foreign.port(443));
    let over_tcp = |what: &str, call: &'static str, allow: Allow| {
        let send = move |nonce: &Nonce| stream(web, call, allow, nonce);
        Attempt::new(format!("{what}, TCP"), web, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    let over_udp = |what: &str, call: &'static str, allow: Allow| {
        let send = move |nonce: &Nonce| match socket(Type::DGRAM, Protocol::UDP, call, allow) {
            Ok(socket) => {
                udp::converse(&socket.into(), datagrams, nonce.as_str().as_bytes(), nonce, PATIENCE)
            }
            Err(seen) => seen,
        };
        Attempt::new(format!("{what}, UDP"), datagrams, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    let transparent: Allow = |socket| socket.set_ip_transparent_v4(true);
    let freebind: Allow = |socket| socket.set_freebind_v4(true);
    trial.attempt_all(vec![
        over_tcp("transparent", "setsockopt(IP_TRANSPARENT)", transparent),
        over_udp("transparent", "setsockopt(IP_TRANSPARENT)", transparent),
        over_tcp("freebind", "setsockopt(IP_FREEBIND)", freebind),
        over_udp("freebind", "setsockopt(IP_FREEBIND)", freebind),
    ]);
}

fn stream(to: SocketAddr, call: &str, allow: Allow, nonce: &Nonce) -> Seen {
    let socket = match socket(Type::STREAM, Protocol::TCP, call, allow) {
        Ok(socket) => socket,
        Err(seen) => return seen,
    };
    tcp::exchange_on(socket, to, format!("{nonce}\r\n").as_bytes(), nonce)
}

fn socket(kind: Type, protocol: Protocol, call: &str, allow: Allow) -> Result<Socket, Seen> {
    let socket =
        Socket::new(Domain::IPV4, kind, Some(protocol)).map_err(|error| Seen::of_error("socket", &error))?;
    allow(&socket).map_err(|error| Seen::of_error(call, &error))?;
    let own: SocketAddr = (SOURCE, 0).into();
    socket.bind(&own.into()).map_err(|error| Seen::of_error("bind", &error))?;
    Ok(socket)
}
