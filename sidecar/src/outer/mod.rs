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
use std::net::{self, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use closedbook_policy::{Digest, Epoch, Phase, Policy, Refusal};
use socket2::SockRef;
use thiserror::Error;
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use self::metrics::Limit;
use crate::control::Control;
use crate::journal::{Journal, JournalError, Past, PastRuling};
use crate::listeners::Listeners;

mod accept;
mod aside;
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
mod packets;
mod prefix;
mod probes;
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

pub use aside::aside;
pub use limits::{Limits, Rate};
use log::Record;
pub use log::{Kind, LogTo, Rotation, WhenFull};
pub use metrics::serve::MetricsListener;
pub use monitor::{Monitor, Trouble};
pub use probes::Probes;
use regime::Former;
pub use regime::{Caller, Change, Order, Regime, Stop as RatchetStop, Switched, Unchanged, Widen};
pub use resolve::{ResolverError, Upstreams};
pub use ruling::{CutFlow, LiveFlow, Reach, Ruling, State};
pub use summary::{Refused, Summary};

/// What the proxy is told at its start.
#[derive(Debug)]
pub struct Config {
    /// The policy.
    pub policy: Policy,
    /// The version of the agent table that the policy came from, if it did.
    pub table: Option<u32>,
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
    /// What former proxies of the namespace left, and what is added for the next one.
    pub journal: Option<File>,
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
    /// The kernel can't be asked for the machine's addresses, or nothing can be opened.
    #[error("the proxy can't open what it needs")]
    Open(#[source] io::Error),
    /// What a former proxy left can't be gone on from.
    #[error("the proxy can't go on where the former one stopped")]
    Journal(#[from] JournalError),
    /// The policy that a former proxy left is none.
    #[error("the policy that was in force can't be read again")]
    Policy(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The thread that writes the log can't be started.
    #[error("the log's writer can't be started")]
    Log(#[source] io::Error),
    /// The thread that serves the control socket can't be started.
    #[error("the control socket can't be served")]
    Control(#[source] io::Error),
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
    /// Which policy came from which version of the agent table.
    pub(crate) table: Option<(Digest, u32)>,
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
    probes: Arc<Probes>,
    /// Whether no proxy served this namespace before.
    first: bool,
    stopping: AtomicBool,
    /// The operator asked for the end.
    pub(crate) shutdown: Notify,
    pub(crate) started: Instant,
}

/// Serves until `stop` ends; then cuts and records every flow that still lives.
///
/// Must run inside a tokio runtime, with SIGPIPE ignored as in every Rust program: splice(2) to a socket that was reset
/// raises it.
pub async fn run(
    config: Config,
    listeners: Listeners,
    stop: impl Future<Output = ()>,
) -> Result<Summary, Error> {
    Proxy::new(config)?.run(listeners, stop).await
}

impl Proxy {
    /// Checks the configuration and opens everything that will be needed. From then on the proxy opens no file, and no
    /// socket but TCP and UDP ones; it has started no thread, and needs no runtime yet.
    pub fn new(config: Config) -> Result<Self, Error> {
        let resolver = resolve::Resolver::new(&config.upstreams)?;
        let own = own::Own::open().map_err(Error::Open)?;
        Self::with(config, dial::Dialler::new(resolver, own), Arc::new(original::from_kernel))
    }

    fn with(config: Config, dialler: dial::Dialler, original: original::OriginalDst) -> Result<Self, Error> {
        let (journal, past) = match config.journal.map(Journal::open).transpose()? {
            Some((journal, past)) => (Some(Arc::new(journal)), past),
            None => (None, Past::default()),
        };
        let table = config.table.map(|version| (config.policy.digest(), version));
        let (policy, phase, epoch) = match past.ruling {
            None => (config.policy, config.phase, FIRST_EPOCH),
            Some(PastRuling { policy, phase, epoch }) => {
                let policy = Policy::from_json(&policy).map_err(|error| Error::Policy(error.into()))?;
                (policy, phase.into(), Epoch(epoch))
            }
        };
        let phase = policy.phase(&phase).cloned().ok_or(Error::Phase(phase))?;
        if let Some(journal) = &journal {
            journal.begin(phase.name()).map_err(JournalError::Io)?;
        }
        let former = Former { epoch, entered: past.entered, journal: journal.clone() };
        let regime = Arc::new(Regime::after(former, policy, &phase, config.widen));
        let (limits, metrics) = (config.limits, Arc::new(metrics::Metrics::default()));
        let (log, writer) = log::Log::to(config.log, Arc::clone(&metrics));
        log.after(past.proxies);
        let outer = Outer {
            ruling: Arc::clone(regime.ruling()),
            regime,
            table,
            dialler: dialler.within(&limits, Arc::clone(&metrics)),
            leases: dns::leases::Leases::new(past.leases, journal),
            log,
            pipes: copy::pipe::Pipes::new(limits.pipes),
            original,
            reserve: File::open("/dev/null").map_err(Error::Open)?,
            flows: Arc::new(Semaphore::new(limits.flows)),
            hellos: limits::room::Room::new(limits.hellos, limits.hello_bytes),
            dns_connections: limits::room::Room::new(limits.dns_connections, usize::MAX),
            questions: dns::flood::Flood::new(&limits),
            metrics,
            limits,
            probes: Arc::default(),
            first: past.proxies == 0,
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

    /// Where the self-test comes from, to be told.
    pub fn probes(&self) -> Arc<Probes> {
        Arc::clone(&self.outer.probes)
    }

    /// Serves until `stop` ends.
    pub async fn run(
        mut self,
        listeners: Listeners,
        stop: impl Future<Output = ()>,
    ) -> Result<Summary, Error> {
        let monitor = self.monitor();
        let writing = self.writer.start().map_err(Error::Log)?;
        let listening = Listening::new(listeners, self.outer.first).map_err(Error::Listener)?;
        let Listening { tcp, dns_udp, dns_tcp, packet_log } = listening;
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
        if let Some(packet_log) = packet_log {
            services.spawn(packet_log.serve(self.outer.clone(), stopped.clone()));
        }
        if let Some(control) = self.control.take() {
            let (control, outer) = (control.open().map_err(Error::Listener)?, Arc::clone(&self.outer));
            let serving = aside("control", move || control.serve(outer, stopped)).map_err(Error::Control)?;
            services.spawn(async {
                if let Err(error) = serving.await {
                    tracing::error!(%error, "the control socket is served no more; this is a bug of closedbook");
                }
            });
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
        summary.log_error = writing.finish().await.err().map(|error| error.to_string());
        Ok(summary)
    }
}

impl Outer {
    /// The record of an attempt by this client, aimed at this address if that is known; one that goes nowhere if the client
    /// is closedbook itself.
    async fn record(
        &self,
        client: Option<SocketAddr>,
        aimed_at: Option<&SocketAddr>,
        phase: Arc<Phase>,
    ) -> Result<Record, Refusal> {
        match self.probes.has(client, aimed_at) {
            true => Ok(Record::unwritten(phase)),
            false => self.log.open(phase).await,
        }
    }
}

/// That of the phase that a namespace begins in.
const FIRST_EPOCH: Epoch = Epoch(1);

/// Connections that may wait to be accepted; the kernel cuts it down to net.core.somaxconn.
const BACKLOG: i32 = 16_384;

/// The listeners, known to the runtime.
struct Listening {
    tcp: Vec<TcpListener>,
    dns_udp: Vec<UdpSocket>,
    dns_tcp: Vec<TcpListener>,
    packet_log: Option<packets::PacketLog>,
}

impl Listening {
    fn new(listeners: Listeners, first: bool) -> io::Result<Self> {
        let stream = |listener: net::TcpListener| {
            // On a socket that listens already this only makes the queue longer: a burst of connections that finds it
            // full would wait a second each for its SYN to be sent again.
            SockRef::from(&listener).listen(BACKLOG)?;
            // A connection takes this from its listener: from its first moment on it ends by a reset, also when this
            // process is killed (G6).
            SockRef::from(&listener).set_linger(Some(Duration::ZERO))?;
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
            packet_log: listeners
                .packet_log
                .map(|socket| packets::PacketLog::new(socket, first))
                .transpose()?,
        })
    }
}
