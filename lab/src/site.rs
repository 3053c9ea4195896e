//! The one web site that every host of the lab serves.
//!
//! | path | what it does |
//! |---|---|
//! | `/bytes/N` | N octets of [`pattern`], their hash in `x-lab-sha256` (`?sha256=no` leaves it out) |
//! | `/upload` | reads the body, answers `{bytes, sha256}` (`?sha256=no` counts only) |
//! | `/echo` | sends the body back as it comes |
//! | `/silent/S` | the head at once, the body after S seconds |
//! | `/slow-head/S` | the head after S seconds |
//! | `/drip/N/MS` | N octets, one each MS milliseconds |
//! | `/sse/N` | N server-sent events (`?ms=` between them) |
//! | `/status/CODE` | that status, 200 to 599 |
//! | `/redirect?to=URL` | 302 to URL |
//! | `/reset` | resets the connection in the middle of the body (`?after=OCTETS` on the wire) |
//! | `/half-close` | closes the sending side after the answer, reads on, and tells the witness how much came |
//! | `/expect` | honours `Expect: 100-continue`; `?refuse` answers 417 without reading the body |
//! | `/early-hints` | 103, then 200 (HTTP/1.1 only) |
//! | `/ws` | a WebSocket that sends every message back |
//! | `…/v1/messages`, `…/responses`, `…/chat/completions`, `…:generateContent` and what clients ask beside | a [`model`] of few words |
//! | `/demo.git/…` | a git repository, for `git clone https://HOST/demo.git` |
//! | anything else | what the server saw of the request, as JSON |
//!
//! Every answer names the host, the server name, and the nonce of its request with the lab's proof of it.

mod body;
pub(crate) mod flow;
mod git;
mod model;
mod pace;
pub mod pattern;
mod report;
mod request;
mod trick;
mod upload;
mod websocket;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;

use crate::fault::Fault;
use crate::lab::Lab;
use crate::wire::{Orders, Wire};
use crate::witness::{Arrival, Kind};
use model::Errand;
use request::Seen;

/// Flow control that a bulk transfer over loopback does not run into (RFC 9113 section 5.2).
const STREAM_WINDOW: u32 = 4 * 1024 * 1024;
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;
const STREAMS: u32 = 10_000;
/// The size of a [`Fault::Huge`] answer.
const HUGE: u64 = 1024 * 1024 * 1024;

type Body = UnsyncBoxBody<Bytes, hyper::Error>;

/// A connection that speaks HTTP.
pub(crate) struct Visit {
    pub(crate) lab: Arc<Lab>,
    pub(crate) local: SocketAddr,
    pub(crate) peer: SocketAddr,
    tls: Option<Tls>,
}

struct Tls {
    name: Option<String>,
    alpn: Option<String>,
}

impl Visit {
    /// A visit in the clear.
    pub(crate) fn plain(lab: Arc<Lab>, local: SocketAddr, peer: SocketAddr) -> Self {
        Self { lab, local, peer, tls: None }
    }

    /// A visit inside TLS.
    pub(crate) fn encrypted(self, name: Option<String>, alpn: Option<String>) -> Self {
        Self { tls: Some(Tls { name, alpn }), ..self }
    }

    fn server_name(&self) -> Option<&str> {
        self.tls.as_ref()?.name.as_deref()
    }

    fn alpn(&self) -> Option<&str> {
        self.tls.as_ref()?.alpn.as_deref()
    }
}

/// Serves one connection to its end.
pub(crate) async fn serve(wire: Wire, visit: Visit, orders: Arc<Orders>) {
    let mut server = auto::Builder::new(TokioExecutor::new());
    // A client that has sent its request and closed its side still gets its answer.
    server.http1().half_close(true);
    server
        .http2()
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(STREAMS)
        .enable_connect_protocol();
    if visit.alpn() == Some("h2") {
        server = server.http2_only();
    }
    let visit = Arc::new(visit);
    let (host, last) = (visit.clone(), orders.clone());
    let service = service_fn(move |request| answer(request, host.clone(), last.clone()));
    // A client that breaks the protocol or goes away ends its connection. What is no request has arrived all the same.
    if let Err(error) = server.serve_connection_with_upgrades(TokioIo::new(wire), service).await
        && let Some(error) = error.downcast_ref::<hyper::Error>().filter(|error| error.is_parse())
    {
        let seen = Arrival::new(Kind::Http, &orders.last_read()).between(visit.local, visit.peer);
        visit.lab.witness.add(seen.detailed(format!("no request: {error}")));
    }
}

