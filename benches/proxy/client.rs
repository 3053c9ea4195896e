//! The client: reads jobs from stdin, one a line, and writes what came of each. Blocking sockets, one thread for each
//! connection at work.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddrV4, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::Result;
use crate::job::{Carrier, Direction, Job, Outcome};
use crate::protocol::{CHUNK, Order, drain, pour};
use crate::targets::{ALLOWED, DATAGRAMS, HELLO, IDLE, RESOLVER, TLS, address, port, question};
use crate::{refusals, targets};

/// Longer than anything here takes. What does not come is a failure, not a long time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Says in which lab it is, and works until stdin ends.
pub(crate) fn run() -> Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    println!("{}", lab()?);
    let mut held = Vec::new();
    for line in io::stdin().lock().lines() {
        let outcome = perform(serde_json::from_str(&line?)?, &mut held)?;
        println!("{}", serde_json::to_string(&outcome)?);
    }
    Ok(())
}

/// The lab tells every client where its certificate is, and that is in a folder by the lab's name.
fn lab() -> Result<String> {
    let certificate = PathBuf::from(env::var_os("SSL_CERT_FILE").ok_or("there is no lab here")?);
    let folder = certificate.parent().and_then(Path::file_name).and_then(OsStr::to_str).unwrap_or_default();
    Ok(folder.strip_prefix("lab-").ok_or("this is no lab's certificate")?.to_owned())
}

fn perform(job: Job, held: &mut Vec<TcpStream>) -> Result<Outcome> {
    match job {
        Job::Bulk { carrier, direction, connections, bytes } => bulk(carrier, direction, connections, bytes),
        Job::Connect { parallel, count } => connect(parallel, count),
        Job::Requests { carrier, count } => requests(carrier, count),
        Job::Questions { in_flight, count } => questions(in_flight, count),
        Job::Refusals { kind, count } => refusals::run(kind, count),
        Job::Hold { count } => hold(count, held),
        Job::Dawdle { count } => dawdle(count, held),
    }
}

/// A connection that has been answered once.
fn open(carrier: Carrier) -> io::Result<TcpStream> {
    let mut stream = dial(address_of(port(carrier))?)?;
    if carrier == Carrier::Tls {
        stream.write_all(HELLO)?;
    }
    request(&mut stream, carrier)?;
    Ok(stream)
}

pub(crate) fn dial(to: SocketAddrV4) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to.into(), PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn address_of(port: u16) -> io::Result<SocketAddrV4> {
    targets::address(port).map_err(|error| io::Error::other(error.to_string()))
}

/// The smallest request there is, and its answer.
fn request(stream: &mut TcpStream, carrier: Carrier) -> io::Result<()> {
    match carrier {
        Carrier::Tls | Carrier::Tcp => {
            stream.write_all(&Order::Answer.to_bytes())?;
            stream.read_exact(&mut [0])
        }
        Carrier::Http => {
            stream.write_all(&get(0))?;
            head(&mut BufReader::with_capacity(1024, stream))
        }
    }
}

fn get(bytes: u64) -> Vec<u8> {
    let port = targets::HTTP;
    format!("GET /{bytes} HTTP/1.1\r\nhost: {ALLOWED}:{port}\r\n\r\n").into_bytes()
}

/// Reads up to the blank line. There is no body in what follows, or the caller counts it.
fn head(reader: &mut impl BufRead) -> io::Result<()> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200") {
        return Err(io::Error::other(format!("not answered: {line:?}")));
    }
    while !line.trim_end().is_empty() {
        line.clear();
        reader.read_line(&mut line)?;
    }
    Ok(())
}

fn bulk(carrier: Carrier, direction: Direction, connections: usize, bytes: u64) -> Result<Outcome> {
    let start = Barrier::new(connections + 1);
    let took = thread::scope(|scope| -> io::Result<Duration> {
        let mut movers = Vec::new();
        for _ in 0..connections {
            let start = &start;
            movers.push(scope.spawn(move || {
                let stream = open(carrier);
                let mut chunk = vec![7; CHUNK];
                start.wait();
                shift(&mut stream?, carrier, direction, bytes, &mut chunk)
            }));
        }
        start.wait();
        let began = Instant::now();
        for mover in movers {
            mover.join().map_err(|_| io::Error::other("a thread panicked"))??;
        }
        Ok(began.elapsed())
    })?;
    Ok(Outcome::new(took, Vec::new()))
}

