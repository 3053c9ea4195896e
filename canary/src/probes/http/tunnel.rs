//! What is sent before anybody agreed to a tunnel: whoever takes the wish for the fact reads no further (RFC 9931).

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::http;

use super::aim;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "http-upgrade-blind-tunnel",
        group: Group::Http,
        leak: "a wish for WebSocket turns a connection into a tunnel before the server has agreed, and requests in it are not read",
        how: "the wish for the permitted host, and behind it a request for another, in one write",
        expected: "no tunnel without the server's word; the second request arrives nowhere",
        sources: &["RFC 9931", "RFC 9110 section 7.8"],
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: blind,
    },
    Probe {
        id: "http-optimistic-bytes",
        group: Group::Http,
        leak: "octets behind CONNECT or behind a wish for an upgrade, which are passed on though the wish is refused",
        how: "a hello and a request for another host behind such wishes, in one write",
        expected: "refused, and nothing of what follows is passed on",
        sources: &["RFC 9931"],
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: optimistic,
    },
];

/// The mark is in what follows alone.
fn blind(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let wishes = [
        ("a request behind a wish for WebSocket", http::websocket(own, "/canary")),
        ("a request behind a wish for another protocol", wish(own, "tunnel")),
        ("a request behind a wish without Connection", bare_wish(own)),
    ];
    let attempts = aim::everywhere(trial).into_iter().flat_map(|aim| {
        wishes.iter().map(move |(what, wish)| {
            let octets = move |nonce: &Nonce| [wish.clone(), http::get(other, nonce)].concat();
            aim.send(what, Want::Stopped, octets)
        })
    });
    let attempts = attempts.collect();
    trial.attempt_all(attempts);
}

fn optimistic(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let connect =
        |name: &str| format!("CONNECT {name}:443 HTTP/1.1\r\nHost: {name}:443\r\n\r\n").into_bytes();
    let wishes = [
        ("a hello behind CONNECT for the permitted host", connect(own)),
        ("a hello behind CONNECT for another", connect(other)),
        ("a hello behind a wish for TLS", wish(own, "TLS/1.0")),
    ];
    let attempts = aim::everywhere(trial).into_iter().flat_map(|aim| {
        wishes.iter().map(move |(what, wish)| {
            let octets =
                move |nonce: &Nonce| [wish.clone(), Hello::named(other.as_bytes(), nonce).octets()].concat();
            aim.send(what, Want::Stopped, octets)
        })
    });
    let attempts = attempts.collect();
    trial.attempt_all(attempts);
}

fn wish(host: &str, protocol: &str) -> Vec<u8> {
    let fields = format!("Host: {host}\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n");
    format!("GET /canary HTTP/1.1\r\n{fields}\r\n").into_bytes()
}

fn bare_wish(host: &str) -> Vec<u8> {
    format!("GET /canary HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n\r\n").into_bytes()
}
