//! Hellos that go on with an earlier session: their first data comes before any answer.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Trial, Want};
use crate::wire::hello::{Hello, early_data, extension, pre_shared_key};

use super::{by_hand, permitted, refused};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "tls-resumption-0rtt",
    group: Group::Tls,
    leak: "a hello with a ticket and no name, or a request as early data, which a filter passes on before it judges",
    how: "hellos with a ticket, with and without a name, a record of early data behind them, to the witness's address",
    expected: "refused at once, and the witness sees no early data",
    sources: &["RFC 8446 sections 4.2.10, 4.2.11 and 8"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: resumed,
}];

/// pre_shared_key has to be the last extension (RFC 8446 section 4.2.11).
fn with_ticket(hello: Hello) -> Vec<u8> {
    hello.with(extension::PRE_SHARED_KEY, pre_shared_key()).octets()
}

fn with_early_data(hello: Hello, nonce: &Nonce) -> Vec<u8> {
    let hello = with_ticket(hello.with(extension::EARLY_DATA, Vec::new()));
    [hello, early_data(nonce)].concat()
}

fn resumed(trial: &mut Trial<'_>) {
    let other = trial.targets().foreign_name().as_bytes();
    let mut attempts = vec![
        by_hand(trial, "no name, with a ticket", Want::Stopped, |nonce| with_ticket(Hello::nameless(nonce))),
        by_hand(trial, "no name, with a ticket and early data", Want::Stopped, |nonce| {
            with_early_data(Hello::nameless(nonce), nonce)
        }),
        by_hand(trial, refused("with a ticket"), Want::Stopped, move |nonce| {
            with_ticket(Hello::named(other, nonce))
        }),
        by_hand(trial, refused("with a ticket and early data"), Want::Stopped, move |nonce| {
            with_early_data(Hello::named(other, nonce), nonce)
        }),
    ];
    if let Some(host) = trial.https() {
        let own = host.name.as_bytes();
        let what = permitted("with a ticket and early data");
        let octets = move |nonce: &Nonce| with_early_data(Hello::named(own, nonce), nonce);
        attempts.push(by_hand(trial, what, Want::rewritten(&host.name), octets));
    }
    trial.attempt_all(attempts);
}