fn shift(
    stream: &mut TcpStream,
    carrier: Carrier,
    direction: Direction,
    bytes: u64,
    chunk: &mut [u8],
) -> io::Result<()> {
    match (carrier, direction) {
        (Carrier::Http, Direction::Down) => {
            stream.write_all(&get(bytes))?;
            let mut reader = BufReader::with_capacity(8 * 1024, stream);
            head(&mut reader)?;
            drain(reader, bytes, chunk)
        }
        (Carrier::Http, Direction::Up) => {
            let port = targets::HTTP;
            let head_of_it =
                format!("PUT /0 HTTP/1.1\r\nhost: {ALLOWED}:{port}\r\ncontent-length: {bytes}\r\n\r\n");
            stream.write_all(head_of_it.as_bytes())?;
            pour(&mut *stream, bytes, chunk)?;
            head(&mut BufReader::with_capacity(1024, stream))
        }
        (_, Direction::Down) => {
            stream.write_all(&Order::Send(bytes).to_bytes())?;
            drain(stream, bytes, chunk)
        }
        (_, Direction::Up) => {
            stream.write_all(&Order::Take(bytes).to_bytes())?;
            pour(&mut *stream, bytes, chunk)?;
            stream.read_exact(&mut [0])
        }
    }
}

/// Connect, hello, first byte; then the server's end.
fn connect(parallel: usize, count: usize) -> Result<Outcome> {
    let to = address(TLS)?;
    let opening = [HELLO, &Order::AnswerAndEnd.to_bytes()].concat();
    let left = AtomicUsize::new(count);
    let began = Instant::now();
    let each = thread::scope(|scope| -> io::Result<Vec<Duration>> {
        let work = || -> io::Result<Vec<Duration>> {
            let mut times = Vec::new();
            while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
            {
                let began = Instant::now();
                let mut stream = dial(to)?;
                stream.write_all(&opening)?;
                stream.read_exact(&mut [0])?;
                times.push(began.elapsed());
                stream.read_to_end(&mut Vec::new())?;
            }
            Ok(times)
        };
        let workers: Vec<_> = (0..parallel).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().map_err(|_| io::Error::other("a thread panicked"))??);
        }
        Ok(all)
    })?;
    Ok(Outcome::new(began.elapsed(), each))
}

fn requests(carrier: Carrier, count: usize) -> Result<Outcome> {
    let mut stream = open(carrier)?;
    let began = Instant::now();
    let mut each = Vec::new();
    for _ in 0..count {
        let began = Instant::now();
        request(&mut stream, carrier)?;
        each.push(began.elapsed());
    }
    Ok(Outcome::new(began.elapsed(), each))
}

/// One socket; an answer makes room for the next question.
fn questions(in_flight: usize, count: usize) -> Result<Outcome> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.set_read_timeout(Some(PATIENCE))?;
    // Sealed, any server will do, since closedbook answers; direct, it is one that answers without thinking.
    let server = if is_sealed()? { format!("{RESOLVER}:53") } else { format!("{RESOLVER}:{DATAGRAMS}") };
    socket.connect(server)?;
    let mut sent: Vec<Instant> = Vec::new();
    let mut each = Vec::new();
    let mut space = [0; 512];
    let began = Instant::now();
    while each.len() < count {
        while sent.len() < count && sent.len() - each.len() < in_flight {
            socket.send(&question(ALLOWED, u16::try_from(sent.len() % 65536)?))?;
            sent.push(Instant::now());
        }
        socket.recv(&mut space)?;
        let [high, low, _, code, ..] = space;
        if code & 15 != 0 {
            return Err("the question was refused".into());
        }
        let asked =
            sent.get(usize::from(u16::from_be_bytes([high, low]))).ok_or("an answer to no question")?;
        each.push(asked.elapsed());
    }
    Ok(Outcome::new(began.elapsed(), each))
}

/// Whether the allowed name has one of closedbook's own addresses here.
fn is_sealed() -> Result<bool> {
    Ok(address(TLS)?.ip().octets().starts_with(&[198, 18]))
}

fn dawdle(count: usize, held: &mut Vec<TcpStream>) -> Result<Outcome> {
    let to = address(IDLE)?;
    let began = Instant::now();
    for _ in 0..count {
        let mut stream = dial(to)?;
        stream.write_all(HELLO.get(..HELLO.len() / 2).unwrap_or_default())?;
        held.push(stream);
    }
    Ok(Outcome::new(began.elapsed(), Vec::new()))
}

fn hold(count: usize, held: &mut Vec<TcpStream>) -> Result<Outcome> {
    let to = address(IDLE)?;
    let opening = [HELLO, &Order::Answer.to_bytes()].concat();
    let began = Instant::now();
    for _ in 0..count {
        let mut stream = dial(to)?;
        stream.write_all(&opening)?;
        stream.read_exact(&mut [0])?;
        held.push(stream);
    }
    Ok(Outcome::new(began.elapsed(), Vec::new()))
}
