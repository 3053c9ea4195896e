//! The permitted name on the way to another address.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};
use crate::wire::http;

use super::aim;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-host-spoof-foreign-ip",
    group: Group::Http,
    leak: "the permitted name in `Host`, on the way to an attacker's address: a filter that trusts the name and dials the address",
    how: "GET for the permitted host, sent to port 80 of the witness",
    expected: "it reaches the permitted host at its own address, or nothing",
    sources: &[
        "http://www.squid-cache.org/Doc/config/host_verify_strict/",
        "https://github.com/coder/boundary/issues/88",
        "https://github.com/agentcage/agentcage/issues/175",
        "https://github.com/vm0-ai/vm0/issues/14412",
    ],
    needs: &[Need::PermittedHttp],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: spoof,
}];

fn spoof(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let octets = |nonce: &Nonce| http::get(&host.name, nonce);
    trial.attempt(aim::elsewhere(trial).send("the permitted host", Want::rewritten(&host.name), octets));
}
