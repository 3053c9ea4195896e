//! One connection of a load, from its first segment to its last answer.

use std::error::Error;
use std::io;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::header::HOST;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::report::Sample;
use super::{Exchange, Http, Target};
use crate::pattern;
use crate::site::flow::Stream;

type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// A word for what went wrong, for counting.
type Trouble = String;

/// Connects, asks, and writes down what happened. Never fails: failing is an outcome.
pub(super) async fn run(target: &Target) -> Sample {
    let mut sample = Sample::default();
    let start = Instant::now();
    let mut sender = match connect(target, &mut sample, start).await {
        Ok(sender) => Some(sender),
        Err(trouble) => {
            sample.trouble = Some(trouble);
            None
        }
    };
    if let Some(sender) = &mut sender {
        for _ in 0..target.load.requests {
            if !attempt(target, sender, &mut sample).await {
                break;
            }
        }
    }
    if !target.load.hold.is_zero() {
        // Those that failed come too, or the others would wait for ever.
        target.meeting.wait().await;
        if let Some(sender) = sender.as_mut().filter(|_| sample.requests.failed() == 0) {
            tokio::time::sleep(target.load.hold).await;
            attempt(target, sender, &mut sample).await;
        }
    }
    sample
}

enum Sender {
    One(http1::SendRequest<Body>),
    Two(http2::SendRequest<Body>),
}

async fn connect(target: &Target, sample: &mut Sample, start: Instant) -> Result<Sender, Trouble> {
    let limit = target.load.timeout;
    let stream = within(limit, "connect", dial(target)).await?;
    sample.connected = Some(start.elapsed());
    let Some((connector, name)) = &target.tls else { return speak(target, stream).await };
    let stream = within(limit, "tls", connector.connect(name.clone(), stream)).await?;
    sample.encrypted = Some(start.elapsed());
    speak(target, stream).await
}

/// Each address in turn; the last one's trouble counts.
async fn dial(target: &Target) -> io::Result<TcpStream> {
    let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in &target.addresses {
        outcome = TcpStream::connect(address).await;
        if let Ok(stream) = &outcome {
            // Small requests must not wait for acknowledgements.
            let _ = stream.set_nodelay(true);
            break;
        }
    }
    outcome
}

async fn speak<S>(target: &Target, stream: S) -> Result<Sender, Trouble>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let io = TokioIo::new(stream);
    match target.load.http {
        Http::One => {
            let (sender, connection) = within(target.load.timeout, "http", http1::handshake(io)).await?;
            // What ends it is told to the request that waits for it.
            tokio::spawn(connection);
            Ok(Sender::One(sender))
        }
        Http::Two => {
            let (sender, connection) = within(
                target.load.timeout,
                "http",
                http2::Builder::new(TokioExecutor::new())
                    .initial_stream_window_size(4 * 1024 * 1024)
                    .initial_connection_window_size(16 * 1024 * 1024)
                    .handshake(io),
            )
            .await?;
            tokio::spawn(connection);
            Ok(Sender::Two(sender))
        }
    }
}

/// One request; whether the connection is good for another.
async fn attempt(target: &Target, sender: &mut Sender, sample: &mut Sample) -> bool {
    let start = Instant::now();
    let outcome = exchange(target, sender, sample, start).await;
    let good = outcome.is_ok();
    match outcome {
        Ok(octets) => {
            sample.totals.push(start.elapsed());
            sample.octets += octets;
            sample.requests.ok += 1;
        }
        Err(trouble) => sample.requests.fail(trouble),
    }
    good
}

