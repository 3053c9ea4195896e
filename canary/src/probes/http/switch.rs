//! A second request on the same connection, for another host.

use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::http;
use crate::wire::kept::Kept;

use super::aim;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "http-keepalive-host-switch",
        group: Group::Http,
        leak: "the second request of a kept connection names another host, and only the first is checked",
        how: "two requests one after the other: for the permitted host, and for the witness",
        expected: "the first is answered; the second is refused, and arrives nowhere, not at the permitted host either",
        sources: &["https://github.com/go-gost/x", "RFC 9112 section 9.3"],
        needs: &[Need::PermittedHttp, Need::OwnHosts],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: one_after_the_other,
    },
    Probe {
        id: "http-pipeline-host-switch",
        group: Group::Http,
        leak: "two requests in one segment, of which only the first is checked",
        how: "one write with two requests: for the permitted host, and for the witness",
        expected: "the first is answered; the second is refused, and arrives nowhere",
        sources: &["https://github.com/go-gost/x", "RFC 9112 section 9.3.2"],
        needs: &[Need::PermittedHttp, Need::OwnHosts],
        moment: Moment::Phase,
        levels: BOTH,
        within: WITHIN,
        run: in_one_segment,
    },
];

const WITHIN: Duration = Duration::from_secs(20);
const FIRST: &str = "the first request, for the permitted host";
const SECOND: &str = "the second request, for a name that is not allowed";

fn one_after_the_other(trial: &mut Trial<'_>) {
    let (Some(host), Some(home)) = (trial.http(), aim::at_home(trial)) else { return };
    let other = trial.targets().foreign_name();
    let mut kept = None;
    let first = |nonce: &Nonce| match home.address().and_then(Kept::open) {
        Ok(connection) => kept.insert(connection).ask(&http::get_and_keep(&host.name, nonce), nonce),
        Err(seen) => seen,
    };
    trial.attempt(Attempt::new(FIRST, &host.name, Want::reached(&host.name), first));
    let second = |nonce: &Nonce| match &mut kept {
        Some(connection) => connection.ask(&http::get(other, nonce), nonce),
        None => Seen::failed("there is no connection"),
    };
    trial.attempt(Attempt::new(SECOND, &host.name, Want::Stopped, second).beside(FIRST));
}

fn in_one_segment(trial: &mut Trial<'_>) {
    let (Some(host), Some(home)) = (trial.http(), aim::at_home(trial)) else { return };
    let other = trial.targets().foreign_name();
    // Both are sent at once, so both are seen by the try that is made first.
    let mut first = Seen::failed("it was not sent");
    let both = |nonce: &Nonce| {
        let Some(own) = Nonce::fresh() else { return Seen::failed("the system has no random numbers") };
        let mut connection = match home.address().and_then(Kept::open) {
            Ok(connection) => connection,
            Err(seen) => return seen,
        };
        let octets = [http::get_and_keep(&host.name, &own), http::get(other, nonce)].concat();
        first = connection.ask(&octets, &own);
        connection.answer(nonce)
    };
    trial.attempt(Attempt::new(SECOND, &host.name, Want::Stopped, both).beside(FIRST));
    trial.attempt(Attempt::new(FIRST, &host.name, Want::reached(&host.name), |_: &Nonce| first));
}
