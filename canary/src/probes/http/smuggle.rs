//! Requests that hide a second one in what only one of two readers takes for a body (RFC 9112 section 6.3).
//!
//! Both requests bear the nonce. The outer one may arrive at the permitted host, in whatever form the filter gives it;
//! the hidden one, which asks for another host, may arrive nowhere.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Trial, Want};

use super::aim;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "http-smuggle-cl-te",
        group: Group::Http,
        leak: "Content-Length and Transfer-Encoding: to the filter the hidden request is body, to the server it is none",
        how: "POST to the permitted host with both fields, another request behind the last chunk",
        expected: "refused at once and the connection closed; the hidden request arrives nowhere",
        sources: SOURCES,
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: cl_te,
    },
    Probe {
        id: "http-smuggle-te-cl",
        group: Group::Http,
        leak: "Transfer-Encoding and Content-Length: to the filter the hidden request is a chunk, to the server it is none",
        how: "POST to the permitted host with both fields, another request inside a chunk",
        expected: "refused at once and the connection closed; the hidden request arrives nowhere",
        sources: SOURCES,
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: te_cl,
    },
    Probe {
        id: "http-smuggle-te-te",
        group: Group::Http,
        leak: "a Transfer-Encoding that one reader knows as chunked, and another does not",
        how: "POST to the permitted host with such fields in eleven spellings, another request behind the last chunk",
        expected: "refused at once and the connection closed; the hidden request arrives nowhere",
        sources: SOURCES,
        needs: &[Need::PermittedHttp],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: te_te,
    },
];

const SOURCES: &[&str] = &[
    "https://github.com/tinyproxy/tinyproxy/issues/609",
    "https://github.com/tinyproxy/tinyproxy/issues/616",
    "https://github.com/sozu-proxy/sozu/issues/726",
    "https://github.com/envoyproxy/envoy/issues/9316",
    "https://github.com/envoyproxy/envoy/issues/12349",
    "RFC 9112 section 6.3",
];

/// The request that hides.
pub(super) fn hidden(other: &str, nonce: &Nonce) -> String {
    format!("GET /hidden?nonce={nonce} HTTP/1.1\r\nHost: {other}\r\nX-Nonce: {nonce}\r\n\r\n")
}

/// A POST to the permitted host with these fields, and whatever follows.
pub(super) fn outer(own: &str, fields: &str, rest: &str, nonce: &Nonce) -> String {
    format!("POST /canary?nonce={nonce} HTTP/1.1\r\nHost: {own}\r\nX-Nonce: {nonce}\r\n{fields}\r\n{rest}")
}

/// Sends what `make` makes of the permitted name, another, and the nonce, in each variant.
pub(super) fn try_all<T: Copy + Send>(
    trial: &mut Trial<'_>,
    variants: &[(&str, T)],
    make: impl Fn(T, &str, &str, &Nonce) -> String + Copy + Send,
) {
    let Some(host) = trial.http() else { return };
    let other = trial.targets().foreign_name();
    let attempts = aim::everywhere(trial).into_iter().flat_map(|aim| {
        variants.iter().map(move |(what, variant)| {
            let variant = *variant;
            let octets = move |nonce: &Nonce| make(variant, &host.name, other, nonce).into_bytes();
            aim.send(what, Want::rewritten(&host.name), octets)
        })
    });
    let attempts = attempts.collect();
    trial.attempt_all(attempts);
}

fn cl_te(trial: &mut Trial<'_>) {
    let variants = [("Content-Length first", true), ("Transfer-Encoding first", false)];
    try_all(trial, &variants, |length_first, own, other, nonce| {
        let body = format!("0\r\n\r\n{}", hidden(other, nonce));
        let (length, chunked) =
            (format!("Content-Length: {}\r\n", body.len()), "Transfer-Encoding: chunked\r\n");
        let fields = if length_first { format!("{length}{chunked}") } else { format!("{chunked}{length}") };
        outer(own, &fields, &body, nonce)
    });
}

fn te_cl(trial: &mut Trial<'_>) {
    let variants = [("Content-Length first", true), ("Transfer-Encoding first", false)];
    try_all(trial, &variants, |length_first, own, other, nonce| {
        let hidden = hidden(other, nonce);
        let size = format!("{:x}\r\n", hidden.len());
        let (length, chunked) =
            (format!("Content-Length: {}\r\n", size.len()), "Transfer-Encoding: chunked\r\n");
        let fields = if length_first { format!("{length}{chunked}") } else { format!("{chunked}{length}") };
        outer(own, &fields, &format!("{size}{hidden}\r\n0\r\n\r\n"), nonce)
    });
}

fn te_te(trial: &mut Trial<'_>) {
    let variants = [
        ("chunked, then another coding", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n"),
        ("another coding, then chunked", "Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n"),
        ("chunked twice", "Transfer-Encoding: chunked, chunked\r\n"),
        ("chunked, identity", "Transfer-Encoding: chunked, identity\r\n"),
        ("a letter before chunked", "Transfer-Encoding: xchunked\r\n"),
        ("a tab behind chunked", "Transfer-Encoding: chunked\t\r\n"),
        ("a vertical tab before chunked", "Transfer-Encoding:\u{b}chunked\r\n"),
        ("a blank before the colon", "Transfer-Encoding : chunked\r\n"),
        ("in quotes", "Transfer-Encoding: \"chunked\"\r\n"),
        ("in a folded line", "Transfer-Encoding:\r\n chunked\r\n"),
        ("an underscore for the hyphen", "Transfer_Encoding: chunked\r\n"),
    ];
    try_all(trial, &variants, |fields, own, other, nonce| {
        let body = format!("0\r\n\r\n{}", hidden(other, nonce));
        let fields = format!("{fields}Content-Length: {}\r\n", body.len());
        outer(own, &fields, &body, nonce)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hidden_request_stands_behind_a_whole_outer_one() {
        let nonce = Nonce::fresh().unwrap();
        let text = outer("a.example", "Content-Length: 0\r\n", &hidden("b.example", &nonce), &nonce);
        let (head, rest) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST ") && head.ends_with("Content-Length: 0"), "{head}");
        assert!(rest.starts_with("GET /hidden") && rest.ends_with("\r\n\r\n"), "{rest}");
        assert_eq!(text.matches(nonce.as_str()).count(), 4);
    }
}
