//! Two hosts in one request: one in its first line, one in its `Host`.

use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};

use super::aim;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-absolute-form-mismatch",
    group: Group::Http,
    leak: "a whole URL in the first line, and another host in `Host`: the filter judges one, the server takes the other",
    how: "GET with both, in both orders, to the permitted host and to the witness",
    expected: "refused at once, whichever is permitted",
    sources: &[
        "RFC 9112 section 3.2.2",
        "https://github.com/coder/httpjail/issues/57",
        "https://github.com/coder/httpjail/issues/58",
        "https://github.com/openai/codex/issues/13275",
    ],
    needs: &[Need::PermittedHttp],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: two_hosts,
}];

fn two_hosts(trial: &mut Trial<'_>) {
    let Some(host) = trial.http() else { return };
    let (own, other) = (host.name.as_str(), trial.targets().foreign_name());
    let request = |scheme: &str, url: &str, host: &str| {
        aim::get(&format!("{scheme}://{url}/canary?nonce={{nonce}}"), &format!("Host: {host}\r\n"))
    };
    let requests = [
        ("another host in the URL", request("http", other, own), Want::Stopped),
        ("another host in an https URL", request("https", other, own), Want::Stopped),
        ("another host in a URL in capitals", request("HTTP", other, own), Want::Stopped),
        ("the permitted host in the URL", request("http", own, other), Want::Stopped),
        (
            "the permitted host as user in the URL",
            request("http", &format!("{own}@{other}"), own),
            Want::Stopped,
        ),
    ];
    aim::send_all(trial, &aim::everywhere(trial), &requests);
}
