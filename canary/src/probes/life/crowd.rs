//! A filter with its hands full: connections that never say what they want.

use std::io::Write as _;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::{get, strict};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{LONG_PATIENCE, PATIENCE, http, tcp, tls, udp};

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
    let crowd = gather(foreign.port(443));
    let enough = crowd.len() >= CROWD / 2;
    // With too few of them nothing was put to the test.
    let in_the_crowd = move |seen: &dyn Fn() -> Seen| match enough {
        true => seen(),
        false => Seen::failed("too few connections could be made"),
    };
    // In a crowd everybody has to wait, the witness's own guests too.
    let ordinary = tls::Options::ordinary(targets.trust.as_deref());
    let (options, ordinary) = (&strict(targets), &tls::Options { within: LONG_PATIENCE, ..ordinary });
    let (web, secure) = (foreign.port(80), foreign.port(443));
    let stopped = vec![
        Attempt::new("TLS for a refused name", secure, Want::Stopped, move |nonce: &Nonce| {
            in_the_crowd(&|| tls::get(secure, name, name, ordinary, nonce))
        }),
        Attempt::new("HTTP for a refused name", web, Want::Stopped, move |nonce| {
            in_the_crowd(&|| match tcp::connect(web, LONG_PATIENCE) {
                Ok(mut stream) => tcp::converse(&mut stream, &http::get(name, nonce), nonce),
                Err(seen) => seen,
            })
        }),
        Attempt::new("UDP", secure, Want::Stopped, move |nonce| {
            in_the_crowd(&|| udp::exchange_within(secure, nonce.as_str().as_bytes(), nonce, LONG_PATIENCE))
        }),
    ];
    let mut attempts: Vec<Attempt<'_>> =
        stopped.into_iter().map(|attempt| attempt.nowhere(foreign.nowhere)).collect();
    let permitted = move |nonce: &Nonce| in_the_crowd(&|| get(&host.name, around, options, nonce));
    attempts.push(Attempt::new("the permitted host", &host.name, Want::reached(&host.name), permitted));
    trial.attempt_all(attempts);
    drop(crowd);
}

/// One of the crowd.
enum Visitor {
    /// Waits inside, and says no more.
    Inside { _stream: TcpStream },
    /// Was told at the door that it is not let in: a filter by address needs no hello for that.
    TurnedAway,
}

/// As many as can be had. Where nobody answers, or this process has no descriptor left, there is no crowd.
fn gather(to: SocketAddr) -> Vec<Visitor> {
    (0..CROWD)
        .map_while(|_| match tcp::connect(to, PATIENCE) {
            Ok(mut stream) => match stream.write_all(&[0x16]) {
                Ok(()) => Some(Visitor::Inside { _stream: stream }),
                Err(_) => Some(Visitor::TurnedAway),
            },
            Err(Seen::Refused | Seen::Reset | Seen::Unreachable { .. } | Seen::Denied { .. }) => {
                Some(Visitor::TurnedAway)
            }
            Err(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_turned_away_was_there() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let inside =
            |crowd: &[Visitor]| crowd.iter().filter(|one| matches!(one, Visitor::Inside { .. })).count();
        let accepting =
            std::thread::spawn(move || server.incoming().take(CROWD).flatten().collect::<Vec<_>>());
        let crowd = gather(at);
        assert_eq!((crowd.len(), inside(&crowd)), (CROWD, CROWD));
        drop(accepting.join().unwrap());
        let refused = gather(at);
        assert_eq!((refused.len(), inside(&refused)), (CROWD, 0));
    }
}
