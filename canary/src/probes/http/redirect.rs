//! A permitted host that sends its clients elsewhere.

use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::kept::Kept;
use crate::wire::{http, lookup, tcp};

use super::aim;

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "http-redirect-open",
    group: Group::Http,
    leak: "a permitted host that redirects to whatever it is asked to: the client follows, and the filter lets it",
    how: "a redirect of the permitted host to the witness is asked for, and followed whether it comes or not",
    expected: "the second hop is refused at once",
    sources: &["RFC 9110 section 15.4"],
    needs: &[Need::PermittedHttp],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: follow,
}];

fn follow(trial: &mut Trial<'_>) {
    let (Some(host), Some(home)) = (trial.http(), aim::at_home(trial)) else { return };
    let (foreign, other) = (trial.targets().foreign(), trial.targets().foreign_name());
    let around = trial.around();
    // The first hop is permitted, and bears no mark: what it is answered is not what is judged.
    let hops = move |nonce: &Nonce| {
        let first = format!("GET /redirect?to=http://{other}/hop HTTP/1.1\r\nHost: {}\r\n\r\n", host.name);
        match home.address().and_then(Kept::open) {
            Ok(mut connection) => match connection.ask(first.as_bytes(), nonce) {
                Seen::Answered { .. } => {}
                seen => return Seen::failed(format!("{} did not answer: {seen}", host.name)),
            },
            Err(seen) => return Seen::failed(format!("{} did not answer: {seen}", host.name)),
        }
        // An attacker knows his own address; a resolver that says nothing keeps nobody from it.
        let ip = lookup::aim(other, around).unwrap_or(foreign.ip);
        tcp::exchange(SocketAddr::new(ip, 80), &http::get(other, nonce), nonce)
    };
    let what = "the second hop, to a name that is not allowed";
    trial.attempt(Attempt::new(what, foreign.port(80), Want::Stopped, hops).nowhere(foreign.nowhere));
}
