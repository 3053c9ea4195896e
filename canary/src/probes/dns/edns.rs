//! What a question carries beside its name.

use super::question::{Over, id, own_server};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::dns::{self, kind, option};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "dns-edns-options",
    group: Group::Dns,
    leak: "options of a question about a permitted name, which a forwarding resolver hands on",
    how: "a nonce as client subnet, cookie, padding, name server id and local option, and behind the message",
    expected: "asking sends nothing anywhere, or a question made anew",
    sources: &["RFC 6891", "RFC 7871", "RFC 7873"],
    needs: &[Need::PermittedTls, Need::WitnessZone],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: options,
}];

/// The case of letters and the id can carry something too. A witness can't tell them from chance; whoever makes his
/// questions anew makes those anew as well.
fn options(trial: &mut Trial<'_>) {
    let server = own_server(trial.around());
    let Some(host) = trial.https() else { return };
    let with = |what: &str, over: Over, option: u16, before: &'static [u8]| {
        let ask = move |nonce: &Nonce| {
            let content = [before, nonce.as_str().as_bytes()].concat();
            over.ask(server, &dns::question_with(id(nonce), &host.name, kind::A, option, &content))
        };
        Attempt::new(what, server, Want::Unheard, ask)
    };
    let behind = move |nonce: &Nonce| {
        let question = dns::question(id(nonce), &host.name, kind::A);
        Over::Udp.ask(server, &[question.as_slice(), nonce.as_str().as_bytes()].concat())
    };
    trial.attempt_all(vec![
        // Family 1, prefix of 24 bits, and more octets than that.
        with("client subnet", Over::Udp, option::SUBNET, &[0, 1, 24, 0, 203, 0, 113]),
        with("cookie", Over::Udp, option::COOKIE, &[]),
        with("padding", Over::Udp, option::PADDING, &[]),
        with("name server id", Over::Udp, option::NSID, &[]),
        with("local option", Over::Udp, option::LOCAL, &[]),
        with("local option, over TCP", Over::Tcp, option::LOCAL, &[]),
        Attempt::new("behind the message", server, Want::Unheard, behind),
    ]);
}
