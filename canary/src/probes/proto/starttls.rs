//! Protocols that begin in the clear and turn to TLS later: the name comes after the verdict should have.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::tcp;

/// A PostgreSQL client's wish for TLS: length 8, code 80877103.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-starttls",
    group: Group::Proto,
    leak: "mail, directory and database protocols that ask for TLS in the clear: the filter sees the name too late",
    how: "SMTP, IMAP and PostgreSQL to their ports and to 443 of the witness, with a hello right behind",
    expected: "refused at once",
    sources: &[
        "RFC 3207",
        "RFC 9051 section 6.2.1",
        "https://www.postgresql.org/docs/current/protocol-flow.html",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: starttls,
}];

fn starttls(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let attempt = |protocol: &str, port: u16, opening: fn(&Nonce) -> Vec<u8>| {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| {
            let octets = [opening(nonce), Hello::named(name.as_bytes(), nonce).octets()].concat();
            tcp::exchange(to, &octets, nonce)
        };
        Attempt::new(format!("{protocol} on port {port}"), to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![
        attempt("SMTP", 587, smtp),
        attempt("SMTP", 443, smtp),
        attempt("IMAP", 143, imap),
        attempt("PostgreSQL", 5432, postgres),
        attempt("PostgreSQL", 443, postgres),
    ]);
}

fn smtp(nonce: &Nonce) -> Vec<u8> {
    format!("EHLO {nonce}\r\nSTARTTLS\r\n").into_bytes()
}

fn imap(nonce: &Nonce) -> Vec<u8> {
    format!("{nonce} STARTTLS\r\n").into_bytes()
}

fn postgres(_: &Nonce) -> Vec<u8> {
    SSL_REQUEST.to_vec()
}
