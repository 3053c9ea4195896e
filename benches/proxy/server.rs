//! The cheapest server there can be: blocking threads that wait in accept(2), and no looking at what comes.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;

use crate::Result;
use crate::protocol::{CHUNK, ORDER, Order, drain, pour};
use crate::targets::{DATAGRAMS, HTTP, IDLE, TCP, TLS, question};

/// Enough for the most connections that any job has at once on a port.
const WORKERS: usize = 80;
/// Small stacks: most of these threads never run at once.
const STACK: usize = 128 * 1024;

/// Says `ready` on stdout, and serves until its stdin ends.
pub(crate) fn run() -> Result<()> {
    for port in [TLS, HTTP, TCP] {
        let listener = Arc::new(TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))?);
        for _ in 0..WORKERS {
            let listener = listener.clone();
            thread::Builder::new().stack_size(STACK).spawn(move || serve(&listener))?;
        }
    }
    let idle = TcpListener::bind((Ipv6Addr::UNSPECIFIED, IDLE))?;
    thread::spawn(move || keep(&idle));
    let datagrams = UdpSocket::bind((Ipv6Addr::UNSPECIFIED, DATAGRAMS))?;
    thread::spawn(move || answer(&datagrams));
    println!("ready");
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn serve(listener: &TcpListener) {
    let mut chunk = vec![0; CHUNK];
    while let Ok((stream, _)) = listener.accept() {
        // A client that goes away is nothing to report: it reports itself.
        let _ = converse(&stream, &mut chunk);
    }
}

fn converse(stream: &TcpStream, chunk: &mut [u8]) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::with_capacity(8 * 1024, stream);
    match reader.fill_buf()?.first() {
        Some(22) => skip_hello(&mut reader)?,
        Some(byte) if byte.is_ascii_uppercase() => return http(&mut reader, stream, chunk),
        _ => {}
    }
    obey(&mut reader, stream, chunk)
}

/// One record, whatever is in it.
fn skip_hello(reader: &mut impl Read) -> io::Result<()> {
    let mut header = [0; 5];
    reader.read_exact(&mut header)?;
    let [.., high, low] = header;
    drain(reader, u64::from(u16::from_be_bytes([high, low])), &mut [0; 4096])
}

fn obey(reader: &mut impl Read, mut stream: &TcpStream, chunk: &mut [u8]) -> io::Result<()> {
    loop {
        let mut order = [0; ORDER];
        reader.read_exact(&mut order)?;
        match Order::parse(&order).ok_or(io::ErrorKind::InvalidData)? {
            Order::Answer => stream.write_all(b".")?,
            Order::AnswerAndEnd => return stream.write_all(b"."),
            Order::Send(count) => pour(stream, count, chunk)?,
            Order::Take(count) => {
                drain(&mut *reader, count, chunk)?;
                stream.write_all(b".")?;
            }
        }
    }
}

/// `GET /N` gives N bytes; a body is read to its end and answered with nothing.
fn http(reader: &mut impl BufRead, mut stream: &TcpStream, chunk: &mut [u8]) -> io::Result<()> {
    let mut line = String::new();
    while reader.read_line(&mut line)? > 0 {
        let wanted = line.split(['/', ' ']).nth(2).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
        let mut body = 0;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                body = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        drain(&mut *reader, body, chunk)?;
        stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {wanted}\r\n\r\n").as_bytes())?;
        pour(stream, wanted, chunk)?;
        line.clear();
    }
    Ok(())
}

/// Answers each connection once, and keeps it.
fn keep(listener: &TcpListener) {
    let mut kept = Vec::new();
    while let Ok((mut stream, _)) = listener.accept() {
        let mut space = [0; 4096];
        let heard = stream.read(&mut space).and_then(|_| stream.write_all(b"."));
        if heard.is_ok() {
            kept.push(stream);
        }
    }
}

/// Every datagram gets the answer to the one question that is asked here, under its own id.
fn answer(socket: &UdpSocket) {
    let mut reply = question(crate::targets::ALLOWED, 0);
    // A response with one answer: a pointer to the name, A, IN, 60 seconds, four bytes (RFC 1035 section 4.1).
    reply.splice(2..8, [0x81, 0x80, 0, 1, 0, 1]);
    reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 51, 100, 1]);
    let mut space = [0; 512];
    while let Ok((_, client)) = socket.recv_from(&mut space) {
        let [high, low, ..] = space;
        reply.splice(0..2, [high, low]);
        let _ = socket.send_to(&reply, client);
    }
}
