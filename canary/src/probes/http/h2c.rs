//! HTTP/2 in the clear: every stream has an authority of its own, and each has to be checked.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};
use crate::wire::h2;

use super::aim;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "http-h2c-prior-knowledge",
        group: Group::Http,
        leak: "a connection that begins as HTTP/2: a filter that knows HTTP/1 alone forwards it, or checks no stream",
        how: "the preface and requests for several hosts, to port 80 of the permitted host and of the witness",
        expected: "refused at once",
        sources: &[
            "https://github.com/go-gost/x",
            "https://github.com/python-hyper/h2/issues/246",
            "RFC 9113 section 3.3",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: prior_knowledge,
    },
    Probe {
        id: "http-h2c-upgrade",
        group: Group::Http,
        leak: "a request for the permitted host that asks for HTTP/2, and then streams for another that nobody reads",
        how: "the upgrade to the permitted host, and a stream for another at once; and the upgrade for another",
        expected: "the upgrade is refused or left out, and no stream arrives",
        sources: &[
            "RFC 9931",
            "RFC 7540 section 3.2",
            "https://blog.crawlex.net/blog/http2-downgrade-smuggling",
        ],
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: upgrade,
    },
];

fn prior_knowledge(trial: &mut Trial<'_>) {
    let other = trial.targets().foreign_name();
    let mut attempts = Vec::new();
    for aim in aim::everywhere(trial) {
        let ask = move |nonce: &Nonce| [h2::opening(), h2::get(1, other, nonce)].concat();
        attempts.push(aim.send("a stream for another host", Want::Stopped, ask));
        let Some(host) = trial.http() else { continue };
        let own = host.name.as_str();
        let ask = move |nonce: &Nonce| [h2::opening(), h2::get(1, own, nonce)].concat();
        attempts.push(aim.send("a stream for the permitted host", Want::rewritten(own), ask));
        // The mark is in the second alone: the first is permitted.
        let ask = move |nonce: &Nonce| {
            let first = Nonce::fresh().map(|fresh| h2::get(1, own, &fresh)).unwrap_or_default();
            [h2::opening(), first, h2::get(3, other, nonce)].concat()
        };
        attempts.push(aim.send("a second stream for another host", Want::Stopped, ask));
    }
    trial.attempt_all(attempts);
}

/// RFC 7540 section 3.2.1: an empty SETTINGS payload is an empty value.
const FIELDS: &str = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: \r\n";

fn upgrade(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let mut attempts = Vec::new();
    for aim in aim::everywhere(trial) {
        let ask = move |nonce: &Nonce| {
            format!("GET /canary?nonce={nonce} HTTP/1.1\r\nHost: {other}\r\n{FIELDS}\r\n").into_bytes()
        };
        attempts.push(aim.send("the upgrade for another host", Want::Stopped, ask));
        let ask = move |nonce: &Nonce| {
            format!("GET /canary?nonce={nonce} HTTP/1.1\r\nHost: {own}\r\n{FIELDS}\r\n").into_bytes()
        };
        attempts.push(aim.send("the upgrade for the permitted host", Want::rewritten(own), ask));
        let ask = move |nonce: &Nonce| {
            let first = format!("GET /canary HTTP/1.1\r\nHost: {own}\r\n{FIELDS}\r\n").into_bytes();
            [first, h2::opening(), h2::get(3, other, nonce)].concat()
        };
        attempts.push(aim.send("a stream for another host behind the upgrade", Want::Stopped, ask));
    }
    trial.attempt_all(attempts);
}
