//! Active FTP: the client tells the server where to dial in, and a helper of connection tracking opens the way.

use std::net::{IpAddr, SocketAddr, TcpListener};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{raw, tcp};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "proto-ftp-active",
    group: Group::Proto,
    leak: "FTP's PORT and EPRT: connection tracking reads them and lets the server dial in",
    how: "an FTP control connection to the witness that names a listener of ours, in both forms",
    expected: "refused at once, on the control connection already",
    sources: &["RFC 959 section 4.1.2", "RFC 2428", "https://samy.pl/slipstream/"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: active,
}];

fn active(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let to = foreign.port(21);
    let attempt = |command: &str, written: fn(SocketAddr) -> String| {
        let control = move |nonce: &Nonce| dial_me(to, written, nonce);
        Attempt::new(command, to, Want::Stopped, control).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![attempt("PORT", port), attempt("EPRT", eprt)]);
}

/// The listener is a real one, so that what is promised to the server is true.
fn dial_me(to: SocketAddr, written: fn(SocketAddr) -> String, nonce: &Nonce) -> Seen {
    let own = match raw::source(to.ip()) {
        Ok(own) => own,
        Err(seen) => return seen,
    };
    let listener = match TcpListener::bind((own, 0)).and_then(|listener| listener.local_addr()) {
        Ok(address) => address,
        Err(error) => return Seen::of_error("bind", &error),
    };
    tcp::exchange(to, format!("USER {nonce}\r\n{}\r\nLIST\r\n", written(listener)).as_bytes(), nonce)
}

fn port(own: SocketAddr) -> String {
    let [high, low] = own.port().to_be_bytes();
    match own.ip() {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            format!("PORT {a},{b},{c},{d},{high},{low}")
        }
        // PORT has no room for it.
        IpAddr::V6(_) => eprt(own),
    }
}

fn eprt(own: SocketAddr) -> String {
    let family = if own.is_ipv6() { 2 } else { 1 };
    format!("EPRT |{family}|{}|{}|", own.ip(), own.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_name_the_listener() {
        let own: SocketAddr = "192.0.2.7:258".parse().unwrap();
        assert_eq!(port(own), "PORT 192,0,2,7,1,2");
        assert_eq!(eprt(own), "EPRT |1|192.0.2.7|258|");
    }
}
