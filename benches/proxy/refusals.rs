//! How long a refusal takes to be known, and that it is the one that was meant.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddrV4, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use crate::Result;
use crate::client::{PATIENCE, dial};
use crate::job::{Outcome, Refusal};
use crate::targets::{CLOSED, HELLO, HTTP, REFUSED, RESOLVER, TLS, address, question, refused_hello};

/// Tries it so often.
pub(crate) fn run(kind: Refusal, count: usize) -> Result<Outcome> {
    let began = Instant::now();
    let each = (0..count).map(|_| once(kind)).collect::<Result<Vec<_>>>()?;
    Ok(Outcome::new(began.elapsed(), each))
}

fn once(kind: Refusal) -> Result<Duration> {
    match kind {
        Refusal::TlsName => speak(address(TLS)?, &refused_hello()?, b"\x15"),
        Refusal::TlsPort => speak(address(CLOSED)?, HELLO, b"\x15"),
        Refusal::HttpHost => {
            let request = format!("GET / HTTP/1.1\r\nhost: {}:{HTTP}\r\n\r\n", REFUSED);
            speak(address(HTTP)?, request.as_bytes(), b"HTTP/1.1 403")
        }
        Refusal::SilentPort => {
            let to = address(CLOSED)?;
            let began = Instant::now();
            match dial(to)?.read(&mut [0]) {
                Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(began.elapsed()),
                other => Err(format!("a reset was to come, not {other:?}").into()),
            }
        }
        Refusal::DnsName => {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.connect((RESOLVER, 53))?;
            let mut space = [0; 512];
            let began = Instant::now();
            socket.send(&question(REFUSED, 1))?;
            socket.recv(&mut space)?;
            let took = began.elapsed();
            let [_, _, _, code, ..] = space;
            if code & 15 == 3 { Ok(took) } else { Err("NXDOMAIN was to come".into()) }
        }
        Refusal::Udp => {
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.connect((RESOLVER, 443))?;
            let began = Instant::now();
            // Told by the send itself, or by the ICMP error that the next call reports.
            match socket.send(b"quic?").and_then(|_| socket.recv(&mut [0])) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => Ok(began.elapsed()),
                other => Err(format!("an error was to come, not {other:?}").into()),
            }
        }
    }
}

/// From the first packet to the first bytes of the answer.
fn speak(to: SocketAddrV4, opening: &[u8], expected: &[u8]) -> Result<Duration> {
    let began = Instant::now();
    let mut stream: TcpStream = dial(to)?;
    stream.write_all(opening)?;
    let mut answer = vec![0; expected.len()];
    stream.read_exact(&mut answer)?;
    let took = began.elapsed();
    if answer == expected { Ok(took) } else { Err(format!("{answer:?} is not the refusal expected").into()) }
}
