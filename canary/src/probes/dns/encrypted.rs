//! DNS that hides in TLS, QUIC and HTTPS.

use std::time::Duration;

use super::question::{Refused, id};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::sized_u16;
use crate::wire::{PATIENCE, dns, http, quic, tcp, tls, udp};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "dns-dot",
        group: Group::Dns,
        leak: "DNS over TLS: questions that no DNS filter sees",
        how: "TLS to the witness on port 853 with and without a name, and a question in it",
        expected: "refused at once",
        sources: &["RFC 7858", "https://github.com/github/gh-aw-firewall"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: dot,
    },
    Probe {
        id: "dns-doq",
        group: Group::Dns,
        leak: "DNS over QUIC",
        how: "the first packet of a QUIC connection for DNS to the witness on ports 853 and 784",
        expected: "refused at once, and nothing arrives",
        sources: &["RFC 9250"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: doq,
    },
    Probe {
        id: "dns-doh-blocked",
        group: Group::Dns,
        leak: "DNS over HTTPS at a host that is not allowed",
        how: "GET and POST of a question to /dns-query at the witness, under its own name",
        expected: "refused at once",
        sources: &["RFC 8484"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(20),
        run: doh,
    },
];

fn dot(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    // What is asked for does not matter: whoever gets the question has the nonce.
    let zone = targets.zone().unwrap_or("invalid");
    let to = foreign.port(853);
    let attempt = |what: &str, sni: bool| {
        let options = tls::Options { sni, ..tls::Options::ordinary(targets.trust.as_deref()) };
        let ask = move |nonce: &Nonce| {
            let asked = format!("{}.{zone}", nonce.label());
            let question = dns::question(id(nonce), &asked, dns::kind::A);
            over_tls(to, name, &options, &sized_u16(&question), nonce)
        };
        Attempt::new(what, to, Want::Stopped, ask).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![attempt("under a name", true), attempt("without a name", false)]);
}

fn over_tls(
    to: std::net::SocketAddr,
    name: &str,
    options: &tls::Options,
    octets: &[u8],
    nonce: &Nonce,
) -> Seen {
    let session = tcp::connect(to, PATIENCE).and_then(|stream| tls::handshake(stream, name, options));
    session.map_or_else(|seen| seen, |mut session| session.converse(octets, PATIENCE, nonce))
}

fn doq(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let attempts = [853, 784].map(|port| {
        let to = foreign.port(port);
        let send = move |nonce: &Nonce| match quic::initial(name, "doq", nonce) {
            Some(packet) => udp::exchange(to, &packet, nonce),
            None => Seen::failed("no QUIC packet could be made"),
        };
        Attempt::new(format!("on port {port}"), to, Want::Stopped, send).nowhere(foreign.nowhere)
    });
    trial.attempt_all(attempts.into());
}

fn doh(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let to = foreign.port(443);
    let attempt = |method: &'static str| {
        let refused = Refused::of(targets);
        let options = tls::Options::ordinary(targets.trust.as_deref());
        let ask = move |nonce: &Nonce| {
            let question = dns::question(0, &refused.name(nonce), dns::kind::A);
            over_tls(to, name, &options, &request(method, name, &question, nonce), nonce)
        };
        Attempt::new(method, to, Want::Stopped, ask).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![attempt("GET"), attempt("POST")]);
}

/// RFC 8484 section 4.1.
fn request(method: &str, host: &str, question: &[u8], nonce: &Nonce) -> Vec<u8> {
    let accept = format!("Host: {host}\r\nAccept: application/dns-message\r\nConnection: close\r\n");
    if method == "GET" {
        let target = format!("/dns-query?dns={}", base64url(question));
        return http::request(method, &target, &accept, nonce);
    }
    let content =
        format!("{accept}Content-Type: application/dns-message\r\nContent-Length: {}\r\n", question.len());
    [http::request(method, "/dns-query", &content, nonce).as_slice(), question].concat()
}

/// RFC 4648 section 5, without padding.
fn base64url(octets: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let digit =
        |bits: u32| DIGITS.get(usize::try_from(bits & 63).unwrap_or(0)).map(|digit| char::from(*digit));
    let of_three = |three: &[u8]| {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        let digits = [18, 12, 6, 0].map(|shift| digit(bits >> shift));
        digits.into_iter().flatten().take(three.len() + 1).collect::<String>()
    };
    octets.chunks(3).map(of_three).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648 section 10, and the digits that differ from base64.
    #[test]
    fn base64url_is_that_of_the_rfc() {
        for (octets, text) in [
            (&b""[..], ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg"),
            (b"foobar", "Zm9vYmFy"),
            (b"\xfb\xff", "-_8"),
        ] {
            assert_eq!(base64url(octets), text);
        }
    }
}
