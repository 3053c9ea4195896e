//! A client that makes a bounded number of requests, checks what comes back, and measures it.

mod connection;
mod report;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use hyper::Uri;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;

pub use report::{Percentiles, Report, Tally};

use report::Sample;

/// What to ask for, and how often.
#[derive(Debug, Clone)]
pub struct Load {
    /// `http://` or `https://`, with a host.
    pub url: Uri,
    /// How many connections in all.
    pub connections: usize,
    /// How many of them at a time.
    pub parallel: usize,
    /// Requests on each connection, one after the other.
    pub requests: usize,
    /// What each request sends and expects.
    pub exchange: Exchange,
    /// The HTTP version.
    pub http: Http,
    /// How long each connection is kept idle, all of them at once, before one more request. Zero for not at all. With
    /// it, `parallel` must not be less than `connections`.
    pub hold: Duration,
    /// How long a step (connect, handshake, request) may take.
    pub timeout: Duration,
    /// Authorities to trust, PEM.
    pub roots: PathBuf,
}

/// What a request sends and expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// GET; the body is counted.
    Get,
    /// GET; the body must be [`crate::pattern`] from its start.
    Pattern,
    /// PUT this many octets of the pattern; the answer must be their number and hash.
    Upload(u64),
}

/// The HTTP version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http {
    /// HTTP/1.1.
    One,
    /// HTTP/2, over TLS by ALPN, else with prior knowledge.
    Two,
}

/// Why nothing could be tried at all.
#[derive(Debug, Error)]
pub enum LoadError {
    /// No host, or a scheme that is not HTTP's.
    #[error("{0} is not an http or https URL with a host")]
    Url(Uri),
    /// The name has no address.
    #[error("can't resolve {host}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        #[source]
        source: std::io::Error,
    },
    /// The authorities can't be read.
    #[error("can't read certificates from {}", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// rustls refused an authority or a setting.
    #[error("can't set up TLS")]
    Tls(#[from] rustls::Error),
    /// Connections that are held have to be open at once.
    #[error("{connections} connections can't be held with {parallel} at a time")]
    Hold {
        /// How many in all.
        connections: usize,
        /// How many at a time.
        parallel: usize,
    },
}

/// Where all connections go.
struct Target {
    load: Load,
    addresses: Vec<SocketAddr>,
    /// Host and port, as the Host header has it.
    authority: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
    /// Where connections wait for each other before they are held.
    meeting: Barrier,
}

/// Does it all, and tells how it went.
pub async fn run(load: Load) -> Result<Report, LoadError> {
    crate::room::raise_descriptor_limit();
    if !load.hold.is_zero() && load.parallel < load.connections {
        return Err(LoadError::Hold { connections: load.connections, parallel: load.parallel });
    }
    let target = Arc::new(target(load).await?);
    let places = Arc::new(Semaphore::new(target.load.parallel.max(1)));
    let start = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..target.load.connections {
        let (target, places) = (target.clone(), places.clone());
        all.spawn(async move {
            // Never closed, so there is always a place in the end.
            let _place = places.acquire().await;
            connection::run(&target).await
        });
    }
    let mut samples: Vec<Sample> = Vec::with_capacity(target.load.connections);
    while let Some(sample) = all.join_next().await {
        samples.push(sample.unwrap_or_else(|_| Sample::lost()));
    }
    Ok(Report::of(&samples, start.elapsed()))
}

async fn target(load: Load) -> Result<Target, LoadError> {
    let bad = || LoadError::Url(load.url.clone());
    let host = load.url.host().ok_or_else(bad)?.trim_matches(['[', ']']).to_owned();
    let (is_tls, default) = match load.url.scheme_str() {
        Some("https") => (true, 443),
        Some("http") => (false, 80),
        _ => return Err(bad()),
    };
    let port = load.url.port_u16().unwrap_or(default);
    let authority = load.url.authority().map(|one| one.to_string()).ok_or_else(bad)?;
    let addresses = tokio::net::lookup_host((host.as_str(), port)).await;
    let addresses = addresses.map_err(|source| LoadError::Resolve { host: host.clone(), source })?.collect();
    let tls = match is_tls {
        true => Some((connector(&load)?, ServerName::try_from(host).map_err(|_| bad())?)),
        false => None,
    };
    let meeting = Barrier::new(load.connections);
    Ok(Target { load, addresses, authority, tls, meeting })
}

fn connector(load: &Load) -> Result<TlsConnector, LoadError> {
    let unreadable = |source| LoadError::Roots { path: load.roots.clone(), source };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&load.roots).map_err(unreadable)? {
        roots.add(certificate.map_err(unreadable)?)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = match load.http {
        Http::One => vec![b"http/1.1".to_vec()],
        Http::Two => vec![b"h2".to_vec()],
    };
    Ok(TlsConnector::from(Arc::new(config)))
}
