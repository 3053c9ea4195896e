//! A client that says exactly what it is told to.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use closedbook_lab::{WITNESS_V4, World};
use closedbook_policy::Name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A test that waits longer has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// An answer, in pieces.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// The address of a host in the built-in table.
pub(crate) fn v4(name: &str) -> IpAddr {
    let name = Name::parse(name).unwrap();
    let host = World::new().hosts().into_iter().find(|host| host.name == name);
    host.map_or(WITNESS_V4, |host| host.v4).into()
}

pub(crate) async fn tcp(address: impl Into<SocketAddr>) -> TcpStream {
    timed(TcpStream::connect(address.into())).await.unwrap()
}

pub(crate) async fn timed<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("an answer in time")
}

/// What the client is told about TLS.
pub(crate) fn tls_config(
    ca: &Path,
    versions: &[&'static SupportedProtocolVersion],
    alpn: &[&str],
) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(ca).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    config
}

pub(crate) async fn tls(
    config: ClientConfig,
    name: &str,
    port: u16,
) -> std::io::Result<TlsStream<TcpStream>> {
    let stream = tcp((v4(name), port)).await;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    timed(TlsConnector::from(Arc::new(config)).connect(name, stream)).await
}

/// HTTPS with what most clients use.
pub(crate) async fn https(ca: &Path, name: &str) -> TlsStream<TcpStream> {
    tls(tls_config(ca, rustls::ALL_VERSIONS, &["http/1.1"]), name, 443).await.unwrap()
}

/// A GET and its answer on a connection of its own, in the clear.
pub(crate) async fn get(host: &str, path: &str) -> Answer {
    let mut stream = tcp((v4(host), 80)).await;
    ask(&mut stream, &format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n")).await
}

/// Sends a request as it is, and reads one answer.
pub(crate) async fn ask<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, request: &str) -> Answer {
    stream.write_all(request.as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    answer(stream).await
}

/// Reads one answer: head, and a body of known length, in chunks, or to the end.
pub(crate) async fn answer<S: AsyncRead + Unpin>(stream: &mut S) -> Answer {
    timed(async {
        let head = head(stream).await;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut answer = Answer { status, head, body: Vec::new() };
        if let Some(length) = answer.header("content-length") {
            answer.body = exactly(stream, length.parse().unwrap()).await;
        } else if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let length = usize::from_str_radix(line(stream).await.trim(), 16).unwrap();
                answer.body.extend(exactly(stream, length).await);
                line(stream).await;
                if length == 0 {
                    break;
                }
            }
        } else if status >= 200 {
            stream.read_to_end(&mut answer.body).await.unwrap();
        }
        answer
    })
    .await
}

pub(crate) async fn head<S: AsyncRead + Unpin>(stream: &mut S) -> String {
    let mut head = String::new();
    loop {
        let line = line(stream).await;
        if line.trim().is_empty() {
            return head;
        }
        head.push_str(&line);
    }
}

pub(crate) async fn line<S: AsyncRead + Unpin>(stream: &mut S) -> String {
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        match timed(stream.read_u8()).await {
            Ok(octet) => line.push(octet),
            Err(_) => break,
        }
    }
    String::from_utf8(line).unwrap()
}

async fn exactly<S: AsyncRead + Unpin>(stream: &mut S, length: usize) -> Vec<u8> {
    let mut body = vec![0; length];
    timed(stream.read_exact(&mut body)).await.unwrap();
    body
}
