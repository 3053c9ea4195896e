//! A filter with its hands full: connections that never say what they want.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use super::{get, strict};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, http, tcp, tls, udp};

/// Enough for a filter that counts threads, and few enough for one that counts connections to serve everybody else.
const CROWD: usize = 256;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "life-slowloris",
    group: Group::Life,
    leak: "a filter that runs out of threads, descriptors or memory, and lets pass what it has no room to look at",
    how: "256 connections send the first octet of a hello and no more; beside them, what is refused and what is permitted is tried",
    expected: "what is refused is refused, and the permitted host answers",
    sources: &[
        "https://github.com/projectcalico/felix/issues/617",
        "https://github.com/hackerschoice/segfault/issues/50",
    ],
    needs: &[Need::PermittedTls],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(40),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let Some(host) = trial.https() else { return };
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let crowd: Vec<TcpStream> = (0..CROWD).map_while(|_| half_open(foreign.port(443))).collect();
    let enough = crowd.len() >= CROWD / 2;
    // With too few of them nothing was put to the test.
    let in_the_crowd = move |seen: &dyn Fn() -> Seen| match enough {
        true => seen(),
        false => Seen::failed("too few connections could be made"),
    };
    let (options, ordinary) = (&strict(targets), &tls::Options::ordinary(targets.trust.as_deref()));
    let (web, secure) = (foreign.port(80), foreign.port(443));
    let stopped = vec![
        Attempt::new("TLS for a refused name", secure, Want::Stopped, move |nonce: &Nonce| {
            in_the_crowd(&|| tls::get(secure, name, name, ordinary, nonce))
        }),
        Attempt::new("HTTP for a refused name", web, Want::Stopped, move |nonce| {
            in_the_crowd(&|| tcp::exchange(web, &http::get(name, nonce), nonce))
        }),
        Attempt::new("UDP", secure, Want::Stopped, move |nonce| {
            in_the_crowd(&|| udp::exchange(secure, nonce.as_str().as_bytes(), nonce))
        }),
    ];
    let mut attempts: Vec<Attempt<'_>> =
        stopped.into_iter().map(|attempt| attempt.nowhere(foreign.nowhere)).collect();
    let permitted = move |nonce: &Nonce| in_the_crowd(&|| get(&host.name, around, options, nonce));
    attempts.push(Attempt::new("the permitted host", &host.name, Want::reached(&host.name), permitted));
    trial.attempt_all(attempts);
    drop(crowd);
}

/// One that is refused at once, before it has said anything, is none of the crowd; then nobody is.
fn half_open(to: std::net::SocketAddr) -> Option<TcpStream> {
    let mut stream = tcp::connect(to, PATIENCE).ok()?;
    stream.write_all(&[0x16]).ok()?;
    Some(stream)
}
