//! Records that tell a client how to hide the name that it wants.

use super::question::{Over, id, own_server};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::dns::{self, kind};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "tls-ech-via-dns",
    group: Group::Tls,
    leak: "HTTPS and SVCB records: they hand out keys to encrypt the name with, other ports, and addresses",
    how: "both types of the permitted name, at the name server of /etc/resolv.conf, beside an ordinary question",
    expected: "no data: no key, no hint, no other port",
    sources: &[
        "RFC 9460",
        "RFC 9848",
        "https://github.com/rappdw/sandy/issues/154",
        "https://github.com/eblocker/eblocker/issues/399",
    ],
    needs: &[Need::PermittedTls],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: ech,
}];

fn ech(trial: &mut Trial<'_>) {
    let server = own_server(trial.around());
    let Some(host) = trial.https() else { return };
    let attempt = |word: &str, kind: u16| {
        let ask = move |nonce: &Nonce| {
            let of = |kind: u16| Over::Udp.ask(server, &dns::question(id(nonce), &host.name, kind));
            match of(kind::A) {
                Seen::Dns { code, .. } if code == "NOERROR" => no_data(of(kind)),
                seen => Seen::failed(format!("an ordinary question about {}: {seen}", host.name)),
            }
        };
        Attempt::new(word, server, Want::Absent, ask)
    };
    trial.attempt_all(vec![attempt("HTTPS", kind::HTTPS), attempt("SVCB", kind::SVCB)]);
}

fn no_data(seen: Seen) -> Seen {
    match seen {
        Seen::Dns { answers, .. } if answers.is_empty() => Seen::NotFound,
        Seen::Dns { answers, .. } => Seen::found(answers.join(", ")),
        seen => seen,
    }
}
