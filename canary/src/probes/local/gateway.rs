//! The machine that containers or virtual machines run on, at the addresses it has for them.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::surroundings::routes::gateways;
use crate::trial::{Attempt, Lasting, Trial, Want};
use crate::wire::series::Series;
use crate::wire::{http, lookup, tcp};

/// Addresses at which engines show their host.
const HOSTS: [(&str, Ipv4Addr); 8] = [
    ("Docker's first bridge", Ipv4Addr::new(172, 17, 0, 1)),
    ("Docker's next bridge", Ipv4Addr::new(172, 18, 0, 1)),
    ("Docker Desktop's host", Ipv4Addr::new(192, 168, 65, 254)),
    ("Podman's bridge", Ipv4Addr::new(10, 88, 0, 1)),
    ("Podman Machine's host", Ipv4Addr::new(192, 168, 127, 254)),
    ("the host of slirp4netns and QEMU", Ipv4Addr::new(10, 0, 2, 2)),
    ("Lima's host", Ipv4Addr::new(192, 168, 5, 2)),
    ("libvirt's bridge", Ipv4Addr::new(192, 168, 122, 1)),
];
/// Where there is no gateway, an address that one might have.
const NO_GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 254);
/// Web, SSH, Docker, registries, databases, Kubernetes.
const PORTS: [u16; 8] = [80, 22, 443, 2375, 5000, 5432, 6443, 8080];
/// Names that engines have for their host.
const NAMES: [&str; 4] =
    ["host.docker.internal", "gateway.docker.internal", "host.containers.internal", "host.lima.internal"];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "local-gateway-host",
    group: Group::Local,
    leak: "services of the host, at the gateway's address or at the names that engines have for it",
    how: "a request to eight ports of the default gateway and of eight addresses that engines use, and at four names",
    expected: "refused at once",
    sources: &[
        "https://github.com/github/gh-aw-firewall",
        "https://docs.docker.com/desktop/features/networking/",
    ],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(25),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let around = trial.around();
    let gateway = gateways().first().copied().unwrap_or(NO_GATEWAY);
    let hosts = HOSTS.into_iter().chain([("the default gateway", gateway)]);
    let mut attempts: Vec<Attempt<'_>> = hosts
        .map(|(what, ip)| {
            Attempt::lasting(what, ip, Want::Stopped, move |nonce| each_port(ip, &ip.to_string(), nonce))
        })
        .collect();
    attempts.extend(
        NAMES.map(|name| Attempt::new(name, name, Want::Absent, move |nonce| by_name(name, around, nonce))),
    );
    trial.attempt_all(attempts);
}

fn each_port(ip: Ipv4Addr, host: &str, nonce: &Nonce) -> Lasting {
    let mut series = Series::new();
    for port in PORTS {
        let mut nobody = false;
        let go_on = series.go_on(|| {
            let seen = ask(SocketAddr::new(ip.into(), port), host, nonce);
            nobody = seen == Seen::Silence;
            seen
        });
        // Where nobody answers at all, the other ports would take as long each.
        if !go_on || nobody {
            break;
        }
    }
    series.end()
}

/// Whatever a host's service answers, it is reached: a filter says 403, or that it can't.
fn ask(to: SocketAddr, host: &str, nonce: &Nonce) -> Seen {
    match tcp::exchange(to, &http::get(host, nonce), nonce) {
        seen @ Seen::Answered { status: 401 | 404 | 405 | 426, .. } => Seen::found(format!("{to}: {seen}")),
        seen => seen,
    }
}

fn by_name(name: &str, around: &Surroundings, nonce: &Nonce) -> Seen {
    if around.nameservers.is_empty() {
        return Seen::NotFound;
    }
    match lookup::addresses(name, around) {
        Err(seen) => seen.led_nowhere(),
        Ok(addresses) => {
            let mut series = Series::new();
            for ip in addresses.into_iter().take(2) {
                series.go_on(|| ask(SocketAddr::new(ip, 80), name, nonce).led_nowhere());
            }
            series.seen()
        }
    }
}
