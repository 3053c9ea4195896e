//! The proxy process: everything from the listeners in the task's namespace to the record of each attempt.
//!
//! It lives where the uplink is and holds no capability. [`run`] is handed the listeners, which were made inside the
//! task's namespace: whatever is accepted on them was redirected from there, and nothing of the task comes in any other
//! way.
//!
//! A connection's walk, a file per step: `accept` → `original` destination → first bytes (`prefix`) →
//! [`Phase::decide`](closedbook_policy::Phase::decide) → register (`ruling`) → `resolve` → `dial` → `copy`, or `http`
//! request by request → record (`log`). A refusal at any step goes to `refuse`. `dns` answers on its own.

use std::fs::File;
use std::io;
use std::net;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use closedbook_policy::Policy;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use socket2::SockRef;
use thiserror::Error;
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use self::metrics::Limit;
use crate::control::Control;
use crate::listeners::Listeners;

mod accept;
mod connection;
mod copy;
mod dial;
pub(crate) mod dns;
mod http;
mod limits;
pub(crate) mod log;
mod metrics;
pub(crate) mod monitor;
mod original;
mod own;
mod prefix;
mod process;
mod refuse;
pub(crate) mod regime;
mod resolve;
mod ruling;
mod socket;
pub(crate) mod stop;
mod summary;
#[cfg(test)]
pub(crate) mod testing;

pub use limits::{Limits, Rate};
pub use log::{Kind, LogTo, Rotation, WhenFull};
pub use metrics::serve::MetricsListener;
pub use monitor::{Monitor, Trouble};
pub use regime::{Caller, Change, Order, Regime, Stop as RatchetStop, Switched, Unchanged, Widen};
pub use resolve::{ResolverError, Upstreams};
pub use ruling::{CutFlow, LiveFlow, Reach, Ruling, State};
pub use summary::{Refused, Summary};

/// What the proxy is told at its start.
#[derive(Debug)]
pub struct Config {
    /// The policy.
    pub policy: Policy,
    /// The phase of it that is in force at first.
    pub phase: String,
    /// Whom the resolver asks.
    pub upstreams: Upstreams,
    /// Where records go; none keeps only the counts of the [`Summary`].
    pub log: Option<LogTo>,
    /// Where metrics are asked for over HTTP, if anywhere.
    pub metrics: Option<MetricsListener>,
    /// Bounds.
    pub limits: Limits,
    /// How the ratchet is set.
    pub widen: Widen,
    /// Where the operator is listened to.
    pub control: Option<Control>,
}

