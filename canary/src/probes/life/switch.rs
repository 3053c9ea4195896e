//! What was opened in the first phase, and what becomes of it in the second.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::line::{self, Host, Open, Talk};
use crate::engine::Event;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, Source};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};

const SOURCES: &[Source] = &[
    "https://github.com/kubernetes-sigs/kube-network-policies/issues/246",
    "https://github.com/projectcalico/calico/issues/11334",
    "https://github.com/kubernetes-sigs/network-policy-api/issues/305",
];

/// Time for what comes before and after the switch; waiting does not count.
const WITHIN: Duration = Duration::from_secs(30);

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "life-phase-switch-established",
        group: Group::Life,
        leak: "a TLS connection opened in the first phase that goes on in the second, to a host that is not permitted any more",
        how: "connections are opened to a host of the first phase, spoken on, half spoken on and not spoken on; after the switch a nonce is sent on each",
        expected: "reset at the switch; a permitted host's connection goes on undisturbed",
        sources: SOURCES,
        needs: &[Need::Switches, Need::SetupOnlyHost, Need::PermittedTls],
        moment: Moment::Switch,
        levels: BOTH,
        within: WITHIN,
        run: established,
    },
    Probe {
        id: "life-phase-switch-pooled",
        group: Group::Life,
        leak: "what is kept in a pool: a WebSocket, an endless answer, a socket to the resolver, a remembered address",
        how: "each is opened to a host of the first phase and shown to work; after the switch it is used again",
        expected: "reset, or refused by name; nothing more comes",
        sources: SOURCES,
        needs: &[Need::Switches, Need::SetupOnlyHost, Need::PermittedTls],
        moment: Moment::Switch,
        levels: BOTH,
        within: WITHIN,
        run: pooled,
    },
    Probe {
        id: "life-phase-switch-http",
        group: Group::Life,
        leak: "a kept connection of plain HTTP, between requests or in the middle of an answer",
        how: "the same over plain HTTP: a request on the kept connection, an answer under way",
        expected: "reset, or refused with 403; nothing more comes",
        sources: SOURCES,
        needs: &[Need::Switches, Need::SetupOnlyHttp, Need::Witness],
        moment: Moment::Switch,
        levels: BOTH,
        within: WITHIN,
        run: in_the_clear,
    },
];

fn established(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (Some(first), Some(both)) = (targets.setup_only.first(), trial.https()) else { return };
    let lines = vec![
        Line::cut("a TLS connection", first, line::kept_tls),
        Line::cut("a connection without a hello", first, line::unspoken),
        Line::cut("a connection with half a hello", first, line::half_said),
        Line::stays("a TLS connection to a permitted host", &both.name, line::kept_tls),
    ];
    across(trial, lines);
}

fn pooled(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let (Some(first), Some(both)) = (targets.setup_only.first(), trial.https()) else { return };
    let mut lines = vec![
        Line::cut("a remembered address", first, line::remembered),
        Line::cut("a UDP socket to the resolver", first, line::kept_udp),
        Line::cut("a TCP connection to the resolver", first, line::kept_dns),
        Line::stays("a UDP socket to the resolver, for a permitted host", &both.name, line::kept_udp),
        Line::stays("a TCP connection to the resolver, for a permitted host", &both.name, line::kept_dns),
    ];
    if is_of_a_lab(trial, first) {
        lines.push(Line::cut("a WebSocket", first, line::websocket));
        lines.push(Line::cut("an endless answer", first, line::events));
    }
    if is_of_a_lab(trial, &both.name) {
        lines.push(Line::stays("a WebSocket to a permitted host", &both.name, line::websocket));
        lines.push(Line::stays("an endless answer of a permitted host", &both.name, line::events));
    }
    across(trial, lines);
}

fn in_the_clear(trial: &mut Trial<'_>) {
    let targets = trial.targets();
    let Some(first) = targets.setup_only_http.first() else { return };
    let mut lines = vec![
        Line::cut("a kept HTTP connection", first, line::kept_http),
        Line::cut("an endless answer over HTTP", first, line::http_events),
    ];
    if let Some(both) = trial.http() {
        lines.push(Line::stays("a kept HTTP connection to a permitted host", &both.name, line::kept_http));
        lines.push(Line::stays(
            "an endless answer of a permitted host over HTTP",
            &both.name,
            line::http_events,
        ));
    }
    across(trial, lines);
}

/// Real hosts have neither a WebSocket nor an endless answer for whoever asks; a witness's have.
fn is_of_a_lab(trial: &mut Trial<'_>, name: &str) -> bool {
    let host = Host { name, around: trial.around(), targets: trial.targets() };
    let ask = |nonce: &Nonce| line::remembered(host, nonce).map_or_else(|seen| seen, |(seen, _)| seen);
    let what = format!("https://{name}/, before");
    matches!(trial.attempt(Attempt::new(what, name, Want::reached(name), ask)), Seen::Proof { .. })
}

/// A line across the switch.
struct Line<'a> {
    what: &'static str,
    host: &'a str,
    open: Open,
    stays: bool,
}

impl<'a> Line<'a> {
    /// One that must be cut.
    fn cut(what: &'static str, host: &'a str, open: Open) -> Self {
        Self { what, host, open, stays: false }
    }

    /// One that must go on.
    fn stays(what: &'static str, host: &'a str, open: Open) -> Self {
        Self { what, host, open, stays: true }
    }
}

/// Opens all of them, waits for the switch, and uses all of them again.
fn across<'a>(trial: &mut Trial<'a>, lines: Vec<Line<'a>>) {
    let (around, targets) = (trial.around(), trial.targets());
    let opened: Vec<(Line<'a>, Mutex<Option<Talk<'a>>>)> =
        lines.into_iter().map(|line| (line, Mutex::new(None))).collect();
    let before = opened.iter().map(|(line, slot)| {
        let host = Host { name: line.host, around, targets };
        let open = line.open;
        let how = move |nonce: &Nonce| match open(host, nonce) {
            Ok((seen, talk)) => {
                *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(talk);
                seen
            }
            Err(seen) => seen,
        };
        Attempt::new(format!("{}, before", line.what), line.host, Want::reached(line.host), how)
    });
    trial.attempt_all(before.collect());
    let switched = trial.until(Event::Switched);
    let after = opened.iter().map(|(line, slot)| {
        let how = move |nonce: &Nonce| {
            let talk = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            match talk {
                Some(mut talk) if switched => talk(nonce),
                Some(_) => Seen::failed("the phase was never switched"),
                None => Seen::failed("it was never open"),
            }
        };
        let what = format!("{}, after", line.what);
        match line.stays {
            true => Attempt::new(what, line.host, Want::reached(line.host), how),
            false => Attempt::new(what, line.host, Want::Stopped, how)
                .beside(format!("{}, before", line.what))
                .two_way(),
        }
    });
    trial.attempt_all(after.collect());
}
