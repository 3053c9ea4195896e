//! Lines that are opened in one phase and used in another.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::at;
use crate::nonce::Nonce;
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::targets::Targets;
use crate::wire::hello::{Hello, sized_u16};
use crate::wire::tls::{Options, Session};
use crate::wire::{PATIENCE, dns, http, tcp, tls};

/// What is said on a line, once it is open; again and again.
pub(super) type Talk<'a> = Box<dyn FnMut(&Nonce) -> Seen + Send + 'a>;

/// A host, and what is needed to reach it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Host<'a> {
    pub(super) name: &'a str,
    pub(super) around: &'a Surroundings,
    pub(super) targets: &'a Targets,
}

/// A way to open a line: what it showed when it was opened, and how to go on with it.
pub(super) type Open = for<'a> fn(Host<'a>, &Nonce) -> Result<(Seen, Talk<'a>), Seen>;

fn options(host: Host<'_>) -> Options {
    Options { within: PATIENCE, ..super::strict(host.targets) }
}

fn session(host: Host<'_>) -> Result<Session<TcpStream>, Seen> {
    let stream = tcp::connect(at(host.name, 443, host.around)?, PATIENCE)?;
    tls::handshake(stream, host.name, &options(host))
}

/// A TLS connection with a request now and then.
pub(super) fn kept_tls<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let mut session = session(host)?;
    let seen = session.head(host.name, PATIENCE, nonce);
    Ok((seen, Box::new(move |nonce| session.head(host.name, PATIENCE, nonce))))
}

/// A connection on which nothing has been said yet: the hello comes later.
pub(super) fn unspoken<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let to = at(host.name, 443, host.around)?;
    // Another connection shows that the host answers.
    let seen = tls::get(to, host.name, host.name, &options(host), nonce);
    let mut waiting = Some(tcp::connect(to, PATIENCE)?);
    Ok((
        seen,
        Box::new(move |nonce| match waiting.take() {
            Some(stream) => tls::get_on(stream, host.name, host.name, &options(host), nonce),
            None => Seen::failed("a line that is used up"),
        }),
    ))
}

/// The first half of a hello now, the other later.
pub(super) fn half_said<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let to = at(host.name, 443, host.around)?;
    let seen = tls::get(to, host.name, host.name, &options(host), nonce);
    let mut stream = tcp::connect(to, PATIENCE)?;
    // The session id, where the nonce stands, is in the second part.
    let first: Vec<u8> = Hello::named(host.name.as_bytes(), nonce).octets().into_iter().take(20).collect();
    stream.write_all(&first).map_err(|error| Seen::of_error("send", &error))?;
    Ok((
        seen,
        Box::new(move |nonce| {
            let octets = Hello::named(host.name.as_bytes(), nonce).octets();
            tcp::converse(&mut stream, octets.get(20..).unwrap_or_default(), nonce)
        }),
    ))
}

/// The address that the name had.
pub(super) fn remembered<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let to = at(host.name, 443, host.around)?;
    let dial = move |nonce: &Nonce| tls::get(to, host.name, host.name, &options(host), nonce);
    Ok((dial(nonce), Box::new(dial)))
}

/// A connected UDP socket to the resolver. The name is asked for on it, and what it says is dialled.
pub(super) fn kept_udp<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let server = resolver(host)?;
    let from: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(from).map_err(|error| Seen::of_error("bind", &error))?;
    let ready = socket.connect(server).and_then(|()| socket.set_read_timeout(Some(PATIENCE)));
    ready.map_err(|error| Seen::of_error("connect", &error))?;
    let ask = move |question: &[u8]| {
        socket.send(question)?;
        let mut octets = vec![0_u8; 4096];
        let count = socket.recv(&mut octets)?;
        octets.truncate(count);
        Ok(octets)
    };
    Ok(ask_and_dial(host, ask, nonce))
}

/// A DNS connection over TCP, which RFC 7766 wants to be kept.
pub(super) fn kept_dns<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let mut stream = tcp::connect(resolver(host)?, PATIENCE)?;
    let ask = move |question: &[u8]| {
        stream.write_all(&sized_u16(question))?;
        let mut length = [0_u8; 2];
        stream.read_exact(&mut length)?;
        let mut octets = vec![0_u8; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut octets)?;
        Ok(octets)
    };
    Ok(ask_and_dial(host, ask, nonce))
}

fn resolver(host: Host<'_>) -> Result<SocketAddr, Seen> {
    let first = host.around.nameservers.first();
    first
        .map(|ip| SocketAddr::new(*ip, 53))
        .ok_or_else(|| Seen::failed("/etc/resolv.conf names no name server"))
}

fn ask_and_dial<'a>(
    host: Host<'a>,
    mut ask: impl FnMut(&[u8]) -> std::io::Result<Vec<u8>> + Send + 'a,
    nonce: &Nonce,
) -> (Seen, Talk<'a>) {
    let mut talk = move |nonce: &Nonce| match ask(&dns::question(0x0c5a, host.name, dns::kind::A)) {
        Err(error) => Seen::of_error("recv", &error),
        Ok(octets) => match dns::read(&octets) {
            Seen::Dns { code, answers } => match answers.iter().find_map(|answer| answer.parse().ok()) {
                Some(ip) => tls::get(SocketAddr::new(ip, 443), host.name, host.name, &options(host), nonce),
                None => Seen::Dns { code, answers },
            },
            seen => seen,
        },
    };
    let seen = talk(nonce);
    (seen, Box::new(talk))
}

