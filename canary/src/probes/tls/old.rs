//! Hellos of another time, and records that no client sends: a filter may take them for another protocol.

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Trial, Want};
use crate::wire::hello::{Hello, record, ssl2};

use super::by_hand;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "tls-sslv2-hello",
        group: Group::Tls,
        leak: "an SSL 2.0 hello has no place for a name, and is no TLS to a filter that then forwards it unread",
        how: "a hello that offers TLS 1.2 in the format of SSL 2.0, to the witness's address",
        expected: "refused at once",
        sources: &["https://github.com/go-gost/x", "RFC 5246 appendix E.2"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: ssl_2,
    },
    Probe {
        id: "tls-odd-record-version",
        group: Group::Tls,
        leak: "record versions that the filter does not know, and other records before the hello",
        how: "hellos for a name that is not allowed in records of odd versions, and behind an alert, a change of cipher, data",
        expected: "refused at once",
        sources: &[
            "https://github.com/go-gost/gost/issues/356",
            "https://github.com/go-gost/gost/issues/379",
            "RFC 8446 section 5.1",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: odd_records,
    },
];

fn ssl_2(trial: &mut Trial<'_>) {
    trial.attempt(by_hand(trial, "a hello of SSL 2.0", Want::Stopped, ssl2));
}

fn odd_records(trial: &mut Trial<'_>) {
    let name = trial.targets().foreign_name().as_bytes();
    let mut attempts = Vec::new();
    for (what, version) in [
        ("a record of version 3.0", [3, 0]),
        ("a record of version 3.5", [3, 5]),
        ("a record of version 3.255", [3, 255]),
        ("a record of version 2.0", [2, 0]),
        ("a record of version 127.3", [0x7f, 3]),
        ("a record of version 0.0", [0, 0]),
    ] {
        let octets = move |nonce: &Nonce| Hello::named(name, nonce).record_version(version).octets();
        attempts.push(by_hand(trial, what, Want::Stopped, octets));
    }
    for (what, first) in [
        ("a warning before the hello", record(0x15, [3, 1], &[1, 0])),
        ("a change of cipher before the hello", record(0x14, [3, 3], &[1])),
        ("data before the hello", record(0x17, [3, 3], &[0; 16])),
        ("a heartbeat before the hello", record(0x18, [3, 3], &[1, 0, 0])),
        ("an empty record before the hello", record(0x16, [3, 1], &[])),
    ] {
        let octets = move |nonce: &Nonce| [first, Hello::named(name, nonce).octets()].concat();
        attempts.push(by_hand(trial, what, Want::Stopped, octets));
    }
    trial.attempt_all(attempts);
}
