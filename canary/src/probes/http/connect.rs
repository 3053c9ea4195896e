//! CONNECT: a request to be given a tunnel (RFC 9110 section 9.3.6). Nobody here has one to give.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Trial, Want};
use crate::wire::{relay, tcp};

use super::aim;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "http-connect-authority-vs-host",
        group: Group::Http,
        leak: "CONNECT for one host with another in `Host`: a proxy judges one and dials the other",
        how: "both orders, and the permitted host in brackets, to the permitted host and to the witness",
        expected: "refused at once",
        sources: &["https://github.com/archie-judd/agent-sandbox.nix/issues/105", "RFC 9110 section 9.3.6"],
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: two_hosts,
    },
    Probe {
        id: "http-connect-on-80",
        group: Group::Http,
        leak: "CONNECT through port 80: a filter, or the permitted host, that is a proxy besides",
        how: "CONNECT for a name that is not allowed, to the permitted host and to the witness",
        expected: "refused at once",
        sources: &[
            "https://github.com/github/gh-aw-firewall",
            "https://github.com/anthropics/claude-code/issues/87381",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: on_port_80,
    },
    Probe {
        id: "http-connect-relayed",
        group: Group::Http,
        leak: "the same octets through a relay inside the trial, where the verdict depends on who sends them",
        how: "CONNECT for a name that is not allowed, through a relay on loopback",
        expected: "refused as it is without the relay",
        sources: &[
            "https://github.com/anthropics/claude-code/issues/87381",
            "https://github.com/anthropics/claude-code/issues/89165",
            "https://github.com/anthropics/claude-code/issues/77045",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: relayed,
    },
];

/// The nonce is in a field: the authority has no room for it.
fn connect(authority: &str, host: &str) -> String {
    format!("CONNECT {authority} HTTP/1.1\r\nHost: {host}\r\nX-Nonce: {{nonce}}\r\n\r\n")
}

fn two_hosts(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let requests = [
        ("a tunnel to another host", connect(&format!("{other}:443"), own), Want::Stopped),
        ("a tunnel to the permitted host", connect(&format!("{own}:443"), other), Want::Stopped),
        ("the permitted host in brackets", connect(&format!("[{own}]:443"), other), Want::Stopped),
        ("a tunnel to port 22", connect(&format!("{own}:22"), own), Want::Stopped),
    ];
    aim::send_all(trial, &aim::everywhere(trial), &requests);
}

fn on_port_80(trial: &mut Trial<'_>) {
    let authority = format!("{}:443", trial.targets().foreign_name());
    let requests = [
        ("a tunnel", connect(&authority, &authority), Want::Stopped),
        (
            "a tunnel, asked for in small letters",
            connect(&authority, &authority).replace("CONNECT", "connect"),
            Want::Stopped,
        ),
    ];
    aim::send_all(trial, &aim::everywhere(trial), &requests);
}

fn relayed(trial: &mut Trial<'_>) {
    let authority = format!("{}:443", trial.targets().foreign_name());
    let request = connect(&authority, &authority);
    let attempts = aim::everywhere(trial).into_iter().map(|aim| {
        let request = &request;
        aim.attempt("a tunnel, through a relay", Want::Stopped, move |to, nonce: &Nonce| {
            match relay::to(to) {
                Ok(relay) => {
                    tcp::exchange(relay, request.replace("{nonce}", nonce.as_str()).as_bytes(), nonce)
                }
                Err(error) => Seen::failed(format!("a relay on loopback: {error}")),
            }
        })
    });
    trial.attempt_all(attempts.collect());
}
