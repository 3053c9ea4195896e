//! Greetings of proxies elsewhere: one that answers carries everything.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::tcp;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-socks",
    group: Group::Proto,
    leak: "a SOCKS or HTTP proxy of the attacker's own, which carries everything",
    how: "greetings of SOCKS 4, 4a and 5 and of an HTTP proxy to ports 1080, 3128 and 443 of the witness",
    expected: "refused at once",
    sources: &["RFC 1928", "https://www.openssh.com/txt/socks4.protocol", "RFC 9110 section 9.3.6"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: socks,
}];

fn socks(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let attempt = |protocol: &str, port: u16, greeting: fn(&Nonce) -> Vec<u8>| {
        let to = foreign.port(port);
        let greet = move |nonce: &Nonce| tcp::exchange(to, &greeting(nonce), nonce);
        Attempt::new(format!("{protocol} on port {port}"), to, Want::Stopped, greet).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![
        attempt("SOCKS 4", 1080, four),
        attempt("SOCKS 4a", 1080, four_a),
        attempt("SOCKS 5", 1080, five),
        attempt("SOCKS 5", 443, five),
        attempt("HTTP CONNECT", 3128, connect),
    ]);
}

/// To 203.0.113.9:443, the nonce as the user's name.
fn four(nonce: &Nonce) -> Vec<u8> {
    [&[4, 1, 1, 0xbb, 203, 0, 113, 9], nonce.as_str().as_bytes(), &[0]].concat()
}

/// An address that can't be, and the name behind it.
fn four_a(nonce: &Nonce) -> Vec<u8> {
    [&[4, 1, 1, 0xbb, 0, 0, 0, 1, 0], nonce.as_str().as_bytes(), b".invalid\0"].concat()
}

/// The request right behind the greeting, without waiting for the method.
fn five(nonce: &Nonce) -> Vec<u8> {
    let name = format!("{nonce}.invalid");
    let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
    [&[5, 1, 0, 5, 1, 0, 3, length], name.as_bytes(), &[1, 0xbb]].concat()
}

fn connect(nonce: &Nonce) -> Vec<u8> {
    format!("CONNECT {nonce}.invalid:443 HTTP/1.1\r\nHost: {nonce}.invalid:443\r\n\r\n").into_bytes()
}
