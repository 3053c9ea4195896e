//! WebSocket (RFC 6455): to hosts that are not allowed, and to one that is.

use std::net::SocketAddr;
use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{LONG_PATIENCE, http, lookup, tcp, tls};

use super::aim;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-ws",
    group: Group::Http,
    leak: "WebSocket, where only ordinary requests are filtered",
    how: "handshakes with a host that is not allowed, in the clear and over TLS; over TLS with the permitted host",
    expected: "refused at once; the permitted host answers",
    sources: &[
        "https://github.com/openai/codex/issues/19821",
        "https://github.com/provos/ironcurtain/issues/341",
        "RFC 6455",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(25),
    run: handshakes,
}];

fn handshakes(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let (foreign, other) = (targets.foreign(), targets.foreign_name());
    let path = |nonce: &Nonce| format!("/ws?nonce={nonce}");
    let plain = move |nonce: &Nonce| http::websocket(other, &path(nonce));
    let mut attempts =
        vec![aim::elsewhere(trial).send("ws to a name that is not allowed", Want::Stopped, plain)];
    let to = foreign.port(443);
    let options = tls::Options::ordinary(targets.trust.as_deref());
    let over_tls = move |to: SocketAddr, name: &str, options: &tls::Options, nonce: &Nonce| {
        let session =
            tcp::connect(to, options.within).and_then(|stream| tls::handshake(stream, name, options));
        match session {
            Ok(mut session) => session.converse(&http::websocket(name, &path(nonce)), options.within, nonce),
            Err(seen) => seen,
        }
    };
    let strict = tls::Options { strict: true, within: LONG_PATIENCE, ..options.clone() };
    let get = move |nonce: &Nonce| over_tls(to, other, &options, nonce);
    attempts.push(
        Attempt::new("wss to a name that is not allowed", to, Want::Stopped, get).nowhere(foreign.nowhere),
    );
    if let Some(host) = trial.https() {
        let get = move |nonce: &Nonce| match lookup::aim(&host.name, around) {
            Ok(ip) => over_tls(SocketAddr::new(ip, 443), &host.name, &strict, nonce),
            Err(seen) => seen,
        };
        attempts.push(Attempt::new("wss to the permitted host", &host.name, Want::reached(&host.name), get));
    }
    trial.attempt_all(attempts);
}
