//! The self-test: closedbook tries its own namespace before anybody else may, through the same rules and listeners.
//!
//! Every probe goes to an address of the made-up block that is never handed out: it is never dialled, whatever the
//! policy says, so nothing of the test leaves. What must come back is closedbook's own refusal, which is there only if
//! redirection, rules, listeners and the proxy all work.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use closedbook_kernel::lo::{TASK_V4, TASK_V6};
use nix::libc;
use socket2::{Domain, Protocol, Socket, Type};
use thiserror::Error;

use crate::listeners::Families;

/// The last address but one of 198.18.0.0/15.
pub(crate) const NOWHERE_V4: Ipv4Addr = Ipv4Addr::new(198, 19, 255, 254);

/// The same, as a translator for IPv6 would have it (RFC 6052).
pub(crate) const NOWHERE_V6: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0xc613, 0xfffe);

/// The name that is asked for. Nobody can own it (RFC 6761 section 6.4).
const NAME: [&str; 3] = ["self-test", "closedbook", "invalid"];

/// For each step of each probe.
const PATIENCE: Duration = Duration::from_secs(5);

/// Discard: where nothing would answer if a datagram did get through.
const DISCARD: u16 = 9;

/// Probes that are ready to be sent: their own addresses are fixed, so that the proxy can be told of them.
#[derive(Debug)]
pub(crate) struct SelfTest(Vec<Probe>);

#[derive(Debug)]
struct Probe {
    kind: Kind,
    socket: Socket,
    to: SocketAddr,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Datagram,
    Dns,
    Tls,
}

/// What is wrong with the namespace, or with the proxy that serves it.
#[derive(Debug, Error)]
#[error("{what} to {to} did not end by closedbook's refusal")]
pub struct SelfTestError {
    what: &'static str,
    to: SocketAddr,
    #[source]
    wrong: Wrong,
}

/// How a probe ended when it did not end by closedbook's refusal.
#[derive(Debug, Error)]
pub enum Wrong {
    /// Nothing is there that refuses in closedbook's way.
    #[error("closedbook did not answer")]
    NoAnswer(#[source] io::Error),
    /// Somebody answered who is not closedbook.
    #[error("the answer is not closedbook's refusal")]
    OtherAnswer,
    /// The packet was not refused at all.
    #[error("it was not refused")]
    NotRefused,
}

impl SelfTest {
    /// Binds the probes' sockets in the current network namespace.
    pub(crate) fn prepare(families: Families) -> io::Result<Self> {
        let v6 =
            matches!(families, Families::V4AndV6).then_some((IpAddr::V6(TASK_V6), IpAddr::V6(NOWHERE_V6)));
        let pairs = [(IpAddr::V4(TASK_V4), IpAddr::V4(NOWHERE_V4))].into_iter().chain(v6);
        let mut probes = Vec::new();
        for (own, nowhere) in pairs {
            for kind in [Kind::Datagram, Kind::Dns, Kind::Tls] {
                let socket = match kind {
                    Kind::Tls => {
                        Socket::new(Domain::for_address((own, 0).into()), Type::STREAM, Some(Protocol::TCP))
                    }
                    _ => Socket::new(Domain::for_address((own, 0).into()), Type::DGRAM, Some(Protocol::UDP)),
                }?;
                socket.bind(&SocketAddr::new(own, 0).into())?;
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.set_write_timeout(Some(PATIENCE))?;
                probes.push(Probe { kind, socket, to: SocketAddr::new(nowhere, kind.port()) });
            }
        }
        Ok(Self(probes))
    }

    /// Where they will come from.
    pub(crate) fn sources(&self) -> io::Result<Vec<SocketAddr>> {
        let source = |probe: &Probe| {
            probe.socket.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
        };
        self.0.iter().map(source).collect()
    }

