//! Transports beside TCP and UDP.

use socket2::{Domain, Protocol, Socket, Type};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::targets::Foreign;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, ip, raw, tcp, udp};

/// Numbers of IANA.
const SCTP: u8 = 132;
const DCCP: u8 = 33;
const UDPLITE: u8 = 136;
/// Answered by the witness over UDP and SCTP alike.
const PORT: u16 = 443;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "l4-sctp",
        group: Group::L4,
        leak: "SCTP, where the filter knows TCP and UDP alone",
        how: "an SCTP socket to the witness, and a packet of that protocol by a raw socket",
        expected: "not in the kernel, or refused; nothing arrives",
        sources: &["RFC 9260", "https://github.com/github/gh-aw-firewall"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: sctp,
    },
    Probe {
        id: "l4-dccp",
        group: Group::L4,
        leak: "DCCP, where the filter knows TCP and UDP alone",
        how: "a DCCP socket to the witness, and a packet of that protocol by a raw socket",
        expected: "not in the kernel, or refused; nothing arrives",
        sources: &["RFC 4340"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: dccp,
    },
    Probe {
        id: "l4-udplite",
        group: Group::L4,
        leak: "UDP-Lite, which is not UDP to a filter that asks for protocol 17",
        how: "a UDP-Lite socket to the witness, and a packet of that protocol by a raw socket",
        expected: "not in the kernel, or refused; nothing arrives",
        sources: &["RFC 3828", "https://man7.org/linux/man-pages/man7/udplite.7.html"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: udplite,
    },
];

fn sctp(trial: &mut Trial<'_>) {
    both(trial, SCTP, |to, nonce| stream(to, Type::STREAM, SCTP, nonce));
}

fn dccp(trial: &mut Trial<'_>) {
    both(trial, DCCP, |to, nonce| stream(to, Type::from(nix::libc::SOCK_DCCP), DCCP, nonce));
}

fn udplite(trial: &mut Trial<'_>) {
    both(trial, UDPLITE, |to, nonce| match socket(to, Type::DGRAM, UDPLITE) {
        Ok(socket) => {
            udp::converse(&socket.into(), to.port(PORT), nonce.as_str().as_bytes(), nonce, PATIENCE)
        }
        Err(seen) => seen,
    });
}

fn both(trial: &mut Trial<'_>, protocol: u8, by_socket: fn(Foreign, &Nonce) -> Seen) {
    let foreign = trial.targets().foreign();
    let ordinary = move |nonce: &Nonce| by_socket(foreign, nonce);
    // Its header begins with two ports, as that of every transport here.
    let by_hand = move |nonce: &Nonce| {
        let source = (foreign.ip, 40_000).into();
        let payload = [nonce.as_str().as_bytes(), &[0; 10]].concat();
        raw::send(foreign.ip, protocol, &ip::udp(source, foreign.port(PORT), &payload))
    };
    let first = Attempt::new("a socket", foreign.port(PORT), Want::Stopped, ordinary);
    trial.attempt(first.nowhere(foreign.nowhere));
    if !super::leads_nowhere(trial) {
        let second = Attempt::new("a raw socket", foreign.ip, Want::Stopped, by_hand);
        trial.attempt(second.nowhere(foreign.nowhere));
    }
}

fn socket(to: Foreign, kind: Type, protocol: u8) -> Result<Socket, Seen> {
    let domain = Domain::for_address(to.port(PORT));
    Socket::new(domain, kind, Some(Protocol::from(i32::from(protocol))))
        .map_err(|error| Seen::of_error("socket", &error))
}

/// These take the same calls as TCP's.
fn stream(to: Foreign, kind: Type, protocol: u8, nonce: &Nonce) -> Seen {
    let socket = match socket(to, kind, protocol) {
        Ok(socket) => socket,
        Err(seen) => return seen,
    };
    tcp::exchange_on(socket, to.port(PORT), format!("{nonce}\r\n").as_bytes(), nonce)
}
