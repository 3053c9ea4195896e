//! A sidecar that is killed: does it leave the task with nothing, or with everything? (G6)

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::{get, strict};
use crate::engine::Event;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Lasting, Trial, Want};
use crate::wire::series::Series;
use crate::wire::{PATIENCE, dns, http, reply, tcp, tls, udp};

/// How long it is tried: over the end of the sidecar, and over the start of its successor.
const AFTER: Duration = Duration::from_secs(3);
/// Between two tries.
const PACE: Duration = Duration::from_millis(50);
/// After which a question is asked again.
const RESOLVER: Duration = Duration::from_millis(800);

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "life-sidecar-crash",
    group: Group::Life,
    leak: "a filter that takes its rules along when it dies, or whose rules let pass what nobody redirects any more",
    how: "the sidecar is killed; for six seconds, over its restart, TLS, HTTP, UDP, DNS and ICMP are tried, by new and by old sockets",
    expected: "refused at every moment; whether the permitted host comes back is another question",
    sources: &[
        "Harbor: entrypoint.sh deletes its table in `trap cleanup EXIT`",
        "https://github.com/docker/compose/issues/10263",
    ],
    needs: &[Need::Kills, Need::PermittedTls],
    moment: Moment::Crash,
    levels: BOTH,
    within: Duration::from_secs(45),
    run,
}];

/// One thing that is tried again and again.
type One<'a> = Box<dyn FnMut(&Nonce) -> Seen + Send + 'a>;

fn run(trial: &mut Trial<'_>) {
    let (targets, around) = (trial.targets(), trial.around());
    let Some(host) = trial.https() else { return };
    let (foreign, name) = (targets.foreign(), targets.foreign_name());
    let before = "the permitted host, before";
    let options = &strict(targets);
    let permitted = |nonce: &Nonce| get(&host.name, around, options, nonce);
    trial.attempt(Attempt::new(before, &host.name, Want::reached(&host.name), permitted));

    let (web, secure) = (foreign.port(80), foreign.port(443));
    let (ordinary, trust) = (tls::Options::ordinary(targets.trust.as_deref()), targets.trust.as_deref());
    // Opened while the sidecar lives, used when it does not.
    let mut old_stream = tcp::connect(secure, PATIENCE).ok();
    let old_socket = connected(secure);
    let question = move |nonce: &Nonce| {
        let zone = targets.zone().unwrap_or("invalid");
        dns::question(0x0c3d, &format!("{}.{zone}", nonce.label()), dns::kind::A)
    };
    let mut ways: Vec<(&str, SocketAddr, One<'_>)> = vec![
        ("TLS", secure, Box::new(move |nonce| tls::get(secure, name, name, &ordinary, nonce))),
        ("HTTP", web, Box::new(move |nonce| tcp::exchange(web, &http::get(name, nonce), nonce))),
        ("UDP", secure, Box::new(move |nonce| udp::exchange(secure, nonce.as_str().as_bytes(), nonce))),
        ("ICMP", secure, Box::new(move |nonce| ping(secure, nonce))),
        (
            "a connection from before",
            secure,
            Box::new(move |nonce| match old_stream.take() {
                Some(stream) => {
                    let options = tls::Options::ordinary(trust);
                    tls::get_on(stream, name, name, &options, nonce)
                }
                // Used up, or refused when the sidecar still lived.
                None => Seen::Closed,
            }),
        ),
        (
            "a UDP socket from before",
            secure,
            Box::new(move |nonce| match &old_socket {
                Ok(socket) => say(socket, nonce.as_str().as_bytes(), nonce),
                Err(seen) => seen.clone(),
            }),
        ),
    ];
    let servers = around.nameservers.first().copied().into_iter();
    let resolver = targets.witness.as_ref().and_then(|witness| witness.resolver);
    if let Some(server) = servers.chain(resolver).next_back().map(|ip| SocketAddr::new(ip, 53)) {
        let udp = move |nonce: &Nonce| match dns::ask_udp(server, &question(nonce), RESOLVER) {
            // What the sidecar had not read yet when it was killed is lost with it, and nobody is told: every resolver
            // asks again.
            Seen::Silence => dns::ask_udp(server, &question(nonce), RESOLVER),
            seen => seen,
        };
        ways.push(("DNS over UDP", server, Box::new(udp)));
        let tcp = move |nonce: &Nonce| dns::ask_tcp(server, &question(nonce), PATIENCE);
        ways.push(("DNS over TCP", server, Box::new(tcp)));
    }
    let killed = trial.until(Event::Killed);
    let attempts = ways.into_iter().map(|(what, to, one)| {
        let how = move |nonce: &Nonce| match killed {
            true => again(one, nonce),
            false => Seen::failed("the sidecar was never killed").into(),
        };
        Attempt::lasting(what, to, Want::Stopped, how).nowhere(foreign.nowhere).beside(before)
    });
    trial.attempt_all(attempts.collect());
}

