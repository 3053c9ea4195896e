//! The filter's own listeners, dialled by their address: as proxies they may have other rules, or none.

use std::net::{Ipv4Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::tcp;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-proxy-listener-direct",
    group: Group::Http,
    leak: "a transparent proxy that serves as an ordinary one to whoever dials its port, or dials itself without end",
    how: "a whole URL, CONNECT and SOCKS 5 to ports of usual proxies on loopback, for the witness",
    expected: "nobody listens there, or it refuses at once",
    sources: &["harbor 0.25.0 gost.yaml: :12345", "https://github.com/openai/codex codex-rs/network-proxy"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: listeners,
}];

/// closedbook and gost, Envoy's two, squid, SOCKS, and what others took.
const PORTS: [u16; 8] = [12345, 15001, 15006, 3128, 1080, 8080, 8888, 9050];

fn listeners(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (other, foreign) = (targets.foreign_name(), targets.foreign());
    let mut attempts = Vec::new();
    for port in PORTS {
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let url = move |nonce: &Nonce| {
            let line = format!("GET http://{other}/canary?nonce={nonce} HTTP/1.1\r\n");
            let fields = format!("Host: {other}\r\nX-Nonce: {nonce}\r\n\r\n");
            as_a_proxy(to, format!("{line}{fields}").as_bytes(), nonce)
        };
        attempts.push(Attempt::new(format!("a whole URL to port {port}"), to, Want::Absent, url));
        let address = foreign.port(443);
        let tunnel = move |nonce: &Nonce| {
            let text = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\nX-Nonce: {nonce}\r\n\r\n");
            as_a_proxy(to, text.as_bytes(), nonce)
        };
        attempts.push(Attempt::new(format!("CONNECT to port {port}"), to, Want::Absent, tunnel));
        // RFC 1928: version 5, one method, no authentication.
        let socks = move |nonce: &Nonce| as_a_proxy(to, &[5, 1, 0], nonce);
        attempts.push(Attempt::new(format!("SOCKS 5 to port {port}"), to, Want::Absent, socks));
    }
    trial.attempt_all(attempts);
}

/// Whether somebody there does as a proxy does. What refuses, or is not there, is none.
fn as_a_proxy(to: SocketAddr, octets: &[u8], nonce: &Nonce) -> Seen {
    match tcp::exchange(to, octets, nonce) {
        Seen::Refused | Seen::Reset | Seen::Closed | Seen::Alert { .. } => Seen::NotFound,
        Seen::Answered { status, .. } if status >= 400 => Seen::NotFound,
        seen @ (Seen::Answered { .. } | Seen::Octets { .. } | Seen::TlsReply { .. }) => {
            Seen::found(format!("a proxy at {to}: {seen}"))
        }
        seen => seen,
    }
}
