//! Name services that ask the whole link.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{cast, dns};

const MDNS_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
const MDNS_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xfb);
const LLMNR_V4: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 252);
const LLMNR_V6: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 1, 3);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "dns-mdns-llmnr-nbns",
    group: Group::Dns,
    leak: "questions to everybody on the link: a neighbour that listens has the data",
    how: "a name with a nonce by mDNS, LLMNR and NetBIOS, over IPv4 and, where the kernel has it, IPv6",
    expected: "no packet leaves",
    sources: &["RFC 6762", "RFC 4795", "RFC 1002 section 4.2.12"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: ask_everybody,
}];

fn ask_everybody(trial: &mut Trial<'_>) {
    let attempt = |what: &str, to: SocketAddr, question: fn(&Nonce) -> Vec<u8>| {
        Attempt::new(what, to, Want::Stopped, move |nonce: &Nonce| cast::send(to, &question(nonce), nonce))
    };
    let mut attempts = vec![
        attempt("mDNS", (MDNS_V4, 5353).into(), mdns),
        attempt("LLMNR", (LLMNR_V4, 5355).into(), llmnr),
        attempt("NetBIOS, to everybody", (Ipv4Addr::BROADCAST, 137).into(), netbios),
        attempt("NetBIOS, to the subnet", (cast::of_the_subnet(), 137).into(), netbios),
    ];
    if trial.around().ipv6_kernel {
        attempts.push(attempt("mDNS over IPv6", (MDNS_V6, 5353).into(), mdns));
        attempts.push(attempt("LLMNR over IPv6", (LLMNR_V6, 5355).into(), llmnr));
    }
    trial.attempt_all(attempts);
}

/// RFC 6762 section 18.1: the id is zero.
fn mdns(nonce: &Nonce) -> Vec<u8> {
    dns::question(0, &format!("{}.local", nonce.label()), dns::kind::A)
}

fn llmnr(nonce: &Nonce) -> Vec<u8> {
    dns::question(0x0cb0, &nonce.label(), dns::kind::A)
}

/// The name `*` in half octets, each as a letter (RFC 1001 section 14.1), the nonce as its scope; type NB.
fn netbios(nonce: &Nonce) -> Vec<u8> {
    let star = format!("CK{}", "A".repeat(30));
    let mut question = dns::question(0x0cb0, &format!("{star}.{}", nonce.label()), 0x20);
    // A broadcast question: recursion desired, and the broadcast flag (RFC 1002 section 4.2.1.1).
    if let Some(flags) = question.get_mut(3) {
        *flags = 0x10;
    }
    question
}