async fn exchange(
    target: &Target,
    sender: &mut Sender,
    sample: &mut Sample,
    start: Instant,
) -> Result<u64, Trouble> {
    let limit = target.load.timeout;
    let request = request(target).map_err(|_| "request".to_owned())?;
    let response = match sender {
        Sender::One(sender) => {
            within(limit, "http", sender.ready()).await?;
            within(limit, "http", sender.send_request(request)).await?
        }
        Sender::Two(sender) => {
            within(limit, "http", sender.ready()).await?;
            within(limit, "http", sender.send_request(request)).await?
        }
    };
    sample.heads.push(start.elapsed());
    let status = response.status();
    if !status.is_success() {
        return Err(format!("status-{}", status.as_u16()));
    }
    let body = timeout(limit, body(target, response, sample));
    body.await.map_err(|_| "body-timeout".to_owned())?
}

fn request(target: &Target) -> Result<Request<Body>, hyper::http::Error> {
    let (method, body): (_, Body) = match target.load.exchange {
        Exchange::Upload(count) => (Method::PUT, Stream::of(count).boxed_unsync()),
        Exchange::Get | Exchange::Pattern => (Method::GET, Empty::new().boxed_unsync()),
    };
    let url = &target.load.url;
    let builder = Request::builder().method(method);
    match target.load.http {
        Http::One => {
            let path = url.path_and_query().map_or("/", |path| path.as_str());
            builder.uri(path).header(HOST, &target.authority).body(body)
        }
        Http::Two => builder.uri(url).body(body),
    }
}

/// Reads the answer to its end; the octets that crossed, in whichever direction they were asked for.
async fn body(target: &Target, response: Response<Incoming>, sample: &mut Sample) -> Result<u64, Trouble> {
    let mut incoming = response.into_body();
    let mut received = 0;
    let mut equal = true;
    let mut answer = Vec::new();
    while let Some(frame) = incoming.frame().await {
        let frame = frame.map_err(|error| trouble("body", &error))?;
        let Some(data) = frame.data_ref() else { continue };
        match target.load.exchange {
            Exchange::Get => {}
            Exchange::Pattern => equal &= pattern::matches(received, data),
            Exchange::Upload(_) => answer.extend_from_slice(data),
        }
        received += data.len() as u64;
    }
    let octets = match target.load.exchange {
        Exchange::Get => return Ok(received),
        Exchange::Pattern => received,
        Exchange::Upload(count) => {
            let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
            let hash = answer.get("sha256").and_then(Value::as_str);
            // Without a hash (`?sha256=no`) the number must do.
            equal = answer.get("bytes").and_then(Value::as_u64) == Some(count)
                && hash.is_none_or(|hash| hash == pattern::sha256(count));
            count
        }
    };
    sample.checked += 1;
    if !equal {
        return Err("content".to_owned());
    }
    sample.equal += 1;
    Ok(octets)
}

async fn within<T, E: Error + 'static>(
    limit: Duration,
    step: &str,
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, Trouble> {
    match timeout(limit, future).await {
        Ok(outcome) => outcome.map_err(|error| trouble(step, &error)),
        Err(_) => Err(format!("{step}-timeout")),
    }
}

/// The step and the kind: `connect-refused`, `tls-certificate`, `http-reset`.
fn trouble(step: &str, error: &(dyn Error + 'static)) -> Trouble {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        if let Some(io) = one.downcast_ref::<io::Error>() {
            // rustls's own errors travel inside.
            let inner = io.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            return format!("{step}-{}", inner.map_or_else(|| io_kind(io), tls_kind));
        }
        if let Some(hyper) = one.downcast_ref::<hyper::Error>()
            && hyper.is_incomplete_message()
        {
            return format!("{step}-eof");
        }
        cause = one.source();
    }
    format!("{step}-error")
}

fn io_kind(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused",
        io::ErrorKind::ConnectionReset => "reset",
        io::ErrorKind::BrokenPipe => "broken-pipe",
        io::ErrorKind::UnexpectedEof => "eof",
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => "unreachable",
        io::ErrorKind::TimedOut => "timeout",
        io::ErrorKind::AddrNotAvailable => "no-address",
        _ => "io",
    }
}

fn tls_kind(error: &rustls::Error) -> &'static str {
    match error {
        rustls::Error::AlertReceived(_) => "alert",
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => "certificate",
        _ => "protocol",
    }
}
