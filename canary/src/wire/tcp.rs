//! TCP connections with a limit on every step.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::{LOOKED_AT, PATIENCE, reply};
use crate::nonce::Nonce;
use crate::seen::Seen;

/// Connects. That proves nothing yet: a transparent proxy accepts every SYN.
pub fn connect(to: SocketAddr, within: Duration) -> Result<TcpStream, Seen> {
    let stream =
        TcpStream::connect_timeout(&to, within).map_err(|error| Seen::of_error("connect", &error))?;
    prepare(stream, within)
}

/// Sets the time limits of a stream.
pub fn prepare(stream: TcpStream, within: Duration) -> Result<TcpStream, Seen> {
    let limits = stream
        .set_read_timeout(Some(within))
        .and_then(|()| stream.set_write_timeout(Some(within)))
        .and_then(|()| stream.set_nodelay(true));
    limits.map_err(|error| Seen::of_error("setsockopt", &error))?;
    Ok(stream)
}

/// Connects, sends, and says what came back.
pub fn exchange(to: SocketAddr, octets: &[u8], nonce: &Nonce) -> Seen {
    match connect(to, PATIENCE) {
        Ok(mut stream) => converse(&mut stream, octets, nonce),
        Err(seen) => seen,
    }
}

/// The same from a socket that somebody has prepared; those of other protocols with connections take the same calls.
pub fn exchange_on(socket: socket2::Socket, to: SocketAddr, octets: &[u8], nonce: &Nonce) -> Seen {
    if let Err(error) = socket.connect_timeout(&to.into(), PATIENCE) {
        return Seen::of_error("connect", &error);
    }
    match prepare(socket.into(), PATIENCE) {
        Ok(mut stream) => converse(&mut stream, octets, nonce),
        Err(seen) => seen,
    }
}

/// Sends on a connection, and says what came back.
pub fn converse(stream: &mut TcpStream, octets: &[u8], nonce: &Nonce) -> Seen {
    if let Err(error) = stream.write_all(octets) {
        // A filter may have answered before it stopped listening.
        return match read(stream, nonce, PATIENCE) {
            Seen::Silence | Seen::Closed | Seen::Reset => Seen::of_error("send", &error),
            told => told,
        };
    }
    read(stream, nonce, PATIENCE)
}

/// Reads until the answer is decided, the peer ends, or time is over.
pub fn read(stream: &mut impl Read, nonce: &Nonce, within: Duration) -> Seen {
    let end = Instant::now() + within;
    let mut octets = Vec::new();
    let mut chunk = [0_u8; 4096];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) if octets.is_empty() => return Seen::Closed,
            Ok(0) => return reply::classify(&octets, nonce),
            Ok(count) => octets.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if octets.is_empty() => return Seen::of_error("recv", &error),
            Err(_) => return reply::classify(&octets, nonce),
        }
        if reply::is_decided(&octets, nonce) || octets.len() >= LOOKED_AT || Instant::now() >= end {
            return reply::classify(&octets, nonce);
        }
    }
}

/// Reads the head of an HTTP answer and no octet more, for a connection that is kept; what comes before its end decides.
pub fn read_head(stream: &mut impl Read, nonce: &Nonce, within: Duration) -> Seen {
    let end = Instant::now() + within;
    let mut octets = Vec::new();
    let mut octet = [0_u8; 1];
    loop {
        match stream.read(&mut octet) {
            Ok(1) => octets.extend(octet),
            Ok(_) if octets.is_empty() => return Seen::Closed,
            Err(error) if octets.is_empty() => return Seen::of_error("recv", &error),
            Ok(_) | Err(_) => return reply::classify(&octets, nonce),
        }
        if octets.ends_with(b"\r\n\r\n") || octets.len() >= LOOKED_AT || Instant::now() >= end {
            return reply::classify(&octets, nonce);
        }
    }
}
