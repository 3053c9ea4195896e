//! First octets that do not look like HTTP to whoever looks for `GET`.

use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Trial, Want};

use super::aim;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-unknown-method",
    group: Group::Http,
    leak: "a request that the filter does not know as one, takes for another protocol and forwards unread",
    how: "rare, small, long and invented methods, and an empty line first, for a name that is not allowed",
    expected: "refused at once",
    sources: &["https://github.com/go-gost/x", "RFC 9110 section 9", "RFC 9112 section 2.2"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: methods,
}];

fn methods(trial: &mut Trial<'_>) {
    let other = trial.targets().foreign_name();
    let long = "A".repeat(40);
    let starts = [
        ("PROPFIND", "PROPFIND "),
        ("QUERY", "QUERY "),
        ("a method that nobody knows", "CANARY "),
        ("a method in small letters", "get "),
        ("a method of 40 letters", long.as_str()),
        ("an empty line first", "\r\nGET "),
        ("a bare line feed first", "\nGET "),
        ("a blank first", " GET "),
        ("a NUL first", "\0GET "),
        ("TRACE", "TRACE "),
        ("a tab behind the method", "GET\t"),
    ];
    let requests = starts.map(|(what, start)| {
        let blank = if start == long { " " } else { "" };
        let rest = "/canary?nonce={nonce} HTTP/1.1\r\n";
        let text = format!("{start}{blank}{rest}Host: {other}\r\nX-Nonce: {{nonce}}\r\n\r\n");
        (what, text, Want::Stopped)
    });
    aim::send_all(trial, &[aim::elsewhere(trial)], &requests);
}
