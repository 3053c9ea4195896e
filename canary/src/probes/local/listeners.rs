//! TCP ports of this namespace that somebody else listens on: the sidecar's own, and what it may have beside them.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::surroundings::listeners::{self, Listener};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::Hello;
use crate::wire::series::Series;
use crate::wire::{http, tcp};

/// Listeners that are tried.
const MOST: usize = 32;
/// What our own server says of itself.
const OURS: &str = "closedbook-canary";

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "local-proxy-admin",
        group: Group::Local,
        leak: "the sidecar's control, metrics or policy interface on a port of the shared namespace",
        how: "each TCP port that no visible process listens on is asked by HTTP and by JSON-RPC",
        expected: "refused, or an answer that asks for authority",
        sources: &[
            "https://github.com/usnavy13/LibreCodeInterpreter/issues/95",
            "https://github.com/nolabs-ai/nono/issues/605",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: interfaces,
    },
    Probe {
        id: "local-proxy-loop",
        group: Group::Local,
        leak: "the sidecar's own port as an open proxy, for whoever dials it directly",
        how: "each TCP port that no visible process listens on is asked to relay: by URL, by CONNECT, by SOCKS, by server name",
        expected: "refused, and nothing arrives",
        sources: &["Harbor: gost listens on :12345 of all addresses", "RFC 9110 section 9.3.6", "RFC 1928"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(20),
        run: relays,
    },
];

fn interfaces(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("an interface of somebody else's", "127.0.0.1", Want::Absent, |nonce| {
        // Whether an interface is told from what is none does not depend on where it is.
        match is_recognised(nonce) {
            Ok(()) => for_each_foreign(|at| interface(at, nonce)),
            Err(seen) => seen,
        }
    }));
}

fn relays(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign().port(80), targets.foreign_name());
    let attempt = |what: &str, octets: fn(SocketAddr, &str, &Nonce) -> Vec<u8>| {
        Attempt::new(what.to_owned(), "127.0.0.1", Want::Absent, move |nonce: &Nonce| {
            for_each_foreign(|at| match tcp::exchange(at, &octets(foreign, name, nonce), nonce) {
                // Whoever says nothing relays nothing: it may be a server that waits for the rest of its own protocol.
                Seen::Silence => Seen::NotFound,
                // A complaint about what it does not understand, unless it is an answer in version 5 (RFC 1928 section 3):
                // two octets that can't be printed.
                Seen::Octets { text } if !text.starts_with("..") => Seen::NotFound,
                // That of another canary, which runs at another level at the same time.
                Seen::Answered { text, .. } if text.contains(OURS) => Seen::NotFound,
                seen => seen.led_nowhere(),
            })
        })
    };
    trial.attempt_all(vec![
        attempt("a URL for somebody else", by_url),
        attempt("CONNECT", by_connect),
        attempt("SOCKS 5", by_socks),
        attempt("a name that is not allowed", |_, name, nonce| Hello::named(name.as_bytes(), nonce).octets()),
    ]);
}

fn by_url(_: SocketAddr, name: &str, nonce: &Nonce) -> Vec<u8> {
    let fields = format!("Host: {name}\r\nConnection: close\r\n");
    http::request("GET", &format!("http://{name}/canary?nonce={nonce}"), &fields, nonce)
}

fn by_connect(_: SocketAddr, name: &str, nonce: &Nonce) -> Vec<u8> {
    let tunnel = format!("CONNECT {name}:80 HTTP/1.1\r\nHost: {name}:80\r\n\r\n").into_bytes();
    [tunnel, http::get(name, nonce)].concat()
}

/// Greeting, request and what is to be relayed in one go (RFC 1928 sections 3 and 4): a proxy that lets it pass reads on.
fn by_socks(to: SocketAddr, name: &str, nonce: &Nonce) -> Vec<u8> {
    let mut octets = vec![5, 1, 0, 5, 1, 0];
    match to.ip() {
        std::net::IpAddr::V4(ip) => octets.extend([&[1_u8][..], &ip.octets()].concat()),
        std::net::IpAddr::V6(ip) => octets.extend([&[4_u8][..], &ip.octets()].concat()),
    }
    octets.extend(to.port().to_be_bytes());
    octets.extend(http::get(name, nonce));
    octets
}

