//! G5: the gate and the HTTP implementation behind it see the same requests in the same bytes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use closedbook_sidecar::evidence::http::{Gate, MAX_FIELDS, Step};
use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Host field and body length of a request.
type Seen = (String, usize);

/// The requests that the gate announces, and the octets that it hands on.
fn gate(stream: &[u8]) -> (Vec<String>, Vec<u8>) {
    let mut gate = Gate::default();
    let mut rest = stream;
    let mut handed_on = Vec::new();
    let mut hosts = Vec::new();
    while let Ok(step @ (Step::Head { .. } | Step::Body { .. } | Step::Tunnel { .. })) = gate.next(rest) {
        let length = match step {
            Step::Head { request, length } => {
                let port = request.port.map(|port| format!(":{port}")).unwrap_or_default();
                hosts.push(format!("{}{port}", request.host));
                length
            }
            Step::Body { length } | Step::Tunnel { length } => length,
            Step::More | Step::Held => 0,
        };
        let (front, back) = rest.split_at(length);
        handed_on.extend_from_slice(front);
        rest = back;
    }
    (hosts, handed_on)
}

/// The requests that hyper serves.
async fn hyper(stream: &[u8]) -> Vec<Seen> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (mut client, server) = tokio::io::duplex(1 << 20);
    let log = seen.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let log = log.clone();
        async move {
            let host = request.headers()["host"].to_str().unwrap().to_ascii_lowercase();
            // A body that is cut off by the end of the stream is still a request that was seen.
            let length = request.into_body().collect().await.map_or(0, |body| body.to_bytes().len());
            log.lock().unwrap().push((host, length));
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        }
    });
    let mut http = hyper::server::conn::http1::Builder::new();
    http.max_headers(MAX_FIELDS).half_close(true);
    let serving = http.serve_connection(TokioIo::new(server), service);
    let talking = async {
        client.write_all(stream).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answers = Vec::new();
        _ = client.read_to_end(&mut answers).await;
    };
    _ = tokio::join!(serving, talking);
    seen.lock().unwrap().clone()
}

fn both(stream: &[u8]) -> (Vec<String>, Vec<Seen>) {
    let (hosts, handed_on) = gate(stream);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    (hosts, runtime.block_on(hyper(&handed_on)))
}

const HEAD: &str = "HTTP/1.1\r\nHost: a.example:80\r\n";

#[test]
fn kept_and_pipelined() {
    let stream = format!(
        "POST /1 {HEAD}Content-Length: 4\r\n\r\nabcdGET /2 {HEAD}\r\nPOST /3 {HEAD}Transfer-Encoding: chunked\r\n\r\n\
         0A\r\n0123456789\r\n1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\nPROPFIND /4 {HEAD}\r\nGET //5 {HEAD}\r\n"
    );
    let (hosts, seen) = both(stream.as_bytes());
    assert_eq!(hosts, ["a.example:80"; 5]);
    let lengths: Vec<_> = seen.iter().map(|(_, length)| *length).collect();
    assert_eq!(lengths, [4, 0, 11, 0, 0]);
}

/// As many fields as the gate lets through, and targets with all octets that it lets through.
#[test]
fn nothing_that_the_gate_accepts_is_refused_behind_it() {
    let fields = "X: y\r\n".repeat(MAX_FIELDS - 1);
    let but = |not: &str| (0x21..0x7f_u8).map(char::from).filter(|c| !not.contains(*c)).collect::<String>();
    let (path, query) = (but("#<>`?"), but("#<>\""));
    for stream in [
        format!("GET / {HEAD}{fields}\r\n"),
        format!("GET /{path} {HEAD}\r\n"),
        format!("GET /?{query} {HEAD}\r\n"),
        format!("a!$%&'*+-.^_`|~0 / {HEAD}\r\n"),
        format!("GET / {HEAD}a!#$%&'*+-.^_`|~0: \u{e4}\t\"b\"\r\nEmpty:\r\n\r\n"),
        format!("GET / {HEAD}X: {}\r\n\r\n", "y".repeat(65_000)),
        format!("GET /{} {HEAD}\r\n", "y".repeat(65_000)),
    ] {
        let (hosts, seen) = both(stream.as_bytes());
        assert_eq!((hosts.len(), seen.len()), (1, 1), "{}", &stream[..stream.len().min(200)]);
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(
        &[
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\n",
            "GET http://b.example/ HTTP/1.1\r\n",
            "PRI * HTTP/2.0\r\n",
            "Host: a.example\r\n",
            "Host: b.example:80\r\n",
            "Host: [2001:db8::1]\r\n",
            "Host : a.example\r\n",
            "Host: u@a.example\r\n",
            "Content-Length: 3\r\n",
            "Content-Length: 0\r\n",
            "Content-Length: +3\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\t\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Expect: 100-continue\r\n",
            "X: y\r\n",
            " folded\r\n",
            "\r\n",
            "\n",
            "\r",
            "abc",
            "3\r\nabc\r\n",
            "3;x\r\nabc\r\n",
            "0\r\n",
            "0\r\n\r\n",
            "0\r\nX: y\r\n\r\n",
            "0\r\nHost: b.example\r\n\r\n",
            "\0",
            "Connection: close\r\n",
            "Upgrade: h2c\r\n",
            "HTTP/1.0",
        ][..],
    )
}

/// Streams that are mostly requests, and what a smuggler would make of them.
fn stream() -> impl Strategy<Value = String> {
    let request = proptest::sample::select(
        &[
            "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: b.example\r\nContent-Length: 3\r\n\r\nabc",
            "POST / HTTP/1.1\r\nHost: c.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ][..],
    );
    proptest::collection::vec(prop_oneof![2 => request, 3 => piece()], 1..10)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// G5: hyper serves no request that the gate did not announce, in no other order, to no other host.
    #[test]
    fn hyper_sees_what_the_gate_announces(stream in stream()) {
        let (announced, seen) = both(stream.as_bytes());
        prop_assert!(seen.len() <= announced.len(), "{:?} {:?}", announced, seen);
        for (announced, (seen, _)) in announced.iter().zip(&seen) {
            let seen = seen.replace(['[', ']'], "");
            prop_assert_eq!(announced, &seen);
        }
        // After `Connection: close` and after HTTP/1.0 hyper stops early, and does so alone.
        if !stream.contains("close") && !stream.contains("HTTP/1.0") {
            prop_assert_eq!(announced.len(), seen.len(), "{:?}", seen);
        }
    }
}