/// A WebSocket inside TLS that sends back what it is sent (RFC 6455). Only hosts of a lab have one.
pub(super) fn websocket<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let mut session = session(host)?;
    let fields = format!(
        "Host: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
        host.name
    );
    let request = http::request("GET", &format!("/ws?nonce={nonce}"), &fields, nonce);
    let seen = session.begin(&request, PATIENCE, nonce);
    Ok((seen, Box::new(move |nonce| echoed(&mut session, nonce))))
}

/// Sends a message, and reads until it is back.
fn echoed(session: &mut Session<TcpStream>, nonce: &Nonce) -> Seen {
    let stream = session.stream();
    if let Err(error) = stream.write_all(&frame(nonce.as_str())).and_then(|()| stream.flush()) {
        return Seen::of_error("send", &error);
    }
    let mut octets = Vec::new();
    let mut chunk = [0_u8; 1024];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Seen::Closed,
            Ok(count) => octets.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) => return Seen::of_error("recv", &error),
        }
        let wanted = nonce.as_str().as_bytes();
        if octets.windows(wanted.len()).any(|window| window == wanted) {
            return Seen::Proof { proof: String::new() };
        }
    }
}

/// One text message, masked as a client has to (RFC 6455 section 5.3); a mask of zeros is one.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap_or(125).min(125);
    let mut octets = vec![0x81, 0x80 | length, 0, 0, 0, 0];
    octets.extend(text.bytes().take(usize::from(length)));
    octets
}

/// An answer inside TLS that goes on and on, an event every 100 ms. Only hosts of a lab have one.
pub(super) fn events<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let mut session = session(host)?;
    let fields = format!("Host: {}\r\nAccept: text/event-stream\r\n", host.name);
    let request = http::request("GET", &format!("/sse/36000?ms=100&nonce={nonce}"), &fields, nonce);
    let seen = session.begin(&request, PATIENCE, nonce);
    Ok((seen, Box::new(move |_| still_coming(|chunk| session.stream().read(chunk)))))
}

/// A request in the clear on a connection that is kept.
pub(super) fn kept_http<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let mut stream = tcp::connect(at(host.name, 80, host.around)?, PATIENCE)?;
    let mut talk = move |nonce: &Nonce| {
        if let Err(error) = stream.write_all(&http::head_and_keep(host.name, nonce)) {
            return Seen::of_error("send", &error);
        }
        tcp::read_head(&mut stream, nonce, PATIENCE)
    };
    let seen = talk(nonce);
    Ok((seen, Box::new(talk)))
}

/// The same for an answer that goes on and on.
pub(super) fn http_events<'a>(host: Host<'a>, nonce: &Nonce) -> Result<(Seen, Talk<'a>), Seen> {
    let mut stream = tcp::connect(at(host.name, 80, host.around)?, PATIENCE)?;
    let fields = format!("Host: {}\r\nAccept: text/event-stream\r\n", host.name);
    let request = http::request("GET", &format!("/sse/36000?ms=100&nonce={nonce}"), &fields, nonce);
    stream.write_all(&request).map_err(|error| Seen::of_error("send", &error))?;
    let seen = tcp::read_head(&mut stream, nonce, PATIENCE);
    Ok((seen, Box::new(move |_| still_coming(|chunk| stream.read(chunk)))))
}

/// Whether octets come that were not under way already: those are read within moments.
fn still_coming(mut read: impl FnMut(&mut [u8]) -> std::io::Result<usize>) -> Seen {
    /// What had arrived before is in the kernel's buffers, and is read at once.
    const UNDER_WAY: Duration = Duration::from_millis(400);
    let started = Instant::now();
    let mut chunk = [0_u8; 4096];
    loop {
        match read(&mut chunk) {
            Ok(0) => return Seen::Closed,
            Ok(_) if started.elapsed() > UNDER_WAY => return Seen::Proof { proof: String::new() },
            Ok(_) => {}
            Err(error) => return Seen::of_error("recv", &error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_masked_and_counted() {
        assert_eq!(frame("abc"), [0x81, 0x83, 0, 0, 0, 0, b'a', b'b', b'c']);
    }

    #[test]
    fn what_was_under_way_is_not_what_still_comes() {
        let mut parts = vec![Ok(0), Ok(3), Ok(3)];
        assert_eq!(still_coming(|_| parts.pop().unwrap()), Seen::Closed);
        let slow = |_: &mut [u8]| {
            std::thread::sleep(Duration::from_millis(150));
            Ok(3)
        };
        assert!(matches!(still_coming(slow), Seen::Proof { .. }));
        let reset = || std::io::Error::from_raw_os_error(nix::libc::ECONNRESET);
        assert_eq!(still_coming(|_| Err(reset())), Seen::Reset);
    }
}
