//! The mark by which a filter lets its own proxy pass.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::time::Duration;

use nix::libc;
use socket2::{Domain, MsgHdr, Protocol, SockAddr, Socket, Type};

use super::WayOut;
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::series::Series;
use crate::wire::{PATIENCE, http, tcp};

/// How long each of the marks in control messages is waited for, once all are sent.
const SHARE: Duration = Duration::from_millis(150);

/// Marks that filters are known to exempt, and one with all bits, for rules that look at some bits alone.
const MARKS: [u32; 16] = [
    114_514, // Harbor's gost
    1,
    2,
    75,
    100,
    0xff, // v2ray, xray
    0x100,
    0x200, // Cilium
    1080,
    1337, // Istio
    0x1112,
    23_333,
    0xca6c,   // wg-quick
    0x4_0000, // Tailscale
    0x8_0000, // Tailscale, past its own rules
    u32::MAX,
];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-so-mark",
    group: Group::Priv,
    leak: "the mark that exempts the proxy: CAP_NET_ADMIN sets it, and since Linux 5.17 CAP_NET_RAW too, which Docker gives",
    how: "SO_MARK with sixteen known marks, then a request and a datagram to the witness; the same as a control message",
    expected: "the kernel refuses the mark, or the mark alone is no exemption",
    sources: &["https://github.com/mcdonc/klangk/issues/2276", "socket(7)", "Harbor: GOST_MARK=114514"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: Duration::from_secs(30),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let way = &WayOut::of(trial.targets());
    let mut attempts: Vec<Attempt<'_>> = Vec::new();
    for mark in MARKS {
        let ask = move |nonce: &Nonce| marked_request(way, mark, nonce).unwrap_or_else(|seen| seen);
        let what = format!("TCP with mark {mark:#x}");
        attempts.push(Attempt::new(what, way.web, Want::Stopped, ask).nowhere(way.nowhere));
        let send =
            move |nonce: &Nonce| marked_datagram(way.datagram, mark, nonce).unwrap_or_else(|seen| seen);
        let what = format!("UDP with mark {mark:#x}");
        attempts.push(Attempt::new(what, way.datagram, Want::Stopped, send).nowhere(way.nowhere));
    }
    let beside = |nonce: &Nonce| {
        // All are sent before any is waited for: where nobody says a word, each would take its whole time.
        let sent = MARKS.map(|mark| beside_a_datagram(way.datagram, mark, nonce));
        let mut series = Series::new();
        for one in sent {
            if !series.go_on(|| one.map_or_else(|seen| seen, |socket| answer(socket, SHARE, nonce))) {
                break;
            }
        }
        series.end()
    };
    let what = "UDP with a mark as control message";
    attempts.push(Attempt::lasting(what, way.datagram, Want::Stopped, beside).nowhere(way.nowhere));
    trial.attempt_all(attempts);
}

fn marked(kind: Type, mark: u32) -> Result<Socket, Seen> {
    let socket = Socket::new(Domain::IPV4, kind, None).map_err(|error| Seen::of_error("socket", &error))?;
    socket.set_mark(mark).map_err(|error| Seen::of_error("setsockopt(SO_MARK)", &error))?;
    Ok(socket)
}

fn marked_request(way: &WayOut, mark: u32, nonce: &Nonce) -> Result<Seen, Seen> {
    let socket = marked(Type::STREAM, mark)?;
    let to = SockAddr::from(way.web);
    socket.connect_timeout(&to, PATIENCE).map_err(|error| Seen::of_error("connect", &error))?;
    let mut stream = tcp::prepare(socket.into(), PATIENCE)?;
    Ok(tcp::converse(&mut stream, &http::get(&way.name, nonce), nonce))
}

fn marked_datagram(to: SocketAddr, mark: u32, nonce: &Nonce) -> Result<Seen, Seen> {
    let socket = marked(Type::DGRAM, mark)?;
    let sent = socket.connect(&to.into()).and_then(|()| socket.send(nonce.as_str().as_bytes()));
    sent.map_err(|error| Seen::of_error("sendto", &error))?;
    Ok(answer(socket, PATIENCE, nonce))
}

/// A control message of type SO_MARK beside one datagram: the same right, asked for at another place of the kernel.
fn beside_a_datagram(to: SocketAddr, mark: u32, nonce: &Nonce) -> Result<Socket, Seen> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP));
    let socket = socket.map_err(|error| Seen::of_error("socket", &error))?;
    let to = SockAddr::from(to);
    let parts = [IoSlice::new(nonce.as_str().as_bytes())];
    let control = control_message(libc::SOL_SOCKET, libc::SO_MARK, mark);
    let message = MsgHdr::new().with_addr(&to).with_buffers(&parts).with_control(&control);
    let sent = socket.sendmsg(&message, 0);
    sent.map_err(|error| Seen::of_error("sendmsg(SO_MARK)", &error))?;
    Ok(socket)
}

/// `struct cmsghdr` and a number, padded to the machine's word (cmsg(3)).
fn control_message(level: i32, kind: i32, number: u32) -> Vec<u8> {
    let word = size_of::<usize>();
    let length = word + 8 + 4;
    let mut octets = length.to_ne_bytes().to_vec();
    octets.extend(level.to_ne_bytes());
    octets.extend(kind.to_ne_bytes());
    octets.extend(number.to_ne_bytes());
    octets.resize(length.next_multiple_of(word), 0);
    octets
}

fn answer(socket: Socket, within: Duration, nonce: &Nonce) -> Seen {
    let socket = std::net::UdpSocket::from(socket);
    if let Err(error) = socket.set_read_timeout(Some(within)) {
        return Seen::of_error("setsockopt", &error);
    }
    let mut octets = [0_u8; 4096];
    match socket.recv(&mut octets) {
        Ok(count) => crate::wire::reply::classify(octets.get(..count).unwrap_or_default(), nonce),
        Err(error) => Seen::of_error("recv", &error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel looks at the length before it looks at the right: a message that it calls malformed would prove nothing.
    #[test]
    fn the_control_message_has_the_form_the_kernel_wants() {
        let octets = control_message(libc::SOL_SOCKET, libc::SO_MARK, 7);
        assert_eq!(octets.len() % size_of::<usize>(), 0);
        assert_eq!(octets[..size_of::<usize>()], (size_of::<usize>() + 12).to_ne_bytes());
        let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let seen = beside_a_datagram(receiver.local_addr().unwrap(), 0, &Nonce::fresh().unwrap());
        assert!(matches!(seen, Ok(_) | Err(Seen::Denied { .. })), "{seen:?}");
    }
}
