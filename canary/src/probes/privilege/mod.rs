//! Privileges and namespaces: is there an exemption, and can it be had? (G2, G17).

mod cgroup;
mod families;
mod files;
mod mark;
mod namespaces;
mod netlink;
mod preload;
mod process;
mod user;

use std::net::SocketAddr;

use crate::nonce::Nonce;
use crate::probe::Probe;
use crate::seen::Seen;
use crate::targets::Targets;
use crate::wire::series::Series;
use crate::wire::{http, tcp, udp};

pub(super) const PROBES: &[&[Probe]] = &[
    mark::PROBES,
    user::PROBES,
    cgroup::PROBES,
    netlink::PROBES,
    namespaces::PROBES,
    process::PROBES,
    files::PROBES,
    preload::PROBES,
    families::PROBES,
];

/// What an exempted process would be let do: a request in the clear and a datagram, to an address that must not be
/// reached. Not raw octets over TCP: they might be the beginning of a request, and a filter would wait for the rest.
#[derive(Debug, Clone)]
struct WayOut {
    web: SocketAddr,
    datagram: SocketAddr,
    name: String,
    nowhere: bool,
}

impl WayOut {
    fn of(targets: &Targets) -> Self {
        let foreign = targets.foreign();
        let name = targets.foreign_name().to_owned();
        Self { web: foreign.port(80), datagram: foreign.port(443), name, nowhere: foreign.nowhere }
    }

    fn ask(&self, nonce: &Nonce) -> Seen {
        tcp::exchange(self.web, &http::get(&self.name, nonce), nonce)
    }

    fn send(&self, nonce: &Nonce) -> Seen {
        udp::exchange(self.datagram, nonce.as_str().as_bytes(), nonce)
    }

    /// Both, as one.
    fn both(&self, nonce: &Nonce) -> Series {
        let mut series = Series::new();
        if series.go_on(|| self.ask(nonce)) {
            series.go_on(|| self.send(nonce));
        }
        series
    }
}