fn again(mut one: One<'_>, nonce: &Nonce) -> Lasting {
    let end = Instant::now() + AFTER;
    let mut series = Series::new();
    while series.go_on(|| one(nonce)) && Instant::now() < end {
        std::thread::sleep(PACE);
    }
    series.end()
}

fn connected(to: SocketAddr) -> Result<UdpSocket, Seen> {
    let failed = |error: std::io::Error| Seen::of_error("socket", &error);
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).map_err(failed)?;
    socket.connect(to).and_then(|()| socket.set_read_timeout(Some(PATIENCE))).map_err(failed)?;
    Ok(socket)
}

fn say(socket: &UdpSocket, octets: &[u8], nonce: &Nonce) -> Seen {
    if let Err(error) = socket.send(octets) {
        return Seen::of_error("send", &error);
    }
    let mut answer = [0_u8; 2048];
    match socket.recv(&mut answer) {
        Ok(count) => reply::classify(answer.get(..count).unwrap_or_default(), nonce),
        Err(error) => Seen::of_error("recv", &error),
    }
}

/// An echo request by a socket that needs no privilege where net.ipv4.ping_group_range lets it be (icmp(7)), or else by a
/// raw one.
fn ping(to: SocketAddr, nonce: &Nonce) -> Seen {
    let open = |kind: Type| {
        let socket = Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4))?;
        socket.connect(&to.into())?;
        socket.set_read_timeout(Some(PATIENCE))?;
        Ok(UdpSocket::from(socket))
    };
    let made: std::io::Result<UdpSocket> = open(Type::DGRAM).or_else(|_| open(Type::RAW));
    match made.map(|socket| say(&socket, &echo_request(nonce), nonce)) {
        // An echo has the nonce in it, and nobody's proof.
        Ok(Seen::Octets { text }) if text.contains(nonce.as_str()) => Seen::Proof { proof: String::new() },
        Ok(seen) => seen,
        Err(error) => Seen::of_error("socket(ICMP)", &error),
    }
}

/// RFC 792, with the checksum that a raw socket is not given by the kernel (RFC 1071).
fn echo_request(nonce: &Nonce) -> Vec<u8> {
    let mut octets = [&[8, 0, 0, 0, 0, 77, 0, 1], nonce.as_str().as_bytes()].concat();
    let words = octets.chunks(2).map(|pair| match *pair {
        [high, low] => u32::from(u16::from_be_bytes([high, low])),
        [high] => u32::from(high) << 8,
        _ => 0,
    });
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let checksum = !u16::try_from(sum).unwrap_or(0);
    octets.splice(2..4, checksum.to_be_bytes());
    octets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_request_sums_up_to_ones() {
        let octets = echo_request(&Nonce::fresh().unwrap());
        let mut sum: u32 =
            octets.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        assert_eq!(sum, 0xffff);
    }
}
