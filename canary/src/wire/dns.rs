//! DNS questions and answers by hand (RFC 1035): what is wanted of an answer is its code and its data.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use super::{PATIENCE, tcp};
use crate::seen::Seen;

/// Types of records (IANA, Resource Record TYPEs).
pub mod kind {
    /// IPv4 address.
    pub const A: u16 = 1;
    /// Name servers.
    pub const NS: u16 = 2;
    /// Alias.
    pub const CNAME: u16 = 5;
    /// Start of a zone.
    pub const SOA: u16 = 6;
    /// Anything at all (RFC 1035 section 3.3.10): tunnels like it.
    pub const NULL: u16 = 10;
    /// An address's name.
    pub const PTR: u16 = 12;
    /// Mail.
    pub const MX: u16 = 15;
    /// Text.
    pub const TXT: u16 = 16;
    /// IPv6 address.
    pub const AAAA: u16 = 28;
    /// Services (RFC 2782).
    pub const SRV: u16 = 33;
    /// Rewriting rules (RFC 3403).
    pub const NAPTR: u16 = 35;
    /// Service binding (RFC 9460).
    pub const SVCB: u16 = 64;
    /// Service binding for HTTPS (RFC 9460): carries ECH keys.
    pub const HTTPS: u16 = 65;
    /// All there are (RFC 8482).
    pub const ANY: u16 = 255;
    /// Which authorities may sign (RFC 8659).
    pub const CAA: u16 = 257;
}

/// Options of EDNS (IANA, DNS EDNS0 Option Codes).
pub mod option {
    /// Name server identifier (RFC 5001).
    pub const NSID: u16 = 3;
    /// Client subnet (RFC 7871).
    pub const SUBNET: u16 = 8;
    /// Cookie (RFC 7873).
    pub const COOKIE: u16 = 10;
    /// Padding (RFC 7830).
    pub const PADDING: u16 = 12;
    /// For local use.
    pub const LOCAL: u16 = 65001;
}

/// A question with recursion desired. Labels that are too long are cut: the caller wants what fits.
pub fn question(id: u16, name: &str, kind: u16) -> Vec<u8> {
    let mut octets = id.to_be_bytes().to_vec();
    octets.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.trim_end_matches('.').split('.').filter(|label| !label.is_empty()) {
        let label = label.as_bytes().get(..label.len().min(63)).unwrap_or_default();
        octets.push(u8::try_from(label.len()).unwrap_or(0));
        octets.extend(label);
    }
    octets.push(0);
    octets.extend(kind.to_be_bytes());
    octets.extend([0, 1]);
    octets
}

/// The same with an EDNS option (RFC 6891 section 6.1.2): an OPT record behind the question.
pub fn question_with(id: u16, name: &str, kind: u16, option: u16, content: &[u8]) -> Vec<u8> {
    let mut octets = question(id, name, kind);
    if let Some(additional) = octets.get_mut(11) {
        *additional = 1;
    }
    // Root, type OPT, 1232 octets (RFC 9715), no flags.
    octets.extend([0, 0, 41, 4, 208, 0, 0, 0, 0]);
    let option = [&option.to_be_bytes()[..], &super::hello::sized_u16(content)].concat();
    octets.extend(super::hello::sized_u16(&option));
    octets
}

/// Asks over UDP.
pub fn ask_udp(server: SocketAddr, question: &[u8], within: Duration) -> Seen {
    match udp(server, question, within) {
        Ok(octets) => read(&octets),
        Err(seen) => seen,
    }
}

/// Asks over UDP from a socket that somebody has prepared.
pub fn ask_on(socket: &UdpSocket, server: SocketAddr, question: &[u8], within: Duration) -> Seen {
    match udp_on(socket, server, question, within) {
        Ok(octets) => read(&octets),
        Err(seen) => seen,
    }
}

/// Asks over TCP (RFC 7766).
pub fn ask_tcp(server: SocketAddr, question: &[u8], within: Duration) -> Seen {
    let mut stream = match tcp::connect(server, within) {
        Ok(stream) => stream,
        Err(seen) => return seen,
    };
    let framed = super::hello::sized_u16(question);
    if let Err(error) = stream.write_all(&framed) {
        return Seen::of_error("send", &error);
    }
    let mut length = [0_u8; 2];
    if let Err(error) = stream.read_exact(&mut length) {
        return Seen::of_error("recv", &error);
    }
    let mut octets = vec![0_u8; usize::from(u16::from_be_bytes(length))];
    match stream.read_exact(&mut octets) {
        Ok(()) => read(&octets),
        Err(error) => Seen::of_error("recv", &error),
    }
}