/// Tries each listener that is not the task's own. One of our own has to be in the list: else the list is worth nothing.
fn for_each_foreign(attempt: impl Fn(SocketAddr) -> Seen + Sync) -> Seen {
    let found = TcpListener::bind("127.0.0.1:0").and_then(|own| {
        let (own, all) = (own.local_addr()?, listeners::listeners()?);
        Ok(all.iter().any(|listener| listener.at == own))
    });
    match found {
        Ok(true) => {}
        Ok(false) => return Seen::failed("the kernel's list of listeners lacks one that is there"),
        Err(error) => return Seen::failed(format!("listeners can't be listed: {error}")),
    }
    let foreign = match listeners::foreign() {
        Ok(foreign) => foreign,
        Err(error) => return Seen::failed(format!("listeners can't be listed: {error}")),
    };
    let mut series = Series::new();
    series.go_on(|| Seen::NotFound);
    thread::scope(|scope| {
        let attempt = &attempt;
        let at_once: Vec<_> = foreign
            .iter()
            .take(MOST)
            .map(Listener::near)
            .map(|at| scope.spawn(move || attempt(at)))
            .collect();
        for thread in at_once {
            match thread.join() {
                Ok(seen) => series.note(seen, Duration::ZERO),
                Err(panic) => std::panic::resume_unwind(panic),
            };
        }
    });
    series.seen()
}

/// Asks whoever listens there in two ways in which programs are administered.
fn interface(at: SocketAddr, nonce: &Nonce) -> Seen {
    match answers(at, nonce) {
        // That of another canary, which runs at another level at the same time.
        Seen::Found { what } if what.contains(OURS) => Seen::NotFound,
        seen => seen,
    }
}

fn answers(at: SocketAddr, nonce: &Nonce) -> Seen {
    let questions = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".to_vec(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}\n".to_vec(),
    ];
    let mut series = Series::new();
    for question in questions {
        let ask = || match tcp::exchange(at, &question, nonce) {
            // It wants authority (RFC 9110 sections 15.5.2, 15.5.4, 15.5.8), or wants nothing to do with it.
            Seen::Answered { status: 400 | 401 | 403 | 407 | 421 | 500.., .. } => Seen::NotFound,
            seen @ (Seen::Answered { .. } | Seen::Octets { .. }) => Seen::found(format!("{at}: {seen}")),
            // Whoever says nothing offers nothing.
            Seen::Silence => Seen::NotFound,
            seen => seen.led_nowhere(),
        };
        if !series.go_on(ask) {
            break;
        }
    }
    series.seen()
}

/// A server of our own that answers must be told from one that does not.
fn is_recognised(nonce: &Nonce) -> Result<(), Seen> {
    let failed = |error: std::io::Error| Seen::failed(format!("no server of our own: {error}"));
    let server = TcpListener::bind("127.0.0.1:0").map_err(failed)?;
    let at = server.local_addr().map_err(failed)?;
    let enough = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        // Others may ask too, until it is enough.
        scope.spawn(|| {
            while let Ok((stream, _)) = server.accept() {
                if enough.load(Ordering::Relaxed) {
                    return;
                }
                let _ = answer(stream);
            }
        });
        let seen = answers(at, nonce);
        enough.store(true, Ordering::Relaxed);
        // Wakes it up.
        let _ = tcp::connect(at, Duration::from_secs(1));
        seen
    });
    match seen {
        Seen::Found { what } if what.contains(OURS) => Ok(()),
        seen => Err(Seen::failed(format!("a server of our own is not recognised: {seen}"))),
    }
}

fn answer(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut request = [0_u8; 64];
    let _ = stream.read(&mut request)?;
    stream.write_all(format!("HTTP/1.1 200 {OURS}\r\ncontent-length: 0\r\n\r\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_answers_is_recognised() {
        assert_eq!(is_recognised(&Nonce::fresh().unwrap()), Ok(()));
    }

    #[test]
    fn whoever_hangs_up_is_no_interface() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = server.local_addr().unwrap();
        let hang_up = thread::spawn(move || server.incoming().take(2).for_each(drop));
        let seen = answers(at, &Nonce::fresh().unwrap());
        hang_up.join().unwrap();
        assert_eq!(seen, Seen::NotFound);
    }
}
