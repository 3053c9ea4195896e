//! Time: a filter that waits for a name for so long, and then lets the connection pass as it is.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::shape::Shape;
use crate::wire::{PATIENCE, tcp, tls};

use super::shaped;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-hello-dribble",
        group: Group::Tls,
        leak: "a hello that comes octet by octet until the filter gives up reading, and forwards",
        how: "twelve octets in six and a half seconds, then the rest, for a name that is not allowed",
        expected: "refused at the deadline of the filter, or at once",
        sources: &["harbor 0.25.0 gost.yaml: sniffing.timeout 5s, sniffing.fallback true"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: dribble,
    },
    Probe {
        id: "tls-hello-silent",
        group: Group::Tls,
        leak: "a connection on which the client says nothing until the filter gives up waiting, and forwards",
        how: "silence for six and a half seconds, then a nonce; on port 443, and on one where the server speaks first",
        expected: "refused at the deadline of the filter, or at once, and no word of the server",
        sources: &["harbor 0.25.0 gost.yaml: sniffing.timeout 5s, sniffing.fallback true"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: silent,
    },
];

/// Both wait longer than a filter does: five seconds are usual.
const WAIT: Duration = Duration::from_millis(6500);
const OCTETS: u32 = 12;
const WITHIN: Duration = Duration::from_secs(18);

fn dribble(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let to = foreign.port(443);
    let attempt = |what, octets: u32| {
        let options = tls::Options::ordinary(targets.trust.as_deref());
        let shape = Shape::Dribble { octets: octets as usize, pause: WAIT / octets };
        let get = move |nonce: &Nonce| shaped(to, name, Some(shape), &options, nonce);
        Attempt::new(what, to, Want::Stopped, get).nowhere(foreign.nowhere)
    };
    trial.attempt_all(vec![
        attempt("an octet at a time", OCTETS),
        attempt("one octet, and the rest after a long pause", 1),
    ]);
}

fn silent(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign();
    let attempts = [443, 22].map(|port| {
        let to = foreign.port(port);
        let wait = move |nonce: &Nonce| silence(to, nonce);
        Attempt::new(format!("silence on port {port}"), to, Want::Stopped, wait).nowhere(foreign.nowhere)
    });
    trial.attempt_all(attempts.into());
}

/// Listens, then speaks: whoever lets the words of the server through, or ours after so long, is no filter any more.
fn silence(to: std::net::SocketAddr, nonce: &Nonce) -> Seen {
    let mut stream = match tcp::connect(to, WAIT) {
        Ok(stream) => stream,
        Err(seen) => return seen,
    };
    let heard = match tcp::read(&mut stream, nonce, WAIT) {
        Seen::Silence => None,
        words @ Seen::Octets { .. } => Some(words),
        over => return over,
    };
    if let Err(error) = stream.set_read_timeout(Some(PATIENCE)) {
        return Seen::of_error("setsockopt", &error);
    }
    match (tcp::converse(&mut stream, nonce.as_str().as_bytes(), nonce), heard) {
        (proof @ Seen::Proof { .. }, _) => proof,
        (_, Some(words)) => words,
        (seen, None) => seen,
    }
}