/// The addresses of a name at this server.
pub(super) fn addresses(server: SocketAddr, name: &str) -> Result<Vec<IpAddr>, Seen> {
    let octets = udp(server, &question(0x0c0d, name, kind::A), PATIENCE)?;
    match read(&octets) {
        Seen::Dns { code, answers } if code == "NOERROR" => {
            let mut found: Vec<IpAddr> = answers.iter().filter_map(|answer| answer.parse().ok()).collect();
            if found.is_empty() {
                let octets = udp(server, &question(0x0c0e, name, kind::AAAA), PATIENCE)?;
                if let Seen::Dns { answers, .. } = read(&octets) {
                    found.extend(answers.iter().filter_map(|answer| answer.parse::<IpAddr>().ok()));
                }
            }
            Ok(found)
        }
        seen => Err(seen),
    }
}

fn udp(server: SocketAddr, question: &[u8], within: Duration) -> Result<Vec<u8>, Seen> {
    let from: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(from).map_err(|error| Seen::of_error("bind", &error))?;
    udp_on(&socket, server, question, within)
}

fn udp_on(
    socket: &UdpSocket,
    server: SocketAddr,
    question: &[u8],
    within: Duration,
) -> Result<Vec<u8>, Seen> {
    socket.connect(server).map_err(|error| Seen::of_error("connect", &error))?;
    // A datagram may be lost, and every resolver asks again.
    let waits = [within * 2 / 5, within * 3 / 5];
    for wait in waits {
        let sent = socket.set_read_timeout(Some(wait)).and_then(|()| socket.send(question));
        sent.map_err(|error| Seen::of_error("sendto", &error))?;
        match receive_octets(socket) {
            Ok(octets) => return Ok(octets),
            Err(Seen::Silence) => {}
            Err(seen) => return Err(seen),
        }
    }
    Err(Seen::Silence)
}

/// The next answer on a socket whose questions are sent.
pub fn receive(socket: &UdpSocket) -> Seen {
    receive_octets(socket).map_or_else(|seen| seen, |octets| read(&octets))
}

fn receive_octets(socket: &UdpSocket) -> Result<Vec<u8>, Seen> {
    let mut octets = vec![0_u8; 4096];
    let count = socket.recv(&mut octets).map_err(|error| Seen::of_error("recv", &error))?;
    octets.truncate(count);
    Ok(octets)
}

/// The code and the data of an answer.
pub fn read(octets: &[u8]) -> Seen {
    parse(octets).unwrap_or_else(|| Seen::Octets { text: "a malformed DNS answer".to_owned() })
}

fn parse(octets: &[u8]) -> Option<Seen> {
    let code = match octets.get(3)? & 0x0f {
        0 => "NOERROR",
        1 => "FORMERR",
        2 => "SERVFAIL",
        3 => "NXDOMAIN",
        4 => "NOTIMP",
        5 => "REFUSED",
        _ => "OTHER",
    };
    let count = |at: usize| Some(u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?]));
    let (questions, answers) = (count(4)?, count(6)?);
    let mut at = 12;
    for _ in 0..questions {
        at = skip_name(octets, at)? + 4;
    }
    let mut data = Vec::new();
    for _ in 0..answers {
        at = skip_name(octets, at)?;
        let kind = u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?]);
        let length = usize::from(u16::from_be_bytes([*octets.get(at + 8)?, *octets.get(at + 9)?]));
        let content = octets.get(at + 10..at + 10 + length)?;
        data.push(shown(kind, content));
        at += 10 + length;
    }
    Some(Seen::Dns { code: code.to_owned(), answers: data })
}

fn shown(kind: u16, content: &[u8]) -> String {
    match (kind, content.len()) {
        (kind::A, 4) => {
            <[u8; 4]>::try_from(content).map(|octets| Ipv4Addr::from(octets).to_string()).unwrap_or_default()
        }
        (kind::AAAA, 16) => {
            <[u8; 16]>::try_from(content).map(|octets| Ipv6Addr::from(octets).to_string()).unwrap_or_default()
        }
        _ => format!("TYPE{kind} {}", super::reply::text(content)),
    }
}

/// Where a name ends: at its root label, or at a pointer (RFC 1035 section 4.1.4).
fn skip_name(octets: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match octets.get(at)? {
            0 => return Some(at + 1),
            length if length & 0xc0 == 0xc0 => return Some(at + 2),
            length => at += 1 + usize::from(*length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_stands_behind_the_question() {
        let plain = question(7, "a.example", kind::A);
        let with = question_with(7, "a.example", kind::A, option::LOCAL, b"xyz");
        assert_eq!(with[12..plain.len()], plain[12..]);
        assert_eq!(with[10..12], [0, 1]);
        assert_eq!(with[plain.len() + 9..], [0, 7, 0xfd, 0xe9, 0, 3, b'x', b'y', b'z']);
    }

    #[test]
    fn cut_and_hostile_answers_are_malformed() {
        let whole = question(7, "a.example", kind::A);
        for end in 0..whole.len() {
            let _ = read(&whole[..end]);
        }
        let mut looping = whole.clone();
        looping[4..8].copy_from_slice(&[0, 200, 0, 200]);
        assert!(matches!(read(&looping), Seen::Octets { .. }));
        assert!(matches!(read(&whole), Seen::Dns { .. }));
    }
}
