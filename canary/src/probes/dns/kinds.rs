//! Types of records beside addresses.

use std::net::SocketAddr;

use super::question::{Over, Refused, id, own_server};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::dns::{self, kind, option};

/// All that may carry data of somebody else's choice.
const KINDS: [(&str, u16); 13] = [
    ("TXT", kind::TXT),
    ("NULL", kind::NULL),
    ("ANY", kind::ANY),
    ("SRV", kind::SRV),
    ("MX", kind::MX),
    ("CNAME", kind::CNAME),
    ("NS", kind::NS),
    ("SOA", kind::SOA),
    ("NAPTR", kind::NAPTR),
    ("CAA", kind::CAA),
    ("HTTPS", kind::HTTPS),
    ("SVCB", kind::SVCB),
    ("TYPE65400", 65400),
];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "dns-qtypes",
    group: Group::Dns,
    leak: "types of records that nobody thought of: they carry data back, or are passed on where addresses are not",
    how: "thirteen types of a refused name and of the permitted one, a nonce in each; PTR of three addresses",
    expected: "no data for the permitted name, NXDOMAIN for the others; no question goes anywhere",
    sources: &[
        "https://github.com/buildcage/docker/issues/370",
        "https://github.com/agentcage/agentcage/issues/216",
    ],
    needs: &[Need::WitnessZone],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: kinds,
}];

/// Of the witness, of a loopback address, and of an IPv6 address.
const REVERSE: [&str; 3] = [
    "200.113.0.203.in-addr.arpa",
    "1.0.0.127.in-addr.arpa",
    "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
];

fn kinds(trial: &mut Trial<'_>) {
    let refused = Refused::of(trial.targets());
    let server = own_server(trial.around());
    let of_refused =
        KINDS.map(|(word, kind)| refused.ask(format!("{word} of a refused name"), server, Over::Udp, kind));
    let permitted = trial.targets().permitted.first().map(|host| host.name.clone());
    let of_permitted = permitted.into_iter().flat_map(|name| {
        KINDS.map(|(word, kind)| marked(format!("{word} of a permitted name"), server, &name, kind))
    });
    let reverse = REVERSE.map(|name| marked(format!("PTR of {name}"), server, name, kind::PTR));
    trial.attempt_all(of_refused.into_iter().chain(of_permitted).chain(reverse).collect());
}

/// A name that has no room for a nonce: it stands in an option.
fn marked<'s>(what: String, server: SocketAddr, name: &str, kind: u16) -> Attempt<'s> {
    let name = name.to_owned();
    let ask = move |nonce: &Nonce| {
        let content = nonce.as_str().as_bytes();
        let question = dns::question_with(id(nonce), &name, kind, option::LOCAL, content);
        Over::Udp.ask(server, &question)
    };
    Attempt::new(what, server, Want::Stopped, ask)
}
