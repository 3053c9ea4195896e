//! Socket families beside IP. Rules for IP packets do not see them, and some know no network namespaces.
//!
//! That a socket can be made is no way out: AF_ALG, AF_TIPC without a bearer and AF_CAN without a device lead nowhere. So
//! each is asked for what would lead out.

use std::time::Duration;

use nix::libc;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::WayOut;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::{PATIENCE, http, tcp};

/// The machine that this one is a guest of (vsock(7)).
const HOST: u32 = 2;
/// Ports at which something may listen there.
const PORTS: [u32; 10] = [1, 22, 53, 80, 443, 1024, 1234, 2375, 5000, 9999];
/// An answer from the host comes at once.
const SHORT: Duration = Duration::from_millis(300);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-af-vsock-etc",
    group: Group::Priv,
    leak: "sockets of other families than IP, which no rule for IP packets sees: a line from a virtual machine to its host",
    how: "AF_VSOCK is connected to the host on ten ports, AF_SMC to the witness; AF_BLUETOOTH, AF_XDP, AF_CAN, AF_RDS are made",
    expected: "the family is refused or not there, or nothing listens",
    sources: &["vsock(7)", "https://github.com/moby/moby/pull/44562", "RFC 7609"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let way = &WayOut::of(trial.targets());
    let beyond_loopback = trial.around().devices.iter().any(|device| device != "lo");
    let on_a_bus = trial.around().devices.iter().any(|device| device.contains("can"));
    let local = |what: &str, family: &str, how: fn(bool) -> Seen, there: bool| {
        Attempt::new(what.to_owned(), family.to_owned(), Want::Absent, move |_| how(there))
    };
    trial.attempt_all(vec![
        local("a virtual machine's host", "vsock:2", |_| to_the_host(), true),
        // Only the host's own network namespace has it at all.
        local(
            "Bluetooth",
            "AF_BLUETOOTH",
            |_| made(libc::AF_BLUETOOTH, Type::RAW, 1, "the host's radio"),
            true,
        ),
        // Both need a device: on loopback they lead nowhere.
        local(
            "XDP",
            "AF_XDP",
            |there| made_with(there, libc::AF_XDP, 0, "frames past all rules"),
            beyond_loopback,
        ),
        local("a CAN bus", "AF_CAN", |there| made_with(there, libc::AF_CAN, 1, "frames to a bus"), on_a_bus),
        // The kernel itself dials, as nobody: rules by user, mark or cgroup do not match.
        local(
            "RDS",
            "AF_RDS",
            |_| made(libc::AF_RDS, Type::SEQPACKET, 0, "connections of the kernel's own"),
            true,
        ),
        Attempt::new("SMC", way.web, Want::Absent, |nonce| {
            over_smc(way, nonce).unwrap_or_else(|seen| seen.led_nowhere())
        }),
    ]);
}

fn to_the_host() -> Seen {
    let mut denied = Seen::NotFound;
    for port in PORTS {
        let connected = Socket::new(Domain::VSOCK, Type::STREAM, None)
            .and_then(|socket| socket.connect_timeout(&SockAddr::vsock(HOST, port), SHORT));
        match connected {
            Ok(()) => return Seen::found(format!("the host listens on vsock port {port}")),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                denied = Seen::of_error("socket(AF_VSOCK)", &error);
            }
            // No such family, no host, or nobody who listens there.
            Err(_) => {}
        }
    }
    denied
}

fn made_with(there: bool, family: i32, protocol: i32, what: &str) -> Seen {
    if there { made(family, Type::RAW, protocol, what) } else { Seen::NotFound }
}

fn made(family: i32, kind: Type, protocol: i32, what: &str) -> Seen {
    match Socket::new(Domain::from(family), kind, Some(Protocol::from(protocol))) {
        Ok(_) => Seen::found(what),
        Err(error) => match Seen::of_error("socket", &error) {
            denied @ Seen::Denied { .. } => denied,
            Seen::Unsupported { .. } => Seen::NotFound,
            other => other,
        },
    }
}

/// Shared memory over RDMA, which falls back to TCP on its own: a way to make TCP connections with another name.
fn over_smc(way: &WayOut, nonce: &Nonce) -> Result<Seen, Seen> {
    /// linux/socket.h; not in libc for every target.
    const AF_SMC: i32 = 43;
    let socket = Socket::new(Domain::from(AF_SMC), Type::STREAM, None);
    let socket = socket.map_err(|error| Seen::of_error("socket(AF_SMC)", &error))?;
    let connected = socket.connect_timeout(&SockAddr::from(way.web), PATIENCE);
    connected.map_err(|error| Seen::of_error("connect", &error))?;
    let mut stream = tcp::prepare(socket.into(), PATIENCE)?;
    Ok(tcp::converse(&mut stream, &http::get(&way.name, nonce), nonce).led_nowhere())
}
