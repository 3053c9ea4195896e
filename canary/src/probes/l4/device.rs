//! A device of the sender's choice.

use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::{PATIENCE, routes, tcp, udp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-bindtodevice",
    group: Group::L4,
    leak: "a socket that is bound to a device: rules of another device, or the redirection itself, don't hold for it",
    how: "a hello and a datagram to the witness from sockets bound to the way out and to the last device",
    expected: "refused, or a device that leads nowhere",
    sources: &["https://man7.org/linux/man-pages/man7/socket.7.html"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: bound,
}];

/// The same two in every place: which device they are is each place's own. Loopback is not among them where it is not the
/// way out: what is bound to it goes nowhere, so it could not be shown to work where nothing is in its way.
fn bound(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let foreign = targets.foreign();
    let name = targets.foreign_name();
    let last = routes::devices().pop().unwrap_or_else(|| "lo".to_owned());
    let devices = [("the way out", routes::way_out()), ("the last device", last)];
    let attempts = devices.into_iter().flat_map(|(word, device)| {
        let to = foreign.port(443);
        let by = device.clone();
        let hello =
            move |nonce: &Nonce| stream(to, &by, &Hello::named(name.as_bytes(), nonce).octets(), nonce);
        let datagram = move |nonce: &Nonce| match socket(to, &device, Type::DGRAM, Protocol::UDP) {
            Ok(socket) => udp::converse(&socket.into(), to, nonce.as_str().as_bytes(), nonce, PATIENCE),
            Err(seen) => seen,
        };
        [
            Attempt::new(format!("TCP by {word}"), to, Want::Stopped, hello).nowhere(foreign.nowhere),
            Attempt::new(format!("UDP by {word}"), to, Want::Stopped, datagram).nowhere(foreign.nowhere),
        ]
    });
    trial.attempt_all(attempts.collect());
}

fn stream(to: SocketAddr, device: &str, octets: &[u8], nonce: &Nonce) -> Seen {
    let socket = match socket(to, device, Type::STREAM, Protocol::TCP) {
        Ok(socket) => socket,
        Err(seen) => return seen,
    };
    tcp::exchange_on(socket, to, octets, nonce)
}

fn socket(to: SocketAddr, device: &str, kind: Type, protocol: Protocol) -> Result<Socket, Seen> {
    let socket = Socket::new(Domain::for_address(to), kind, Some(protocol))
        .map_err(|error| Seen::of_error("socket", &error))?;
    socket
        .bind_device(Some(device.as_bytes()))
        .map_err(|error| Seen::of_error("setsockopt(SO_BINDTODEVICE)", &error))?;
    Ok(socket)
}