async fn answer(
    request: Request<Incoming>,
    visit: Arc<Visit>,
    orders: Arc<Orders>,
) -> Result<Response<Body>, Infallible> {
    let seen = Seen::of(&request, &visit);
    visit.lab.witness.add(seen.arrival(&visit));
    let mut response = match visit.lab.faults.of(seen.host_name()) {
        None => route(request, &seen, &visit, &orders).await,
        Some(fault) => with_fault(fault, request, &seen, &visit, &orders).await,
    };
    seen.stamp(&visit, response.headers_mut());
    Ok(response)
}

async fn with_fault(
    fault: Fault,
    request: Request<Incoming>,
    seen: &Seen,
    visit: &Visit,
    orders: &Orders,
) -> Response<Body> {
    match fault {
        Fault::Reset => {
            orders.reset_after(0);
            body::text(StatusCode::OK, "never sent")
        }
        Fault::Silent => std::future::pending().await,
        Fault::Slow(delay) => {
            tokio::time::sleep(delay).await;
            route(request, seen, visit, orders).await
        }
        Fault::Status(code) => body::text(
            StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            "a fault of the lab\n",
        ),
        Fault::HalfClose => trick::half_close(orders),
        Fault::Huge => flow::bytes(HUGE, flow::Hash::Absent).await,
        // Seen before there is a request.
        Fault::WrongName
        | Fault::Expired
        | Fault::NotYet
        | Fault::DnsMissing
        | Fault::DnsFailure
        | Fault::DnsSilence => route(request, seen, visit, orders).await,
    }
}

async fn route(request: Request<Incoming>, seen: &Seen, visit: &Visit, orders: &Orders) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    if request.method() == hyper::Method::CONNECT
        && request.extensions().get::<hyper::ext::Protocol>().is_none()
    {
        return body::text(StatusCode::NOT_IMPLEMENTED, "the lab is no proxy\n");
    }
    match segments.as_slice() {
        ["bytes", count] => match count.parse() {
            Ok(count) => flow::bytes(count, flow::Hash::wanted(seen)).await,
            Err(_) => body::bad("/bytes/N"),
        },
        ["upload"] => upload::count(request, flow::Hash::wanted(seen)).await,
        ["echo"] => flow::echo(request),
        ["silent", delay] => pace::silent(delay),
        ["slow-head", delay] => pace::slow_head(delay).await,
        ["drip", count, pause] => pace::drip(count, pause),
        ["sse", count] => pace::events(count, seen.parameter("ms").as_deref().unwrap_or("0")),
        ["status", code] => trick::status(code),
        ["redirect"] => trick::redirect(seen.parameter("to")),
        ["reset"] => trick::reset(orders, seen.parameter("after")),
        ["half-close"] => trick::half_close(orders),
        ["expect"] => upload::expect(request, seen).await,
        ["early-hints"] => trick::early_hints(orders, request.version()),
        ["ws"] => websocket::upgrade(request),
        ["demo.git", file @ ..] => git::file(&file.join("/")),
        _ => match Errand::of(&request) {
            None => report::of(&request, seen, visit),
            Some(errand) => match model::answer(request, errand, seen, visit).await {
                Ok(response) => response,
                Err(request) => report::of(&request, seen, visit),
            },
        },
    }
}

/// A number of seconds, fractions allowed, an hour at most.
pub(crate) fn seconds(text: &str) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    (0.0..=3600.0).contains(&number).then(|| Duration::from_secs_f64(number))
}
