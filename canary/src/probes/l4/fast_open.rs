//! TCP Fast Open: data in the first segment, and no call of connect().

use nix::sys::socket::{setsockopt, sockopt::TcpFastOpenConnect};
use socket2::{Domain, Protocol, Socket, Type};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::targets::Foreign;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::ip::{self, flag, protocol};
use crate::wire::{PATIENCE, raw, tcp};

const PORT: u16 = 8443;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "l4-tfo",
    group: Group::L4,
    leak: "data in the first segment, which is there before any verdict; and hooks of connect() that are not called",
    how: "a nonce to the witness by sendto(MSG_FASTOPEN), by TCP_FASTOPEN_CONNECT, and in a SYN made by hand",
    expected: "handled as any TCP connection: refused at once, and nothing arrives",
    sources: &[
        "RFC 7413",
        "https://github.com/landlock-lsm/linux/issues/41",
        "https://github.com/inclavare-containers/TNG/issues/139",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: fast_open,
}];

fn fast_open(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let to = foreign.port(PORT);
    let attempt = |what: &str, how: fn(Foreign, &Nonce) -> Seen| {
        Attempt::new(what, to, Want::Stopped, move |nonce: &Nonce| how(foreign, nonce))
            .nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![
        attempt("sendto without connect", by_sendto),
        attempt("connect that waits for data", by_option),
    ]);
    if !super::leads_nowhere(trial) {
        trial.attempt(attempt("a SYN with data, by hand", by_hand));
    }
}

fn by_sendto(foreign: Foreign, nonce: &Nonce) -> Seen {
    let (to, octets) = (foreign.port(PORT), format!("{nonce}\r\n"));
    let sent = socket(foreign).and_then(|socket| {
        let sent = socket.send_to_with_flags(octets.as_bytes(), &to.into(), nix::libc::MSG_FASTOPEN);
        sent.map(|_| socket).map_err(|error| Seen::of_error("sendto(MSG_FASTOPEN)", &error))
    });
    match sent {
        Ok(socket) => tcp::read(&mut std::net::TcpStream::from(socket), nonce, PATIENCE),
        Err(seen) => seen,
    }
}

fn by_option(foreign: Foreign, nonce: &Nonce) -> Seen {
    let to = foreign.port(PORT);
    let socket = match socket(foreign) {
        Ok(socket) => socket,
        Err(seen) => return seen,
    };
    if let Err(error) = setsockopt(&socket, TcpFastOpenConnect, &true) {
        return Seen::of_error("setsockopt(TCP_FASTOPEN_CONNECT)", &error.into());
    }
    if let Err(error) = socket.connect(&to.into()) {
        return Seen::of_error("connect", &error);
    }
    tcp::converse(&mut socket.into(), format!("{nonce}\r\n").as_bytes(), nonce)
}

/// Whatever the kernel would do without a cookie.
fn by_hand(foreign: Foreign, nonce: &Nonce) -> Seen {
    match raw::source(foreign.ip) {
        Ok(own) => {
            let segment =
                ip::tcp((own, 40_013).into(), foreign.port(PORT), flag::SYN, nonce.as_str().as_bytes());
            raw::send(foreign.ip, protocol::TCP, &segment)
        }
        Err(seen) => seen,
    }
}

fn socket(foreign: Foreign) -> Result<Socket, Seen> {
    let socket = Socket::new(Domain::for_address(foreign.port(PORT)), Type::STREAM, Some(Protocol::TCP))
        .map_err(|error| Seen::of_error("socket", &error))?;
    let limits = socket
        .set_read_timeout(Some(PATIENCE))
        // Connecting is limited by it as well.
        .and_then(|()| socket.set_write_timeout(Some(PATIENCE)));
    limits.map_err(|error| Seen::of_error("setsockopt", &error))?;
    Ok(socket)
}
