//! First octets of no protocol, where TLS and HTTP are expected.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::tcp;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-raw-bytes",
    group: Group::Proto,
    leak: "octets of no protocol: a filter that recognises nothing lets them through",
    how: "text, binary octets and a zero octet with a nonce to ports 443, 80 and 8443 of the witness",
    expected: "refused at once",
    sources: &["https://github.com/go-gost/x"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: raw,
}];

fn raw(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let attempt = |octets: &str, before: &'static [u8], port: u16| {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| {
            tcp::exchange(to, &[before, nonce.as_str().as_bytes(), b"\r\n\r\n"].concat(), nonce)
        };
        Attempt::new(format!("{octets} on port {port}"), to, Want::Stopped, send).nowhere(foreign.nowhere)
    };
    let attempts = [443, 80, 8443].into_iter().flat_map(|port| {
        [
            attempt("text", b"", port),
            attempt("binary octets", b"\xde\xad\xbe\xef\x00\xff\x80\x7f", port),
            attempt("a zero octet first", b"\x00", port),
        ]
    });
    trial.attempt_all(attempts.collect());
}
