//! A hello that is cut: by TCP, and by the record layer. It says the same, and is to be read the same.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::shape::Shape;
use crate::wire::tls;

use super::{permitted, reached, refused, shaped};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-hello-split-segments",
        group: Group::Tls,
        leak: "a hello over many segments: a filter that looks at the first one alone sees no name",
        how: "a segment for each octet, and two with a pause between, for the permitted name and for another",
        expected: "the permitted host answers, the other is refused",
        sources: &[
            "https://github.com/droe/sslsplit/issues/342",
            "https://github.com/ooni/probe-engine/issues/622",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: segments,
    },
    Probe {
        id: "tls-hello-split-records",
        group: Group::Tls,
        leak: "a hello over several TLS records: a filter that reads one record sees no name",
        how: "records of a few octets, for the permitted name and for another",
        expected: "the permitted host answers, the other is refused",
        sources: &[
            "https://github.com/mholt/caddy-l4/issues/346",
            "https://github.com/imputnet/helium/issues/2298",
            "https://github.com/klzgrad/naiveproxy/issues/641",
            "RFC 8446 section 5.1",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: records,
    },
];

/// The permitted host may be far away.
const WITHIN: Duration = Duration::from_secs(30);

fn segments(trial: &mut Trial<'_>) {
    pairs(
        trial,
        &[
            ("a segment for each octet", Shape::Segments(1)),
            ("segments of 40 octets", Shape::Segments(40)),
            ("a pause behind the first octet", Shape::Halt { after: 1, pause: Duration::from_millis(300) }),
            ("a pause inside the hello", Shape::Halt { after: 90, pause: Duration::from_millis(300) }),
        ],
    );
}

fn records(trial: &mut Trial<'_>) {
    pairs(
        trial,
        &[
            ("records of 64 octets", Shape::Records(64)),
            ("records of 5 octets", Shape::Records(5)),
            ("records of 64 octets and a segment for each octet", Shape::Both(64)),
        ],
    );
}

fn pairs(trial: &mut Trial<'_>, shapes: &[(&'static str, Shape)]) {
    let targets = trial.targets();
    let (foreign, other) = (targets.foreign(), targets.foreign_name());
    let to = foreign.port(443);
    let mut attempts = Vec::new();
    for (what, shape) in shapes.iter().copied() {
        let ordinary = tls::Options::ordinary(targets.trust.as_deref());
        let options = ordinary.clone();
        let get = move |nonce: &Nonce| shaped(to, other, Some(shape), &ordinary, nonce);
        let mut refused = Attempt::new(refused(what), to, Want::Stopped, get).nowhere(foreign.nowhere);
        if let Some(host) = trial.https() {
            let get = reached(trial, &host.name, Some(shape), options);
            attempts.push(Attempt::new(permitted(what), &host.name, Want::reached(&host.name), get));
            refused = refused.beside(permitted(what));
        }
        attempts.push(refused);
    }
    trial.attempt_all(attempts);
}