/// Why the proxy does not start. Until it does, the task has nothing (G6).
#[derive(Debug, Error)]
pub enum Error {
    /// The policy has no such phase.
    #[error("the policy has no phase named {0:?}")]
    Phase(String),
    /// There is nobody to ask for addresses.
    #[error("there is no resolver")]
    Resolver(#[from] ResolverError),
    /// A listener that was handed over is not usable.
    #[error("a listener can't be used")]
    Listener(#[source] io::Error),
    /// Nothing can be opened.
    #[error("the proxy can't open what it needs")]
    Open(#[source] io::Error),
    /// The thread that writes the log can't be started.
    #[error("the log's writer can't be started")]
    Log(#[source] io::Error),
}

/// A proxy that is ready to serve.
pub struct Proxy {
    outer: Arc<Outer>,
    writer: log::Writer,
    metrics: Option<MetricsListener>,
    control: Option<Control>,
}

/// What all connections share.
pub(crate) struct Outer {
    pub(crate) regime: Arc<Regime>,
    pub(crate) ruling: Arc<Ruling>,
    dialler: dial::Dialler,
    pub(crate) leases: dns::leases::Leases,
    pub(crate) log: log::Log,
    pipes: copy::pipe::Pipes,
    original: original::OriginalDst,
    metrics: Arc<metrics::Metrics>,
    limits: Limits,
    /// Something that is open, to hold descriptors back with.
    reserve: File,
    /// Places for connections that have said what they want.
    flows: Arc<Semaphore>,
    /// And for those that have not.
    hellos: Arc<limits::room::Room>,
    dns_connections: Arc<limits::room::Room>,
    questions: dns::flood::Flood,
    stopping: AtomicBool,
    /// The operator asked for the end.
    pub(crate) shutdown: Notify,
    pub(crate) started: Instant,
}

/// Serves until `stop` ends; then cuts and records every flow that still lives.
///
/// Must run inside a tokio runtime, with SIGPIPE ignored as in every Rust program: splice(2) to a socket that was reset
/// raises it. Raises the soft limit on descriptors to the hard one.
pub async fn run(
    config: Config,
    listeners: Listeners,
    stop: impl Future<Output = ()>,
) -> Result<Summary, Error> {
    Proxy::new(config)?.run(listeners, stop).await
}

impl Proxy {
    /// Checks the configuration and makes everything that can fail.
    pub fn new(config: Config) -> Result<Self, Error> {
        let resolver = resolve::Resolver::new(&config.upstreams)?;
        Self::with(config, dial::Dialler::new(resolver), Arc::new(original::from_kernel))
    }

    fn with(config: Config, dialler: dial::Dialler, original: original::OriginalDst) -> Result<Self, Error> {
        let phase = config.policy.phase(&config.phase).ok_or(Error::Phase(config.phase))?;
        let (limits, metrics) = (config.limits, Arc::new(metrics::Metrics::default()));
        let regime = Arc::new(Regime::new(config.policy.clone(), phase, config.widen));
        let (log, writer) = log::Log::to(config.log, Arc::clone(&metrics));
        let outer = Outer {
            ruling: Arc::clone(regime.ruling()),
            regime,
            dialler: dialler.within(&limits, Arc::clone(&metrics)),
            leases: dns::leases::Leases::default(),
            log,
            pipes: copy::pipe::Pipes::new(limits.pipes),
            original,
            flows: Arc::new(Semaphore::new(limits.flows)),
            hellos: limits::room::Room::new(limits.hellos, limits.hello_bytes),
            dns_connections: limits::room::Room::new(limits.dns_connections, usize::MAX),
            questions: dns::flood::Flood::new(&limits),
            metrics,
            limits,
            reserve: File::open("/dev/null").map_err(Error::Open)?,
            stopping: AtomicBool::new(false),
            shutdown: Notify::new(),
            started: Instant::now(),
        };
        Ok(Self { outer: Arc::new(outer), writer, metrics: config.metrics, control: config.control })
    }

    /// What is permitted, to be switched from outside.
    pub fn regime(&self) -> Arc<Regime> {
        Arc::clone(&self.outer.regime)
    }

    /// Tells how it is doing, from outside.
    pub fn monitor(&self) -> Monitor {
        Monitor(Arc::downgrade(&self.outer))
    }

    /// Serves until `stop` ends.
    pub async fn run(
        mut self,
        listeners: Listeners,
        stop: impl Future<Output = ()>,
    ) -> Result<Summary, Error> {
        let monitor = self.monitor();
        let writing = self.writer.start().map_err(Error::Log)?;
        raise_descriptor_limit();
        let Listening { tcp, dns_udp, dns_tcp } = Listening::new(listeners).map_err(Error::Listener)?;
        let (running, stopped) = stop::signal();
        let mut services = JoinSet::new();
        if let Some(listener) = self.metrics.take() {
            services.spawn(metrics::serve::serve(listener, monitor, stopped.clone()));
        }
        services.spawn(dns::flood::report(self.outer.clone(), stopped.clone()));
        for listener in tcp {
            let door = accept::Door { listener, room: self.outer.hellos.clone(), full: Limit::Hellos };
            services.spawn(accept::accept(self.outer.clone(), door, stopped.clone(), connection::serve));
        }
        for listener in dns_tcp {
            let room = self.outer.dns_connections.clone();
            let door = accept::Door { listener, room, full: Limit::DnsConnections };
            services.spawn(accept::accept(self.outer.clone(), door, stopped.clone(), dns::tcp::serve));
        }
        for socket in dns_udp {
            services.spawn(dns::udp::serve(self.outer.clone(), socket, stopped.clone()));
        }
        if let Some(control) = self.control.take() {
            let served = control.serve(Arc::clone(&self.outer), stopped).map_err(Error::Listener)?;
            services.spawn(served);
        }
        tokio::select! {
            () = stop => {}
            () = self.outer.shutdown.notified() => {}
        }
        self.outer.stopping.store(true, Ordering::Release);
        drop(running);
        while let Some(ended) = services.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a listener's task ended by a panic; this is a bug of closedbook");
            }
        }
        // Everything has ended and recorded itself; what remains is to write it.
        let mut summary = self.outer.log.tally().summary();
        // With it goes the queue's last sender, which is what ends the writer.
        drop(self.outer);
        let written = tokio::task::spawn_blocking(|| writing.finish()).await;
        summary.log_error = match written {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        Ok(summary)
    }
}

/// Takes as many descriptors as this process may have; the usual soft limit of 1024 is that of programs with select(2).
fn raise_descriptor_limit() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
    if let Err(error) = raised {
        tracing::warn!(%error, "the limit on descriptors stays as it is");
    }
}

/// Connections that may wait to be accepted; the kernel cuts it down to net.core.somaxconn.
const BACKLOG: i32 = 16_384;

/// The listeners, known to the runtime.
struct Listening {
    tcp: Vec<TcpListener>,
    dns_udp: Vec<UdpSocket>,
    dns_tcp: Vec<TcpListener>,
}

impl Listening {
    fn new(listeners: Listeners) -> io::Result<Self> {
        let stream = |listener: net::TcpListener| {
            // On a socket that listens already this only makes the queue longer: a burst of connections that finds it
            // full would wait a second each for its SYN to be sent again.
            SockRef::from(&listener).listen(BACKLOG)?;
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener)
        };
        let datagram = |socket: net::UdpSocket| {
            socket.set_nonblocking(true)?;
            UdpSocket::from_std(socket)
        };
        Ok(Self {
            tcp: listeners.tcp.into_iter().map(stream).collect::<io::Result<_>>()?,
            dns_udp: listeners.dns_udp.into_iter().map(datagram).collect::<io::Result<_>>()?,
            dns_tcp: listeners.dns_tcp.into_iter().map(stream).collect::<io::Result<_>>()?,
        })
    }
}
