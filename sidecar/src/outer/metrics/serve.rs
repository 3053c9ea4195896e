//! The metrics over HTTP, outside of the task's namespace.

use std::convert::Infallible;
use std::io;
use std::net;
use std::os::unix;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::outer::Monitor;
use crate::outer::stop::Stop;

/// Where metrics are asked for: bound by whoever starts the proxy, out of the task's reach.
#[derive(Debug)]
pub enum MetricsListener {
    /// A loopback address.
    Tcp(net::TcpListener),
    /// A file.
    Unix(unix::net::UnixListener),
}

/// Connections at once. A scraper needs one.
const CONNECTIONS: usize = 8;

/// One connection, from accept to its end.
const PATIENCE: Duration = Duration::from_secs(30);

/// One request's head.
const HEAD: Duration = Duration::from_secs(5);

/// How long the loop waits when accepting failed.
const BACKOFF: Duration = Duration::from_millis(100);

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    fn new(listener: MetricsListener) -> io::Result<Self> {
        match listener {
            MetricsListener::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener).map(Listener::Tcp)
            }
            MetricsListener::Unix(listener) => {
                listener.set_nonblocking(true)?;
                UnixListener::from_std(listener).map(Listener::Unix)
            }
        }
    }
}

/// Serves until `stop`.
pub(crate) async fn serve(listener: MetricsListener, monitor: Monitor, mut stop: Stop) {
    let listener = match Listener::new(listener) {
        Ok(listener) => listener,
        Err(error) => {
            tracing::error!(%error, "metrics can't be served");
            return;
        }
    };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let served = tokio::select! {
            () = stop.told() => return,
            served = serve_next(&listener, &places, &monitor) => served,
        };
        if let Err(error) = served {
            tracing::warn!(%error, "accepting a connection for metrics failed");
            tokio::time::sleep(BACKOFF).await;
        }
    }
}

async fn serve_next(listener: &Listener, places: &Arc<Semaphore>, monitor: &Monitor) -> io::Result<()> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    match listener {
        Listener::Tcp(listener) => converse(TokioIo::new(listener.accept().await?.0), place, monitor.clone()),
        Listener::Unix(listener) => {
            converse(TokioIo::new(listener.accept().await?.0), place, monitor.clone())
        }
    }
    Ok(())
}

fn converse(
    stream: impl Read + Write + Unpin + Send + 'static,
    place: OwnedSemaphorePermit,
    monitor: Monitor,
) {
    tokio::spawn(async move {
        let service = service_fn(move |request| {
            let answer = answer(&request, &monitor);
            async move { Ok::<_, Infallible>(answer) }
        });
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
        // Late or broken, it is over.
        let _ = timeout(PATIENCE, builder.serve_connection(stream, service)).await;
        drop(place);
    });
}

fn answer(request: &Request<Incoming>, monitor: &Monitor) -> Response<Full<Bytes>> {
    const FORMAT: HeaderValue =
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    let mut response = Response::default();
    match (request.uri().path(), request.method()) {
        ("/metrics", &Method::GET | &Method::HEAD) => match monitor.metrics() {
            Some(text) => {
                response.headers_mut().insert(CONTENT_TYPE, FORMAT);
                *response.body_mut() = Full::from(text);
            }
            None => *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE,
        },
        ("/metrics", _) => {
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        }
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    response
}
