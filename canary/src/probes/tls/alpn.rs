//! The protocol that a client asks for inside TLS (RFC 7301): some filters check less for some of them.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::{Hello, alpn, extension};
use crate::wire::tls;

use super::{by_hand, permitted, reached, refused};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "tls-alpn-odd",
    group: Group::Tls,
    leak: "an ALPN protocol for which the filter switches its checks off",
    how: "hellos for a name that is not allowed with acme-tls/1, smtp, ssh, h3 and others, to the witness's address",
    expected: "refused at once, as without ALPN",
    sources: &["https://github.com/mholt/caddy-l4", "RFC 7301", "RFC 8737"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(30),
    run: odd_protocols,
}];

const PROTOCOLS: [&str; 9] =
    ["acme-tls/1", "smtp", "ssh", "h3", "dot", "h2c", "istio-peer-exchange", "unknown", ""];

fn odd_protocols(trial: &mut Trial<'_>) {
    let name = trial.targets().foreign_name().as_bytes();
    let mut attempts: Vec<Attempt<'_>> = Vec::new();
    for protocol in PROTOCOLS {
        let octets = move |nonce: &Nonce| {
            Hello::named(name, nonce).with(extension::ALPN, alpn(&[protocol.as_bytes()])).octets()
        };
        attempts.push(by_hand(trial, refused(format!("with ALPN {protocol:?}")), Want::Stopped, octets));
    }
    let octets =
        |nonce: &Nonce| Hello::nameless(nonce).with(extension::ALPN, alpn(&[b"acme-tls/1"])).octets();
    attempts.push(by_hand(trial, "no name, with ALPN \"acme-tls/1\"", Want::Stopped, octets));
    if let Some(host) = trial.https() {
        let ordinary = tls::Options::ordinary(trial.targets().trust.as_deref());
        let options = tls::Options { alpn: vec![b"unknown".to_vec(), b"http/1.1".to_vec()], ..ordinary };
        let get = reached(trial, &host.name, None, options);
        let what = permitted("with a protocol that nobody knows beside http/1.1");
        attempts.push(Attempt::new(what, &host.name, Want::reached(&host.name), get));
    }
    trial.attempt_all(attempts);
}
