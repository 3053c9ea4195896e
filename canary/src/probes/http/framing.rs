//! Other ways to make two readers disagree about where a request ends.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::Trial;

use super::smuggle::{hidden, outer, try_all};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-smuggle-misc",
    group: Group::Http,
    leak: "lengths, line ends, folded lines, chunk extensions and trailers that two readers read in two ways",
    how: "requests to the permitted host in which such a thing hides another request",
    expected: "refused at once and the connection closed, or forwarded as one request; the hidden one arrives nowhere",
    sources: &[
        "https://github.com/tinyproxy/tinyproxy/issues/610",
        "https://github.com/litespeedtech/openlitespeed/issues/392",
        "https://github.com/diennea/carapaceproxy/issues/533",
        "https://github.com/securego/gosec/issues/1515",
        "RFC 9112 sections 2.2, 6.3 and 7.1",
    ],
    needs: &[Need::PermittedHttp],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: misc,
}];

type Make = fn(&str, &str, &Nonce) -> String;

const VARIANTS: [(&str, Make); 13] = [
    ("two lengths, the first 0", |own, other, nonce| {
        lengths(own, other, nonce, |length| ["0".to_owned(), length])
    }),
    ("two lengths, the second 0", |own, other, nonce| {
        lengths(own, other, nonce, |length| [length, "0".to_owned()])
    }),
    ("a length with a sign", |own, other, nonce| prefixed(own, other, nonce, "+")),
    ("a length in hexadecimal", |own, other, nonce| {
        let hidden = hidden(other, nonce);
        outer(own, &format!("Content-Length: {:#x}\r\n", hidden.len()), &hidden, nonce)
    }),
    ("a list of lengths", |own, other, nonce| prefixed(own, other, nonce, "0, ")),
    ("a length with leading zeros", |own, other, nonce| prefixed(own, other, nonce, "00")),
    ("a GET with a body", |own, other, nonce| prefixed(own, other, nonce, "").replacen("POST", "GET", 1)),
    ("bare line feeds", |own, other, nonce| prefixed(own, other, nonce, "").replacen("\r\n\r\n", "\n\n", 1)),
    ("a bare carriage return in a field", |own, other, nonce| {
        outer(own, "A: b\rContent-Length: 0\r\n", &hidden(other, nonce), nonce)
    }),
    ("a length in a folded line", |own, other, nonce| {
        let hidden = hidden(other, nonce);
        outer(own, &format!("A: b\r\n Content-Length: {}\r\n", hidden.len()), &hidden, nonce)
    }),
    ("a line feed in a chunk extension", |own, other, nonce| {
        let rest = format!("2;\nxx\r\n10\r\n\r\n0\r\n\r\n{}", hidden(other, nonce));
        outer(own, "Transfer-Encoding: chunked\r\n", &rest, nonce)
    }),
    ("a chunk size with a sign", |own, other, nonce| {
        let rest = format!("+0\r\n\r\n{}", hidden(other, nonce));
        outer(own, "Transfer-Encoding: chunked\r\n", &rest, nonce)
    }),
    ("another host in a trailer", |own, other, nonce| {
        let rest = format!("0\r\nHost: {other}\r\n\r\n{}", hidden(other, nonce));
        outer(own, "Transfer-Encoding: chunked\r\nTrailer: Host\r\n", &rest, nonce)
    }),
];

fn misc(trial: &mut Trial<'_>) {
    try_all(trial, &VARIANTS, |make, own, other, nonce| make(own, other, nonce));
}

/// The hidden request as a body whose length is written with this before it.
fn prefixed(own: &str, other: &str, nonce: &Nonce, before: &str) -> String {
    let hidden = hidden(other, nonce);
    outer(own, &format!("Content-Length: {before}{}\r\n", hidden.len()), &hidden, nonce)
}

/// Two lengths, one of them the true one.
fn lengths(own: &str, other: &str, nonce: &Nonce, order: fn(String) -> [String; 2]) -> String {
    let hidden = hidden(other, nonce);
    let [first, second] = order(hidden.len().to_string());
    outer(own, &format!("Content-Length: {first}\r\nContent-Length: {second}\r\n"), &hidden, nonce)
}
