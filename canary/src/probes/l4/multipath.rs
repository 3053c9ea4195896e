//! Multipath TCP.

use socket2::{Domain, Protocol, Socket, Type};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::targets::Foreign;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::tcp;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-mptcp",
    group: Group::L4,
    leak: "multipath TCP: the server names further addresses, and the kernel dials them by itself",
    how: "multipath connections to the witness: with a nonce, and with a hello under its own name",
    expected: "not in the kernel, or handled as any TCP connection: refused at once",
    sources: &["RFC 8684", "https://www.kernel.org/doc/html/latest/networking/mptcp.html"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: multipath,
}];

fn multipath(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let plain = move |nonce: &Nonce| converse(foreign, 8443, format!("{nonce}\r\n").as_bytes(), nonce);
    let encrypted =
        move |nonce: &Nonce| converse(foreign, 443, &Hello::named(name.as_bytes(), nonce).octets(), nonce);
    trial.attempt_all(vec![
        Attempt::new("a nonce", foreign.port(8443), Want::Stopped, plain).nowhere(foreign.nowhere),
        Attempt::new("a hello", foreign.port(443), Want::Stopped, encrypted).nowhere(foreign.nowhere),
    ]);
}

fn converse(foreign: Foreign, port: u16, octets: &[u8], nonce: &Nonce) -> Seen {
    let to = foreign.port(port);
    let socket = match Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::MPTCP)) {
        Ok(socket) => socket,
        Err(error) => return Seen::of_error("socket(IPPROTO_MPTCP)", &error),
    };
    tcp::exchange_on(socket, to, octets, nonce)
}
