//! Metadata services of clouds: credentials, and a resolver that recurses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, dns, http, tcp};

/// Where they are, and what they are called there.
const SERVICES: [(Ipv4Addr, &str); 5] = [
    (LINK_LOCAL, "169.254.169.254"),
    (LINK_LOCAL, "metadata.google.internal"),
    (Ipv4Addr::new(169, 254, 170, 2), "169.254.170.2"),
    (Ipv4Addr::new(100, 100, 100, 200), "100.100.100.200"),
    (Ipv4Addr::new(168, 63, 129, 16), "168.63.129.16"),
];
/// RFC 3927; every cloud has something here.
const LINK_LOCAL: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);
/// Amazon's, over IPv6.
const OVER_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "local-metadata",
        group: Group::Local,
        leak: "the cloud's metadata service: credentials of the machine, and what the operator keeps there",
        how: "a request without any token to each known address, over IPv4",
        expected: "refused at once",
        sources: &[
            "https://github.com/NVIDIA/OpenShell/issues/59",
            "https://github.com/use-agent-os/agent-os/issues/697",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: over_v4,
    },
    Probe {
        id: "local-metadata-v6",
        group: Group::Local,
        leak: "the same service at its IPv6 address, where a list of refused addresses has IPv4 alone",
        how: "a request to fd00:ec2::254",
        expected: "refused at once",
        sources: &["https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html"],
        needs: &[Need::Ipv6],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: over_v6,
    },
    Probe {
        id: "local-metadata-dns",
        group: Group::Local,
        leak: "the resolver that some clouds run at the metadata address: it recurses for whoever asks",
        how: "a name with a nonce in the witness's zone, asked at 169.254.169.254 and 168.63.129.16 over UDP and TCP",
        expected: "answered by the filter or refused, and no question arrives",
        sources: &["https://cloud.google.com/compute/docs/metadata/overview"],
        needs: &[Need::WitnessZone],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: resolver,
    },
];

fn over_v4(trial: &mut Trial<'_>) {
    let attempt = |(ip, host): (Ipv4Addr, &'static str)| {
        let to = SocketAddr::new(ip.into(), 80);
        Attempt::new(format!("{host} at {ip}"), to, Want::Stopped, move |nonce| ask(to, host, nonce))
    };
    trial.attempt_all(SERVICES.into_iter().map(attempt).collect());
}

fn over_v6(trial: &mut Trial<'_>) {
    let to = SocketAddr::new(OVER_V6.into(), 80);
    let ask = |nonce: &Nonce| ask(to, "[fd00:ec2::254]", nonce);
    trial.attempt(Attempt::new("fd00:ec2::254", to, Want::Stopped, ask));
}

/// A service that knows what was asked for, and wants a token or another path, is there all the same.
fn ask(to: SocketAddr, host: &str, nonce: &Nonce) -> Seen {
    match tcp::exchange(to, &http::get(host, nonce), nonce) {
        seen @ Seen::Answered { status: 401 | 404 | 405, .. } => Seen::found(seen),
        seen => seen,
    }
}

fn resolver(trial: &mut Trial<'_>) {
    let Some(zone) = trial.targets().zone() else { return };
    let mut attempts = Vec::new();
    for ip in [LINK_LOCAL, Ipv4Addr::new(168, 63, 129, 16)] {
        let to = SocketAddr::new(IpAddr::V4(ip), 53);
        let question =
            move |nonce: &Nonce| dns::question(0x0c51, &format!("{}.{zone}", nonce.label()), dns::kind::A);
        let udp = move |nonce: &Nonce| dns::ask_udp(to, &question(nonce), PATIENCE);
        attempts.push(Attempt::new(format!("a question at {ip} over UDP"), to, Want::Stopped, udp));
        let tcp = move |nonce: &Nonce| dns::ask_tcp(to, &question(nonce), PATIENCE);
        attempts.push(Attempt::new(format!("a question at {ip} over TCP"), to, Want::Stopped, tcp));
    }
    trial.attempt_all(attempts);
}
