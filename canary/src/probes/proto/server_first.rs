//! Protocols whose server speaks first: a filter that waits for the client's first octets has none to judge by.

use std::net::SocketAddr;
use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, tcp};

/// SSH, SMTP, MySQL, FTP, IMAP.
const PORTS: [u16; 5] = [22, 25, 3306, 21, 143];
/// Longer than the time limits of filters that sniff, so that one which forwards after that is found.
const WAIT: Duration = Duration::from_secs(8);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-server-first",
    group: Group::Proto,
    leak: "a server's banner: with nothing to judge by, a filter that gives up waiting forwards to the address",
    how: "connect to the ports of SSH, SMTP, MySQL, FTP and IMAP, keep silent for eight seconds, then say a nonce",
    expected: "refused at once, and no banner comes",
    sources: &["RFC 4253 section 4.2", "RFC 5321 section 3.1"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(20),
    run: listen_first,
}];

fn listen_first(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let attempt = |port: u16| {
        let to = foreign.port(port);
        let listen = move |nonce: &Nonce| banner_then_nonce(to, nonce);
        Attempt::new(format!("silent on port {port}"), to, Want::Stopped, listen).nowhere(foreign.nowhere)
    };
    trial.attempt_all(PORTS.into_iter().map(attempt).collect());
}

/// Waits for a banner. Only somebody who gave one, or who still listens, is told the nonce.
fn banner_then_nonce(to: SocketAddr, nonce: &Nonce) -> Seen {
    let stream = match tcp::connect(to, PATIENCE).and_then(|stream| tcp::prepare(stream, WAIT)) {
        Ok(stream) => stream,
        Err(seen) => return seen,
    };
    let mut first = [0_u8; 1];
    match stream.peek(&mut first) {
        Ok(0) => return Seen::Closed,
        Ok(_) => {}
        Err(error) => match Seen::of_error("recv", &error) {
            Seen::Silence => {}
            seen => return seen,
        },
    }
    match tcp::prepare(stream, PATIENCE) {
        Ok(mut stream) => tcp::converse(&mut stream, format!("{nonce}\r\n").as_bytes(), nonce),
        Err(seen) => seen,
    }
}
