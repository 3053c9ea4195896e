//! `--metrics`.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use clap::Args;
use closedbook_sidecar::outer::MetricsListener;
use nix::sys::stat::{Mode, umask};

use crate::exit::Failure;

#[derive(Debug, Args)]
pub(crate) struct MetricsFlag {
    /// Serve metrics (OpenMetrics over HTTP, at /metrics) here, outside of the task's namespace: a unix socket, or a
    /// loopback address.
    #[arg(long, value_name = "unix:PATH|ADDRESS:PORT")]
    metrics: Option<String>,
}

/// A bound listener; its file goes with it.
#[derive(Debug)]
pub(crate) struct OpenMetrics {
    pub(crate) socket: OwnedFd,
    path: Option<PathBuf>,
}

impl MetricsFlag {
    /// Binds it.
    pub(crate) fn open(&self) -> Result<Option<OpenMetrics>, Failure> {
        let Some(place) = self.metrics.as_deref() else { return Ok(None) };
        match place.strip_prefix("unix:") {
            Some(path) => unix(Path::new(path)).map(Some),
            None => tcp(place).map(Some),
        }
    }
}

fn tcp(place: &str) -> Result<OpenMetrics, Failure> {
    let wrong = |why: &str| {
        Failure::usage(format!("--metrics {place}: {why}"))
            .remedy("write unix:PATH, 127.0.0.1:9090 or [::1]:9090; port 0 takes a free one and says which")
    };
    let address: SocketAddr = place.parse().map_err(|_| wrong("not an address with a port"))?;
    if !address.ip().is_loopback() {
        return Err(wrong("not a loopback address"));
    }
    let listener = TcpListener::bind(address).map_err(|error| wrong(&format!("can't be bound: {error}")))?;
    if address.port() == 0 {
        let bound = listener.local_addr().map_err(|error| wrong(&error.to_string()))?;
        eprintln!("closedbook: metrics at http://{bound}/metrics");
    }
    Ok(OpenMetrics { socket: listener.into(), path: None })
}

fn unix(path: &Path) -> Result<OpenMetrics, Failure> {
    let cannot = |error: io::Error| {
        Failure::usage(format!("--metrics unix:{}: can't be bound: {error}", path.display()))
            .remedy("name a path in a folder that you may write to")
    };
    match fs::symlink_metadata(path) {
        // One that a former run left behind.
        Ok(old) if old.file_type().is_socket() && UnixStream::connect(path).is_err() => {
            fs::remove_file(path).map_err(cannot)?;
        }
        _ => {}
    }
    // Never wider than it will be, not even for a moment.
    let before = umask(Mode::from_bits_truncate(0o177));
    let bound = UnixListener::bind(path);
    umask(before);
    let listener = bound.map_err(cannot)?;
    Ok(OpenMetrics { socket: listener.into(), path: Some(path.to_owned()) })
}

impl OpenMetrics {
    /// For a proxy in this process.
    pub(crate) fn listener(&self) -> io::Result<MetricsListener> {
        listener(self.socket.try_clone()?)
    }
}

/// A file or a loopback address, whichever the socket is.
pub(crate) fn listener(socket: OwnedFd) -> io::Result<MetricsListener> {
    let tcp = TcpListener::from(socket);
    // An address that is none of IP's is no address for a TCP socket.
    match tcp.local_addr() {
        Ok(_) => Ok(MetricsListener::Tcp(tcp)),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            Ok(MetricsListener::Unix(OwnedFd::from(tcp).into()))
        }
        Err(error) => Err(error),
    }
}

impl Drop for OpenMetrics {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = fs::remove_file(path);
        }
    }
}
