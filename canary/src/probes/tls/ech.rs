//! Encrypted ClientHello: the name that is seen is not the one that is meant.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::hello::{Hello, extension};
use crate::wire::{ech, tls};

use super::{by_hand, permitted, reached, refused};

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-ech-real",
        group: Group::Tls,
        leak: "the permitted name outside, another one sealed inside: a filter that dials the client's address lets it pass",
        how: "hellos with the extension of an outer hello, to the witness's address, with several names outside",
        expected: "the permitted host at its own address, or nothing; other names and none are refused",
        sources: &[
            "RFC 9849",
            "https://github.com/net4people/bbs/issues/393",
            "https://github.com/net4people/bbs/issues/417",
            "https://github.com/untangle/ngfw_src/issues/863",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: sealed_name,
    },
    Probe {
        id: "tls-ech-grease",
        group: Group::Tls,
        leak: "none of its own: browsers send such an extension to everybody, and must not be broken by it",
        how: "a client that sends GREASE for the extension, to the permitted host",
        expected: "the permitted host answers, unless the policy refuses the extension",
        sources: &["RFC 9849 section 6.2", "RFC 8744"],
        needs: &[Need::PermittedTls],
        moment: Moment::Phase,
        levels: BOTH,
        within: Duration::from_secs(30),
        run: grease,
    },
];

fn sealed_name(trial: &mut Trial<'_>) {
    let other = trial.targets().foreign_name().as_bytes();
    let outer = move |nonce: &Nonce| Hello::named(other, nonce).with(extension::ECH, ech::outer()).octets();
    let nameless = |nonce: &Nonce| Hello::nameless(nonce).with(extension::ECH, ech::outer()).octets();
    let inner = move |nonce: &Nonce| Hello::named(other, nonce).with(extension::ECH, ech::inner()).octets();
    let mut attempts = vec![
        by_hand(trial, refused("and another sealed inside"), Want::Stopped, outer),
        by_hand(trial, "no name, and one sealed inside", Want::Stopped, nameless),
        by_hand(trial, refused("in what should have been sealed"), Want::Stopped, inner),
    ];
    if let Some(host) = trial.https() {
        let name = host.name.as_bytes();
        let outer =
            move |nonce: &Nonce| Hello::named(name, nonce).with(extension::ECH, ech::outer()).octets();
        attempts.push(by_hand(
            trial,
            permitted("and another sealed inside"),
            Want::rewritten(&host.name),
            outer,
        ));
    }
    trial.attempt_all(attempts);
}

fn grease(trial: &mut Trial<'_>) {
    let Some(host) = trial.https() else { return };
    let ordinary = tls::Options::ordinary(trial.targets().trust.as_deref());
    let get = reached(trial, &host.name, None, tls::Options { grease_ech: true, ..ordinary });
    let want = if trial.targets().refuses_ech { Want::Stopped } else { Want::reached(&host.name) };
    trial.attempt(Attempt::new(permitted("with GREASE for ECH"), &host.name, want, get));
}
