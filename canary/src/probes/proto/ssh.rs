//! Git over SSH, on its own port and on the one that is open.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::tcp;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-git-ssh",
    group: Group::Proto,
    leak: "git over SSH: a repository is cloned, or a tunnel built",
    how: "an SSH version line with a nonce to ports 22 and 443 of the witness",
    expected: "refused at once",
    sources: &[
        "RFC 4253 section 4.2",
        "https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: ssh,
}];

fn ssh(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let attempt = |port: u16| {
        let to = foreign.port(port);
        let line = move |nonce: &Nonce| tcp::exchange(to, format!("SSH-2.0-{nonce}\r\n").as_bytes(), nonce);
        Attempt::new(format!("SSH on port {port}"), to, Want::Stopped, line).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![attempt(22), attempt(443)]);
}