    /// Sends them one after the other. Their addresses stay taken as long as this value lives.
    pub(crate) fn run(&self) -> Result<(), SelfTestError> {
        self.0.iter().try_for_each(|Probe { kind, socket, to }| {
            let tried = match kind {
                Kind::Datagram => datagram(socket, *to),
                Kind::Dns => dns(socket, *to),
                Kind::Tls => tls(socket, *to),
            };
            tried.map_err(|wrong| SelfTestError { what: kind.words(), to: *to, wrong })
        })
    }
}

impl Kind {
    fn port(self) -> u16 {
        match self {
            Kind::Datagram => DISCARD,
            Kind::Dns => 53,
            Kind::Tls => 443,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Datagram => "a datagram",
            Kind::Dns => "a DNS question",
            Kind::Tls => "a TLS hello",
        }
    }
}

/// Refused by the rules, while it is sent.
fn datagram(socket: &Socket, to: SocketAddr) -> Result<(), Wrong> {
    match socket.send_to(b"closedbook self-test", &to.into()) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(Wrong::NoAnswer(error)),
        Ok(_) => Err(Wrong::NotRefused),
    }
}

/// Answered by the proxy: there is no such name.
fn dns(socket: &Socket, to: SocketAddr) -> Result<(), Wrong> {
    const ID: [u8; 2] = [0xcb, 0x53];
    const NXDOMAIN: u8 = 3;
    let mut question = [&ID[..], &[1, 0, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    for label in NAME {
        question.push(label.len() as u8);
        question.extend(label.bytes());
    }
    question.extend([0, 0, 1, 0, 1]);
    // Connected, so that nobody but whom was asked is heard.
    socket.connect(&to.into()).map_err(Wrong::NoAnswer)?;
    socket.send(&question).map_err(Wrong::NoAnswer)?;
    let mut answer = [0; 512];
    let length = (&mut &*socket).read(&mut answer).map_err(Wrong::NoAnswer)?;
    match answer.get(..length) {
        Some([id, also, flags, codes, ..])
            if [*id, *also] == ID && flags & 0x80 != 0 && codes & 0x0f == NXDOMAIN =>
        {
            Ok(())
        }
        _ => Err(Wrong::OtherAnswer),
    }
}

/// Answered by the proxy with an alert, or reset by it.
fn tls(mut socket: &Socket, to: SocketAddr) -> Result<(), Wrong> {
    socket.connect_timeout(&to.into(), PATIENCE).map_err(Wrong::NoAnswer)?;
    let reset = |error: &io::Error| error.raw_os_error() == Some(libc::ECONNRESET);
    match socket.write_all(&hello()) {
        Err(error) if !reset(&error) => return Err(Wrong::NoAnswer(error)),
        _ => {}
    }
    const ALERT: u8 = 21;
    let mut answer = [0; 7];
    match socket.read(&mut answer) {
        Ok(7) if answer[0] == ALERT => Ok(()),
        Ok(_) => Err(Wrong::OtherAnswer),
        Err(error) if reset(&error) => Ok(()),
        Err(error) => Err(Wrong::NoAnswer(error)),
    }
}

/// A ClientHello (RFC 8446 section 4.1.2) that names no server: nothing but an entry for the address could permit it,
/// and that address is never dialled.
fn hello() -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([0x5f; 32]);
    // No session; one suite; no compression; one extension, supported_versions with TLS 1.3.
    body.extend([0, 0, 2, 0x13, 0x01, 1, 0, 0, 7, 0, 43, 0, 3, 2, 3, 4]);
    let length = body.len() as u8;
    let mut hello = vec![22, 3, 1, 0, length + 4, 1, 0, 0, length];
    hello.extend(body);
    hello
}

#[cfg(test)]
mod tests {
    use closedbook_policy::Hello;

    use super::*;
    use crate::evidence::{Sniff, client_hello};

    #[test]
    fn the_hello_is_whole_and_names_nobody() {
        let Sniff::Found(Hello { server_name, ech, .. }) = client_hello::sniff(&hello()) else {
            panic!("no hello")
        };
        assert_eq!((server_name, ech), (None, false));
    }
}
