//! `closedbook sidecar outer`: takes the listeners over, gives up all privilege, decides and dials.

use std::fs::File;
use std::num::NonZero;
use std::os::fd::RawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use clap::Args;
use closedbook_kernel::descriptors::{self, inherited};
use closedbook_kernel::idmap::may_become_nobody;
use closedbook_kernel::privileges;
use closedbook_policy::Policy;
use closedbook_sidecar::control::Control;
use closedbook_sidecar::listeners::Listeners;
use closedbook_sidecar::outer::{self, Config, Limits, MetricsListener, Upstreams, Widen};
use nix::unistd::getuid;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{SignalKind, signal};

use super::config::{FromOuter, OuterConfig, ToOuter};
use super::handoff;
use crate::exit::{Failure, chain};
use crate::flags;
use crate::flags::log::{LogFlags, OpenLog, Recorder};
use crate::flags::metrics::{self, MetricsFlag, OpenMetrics};
use crate::instance;
use crate::messages;
use crate::policy;

/// Serve a closed namespace: decide, resolve, dial. Holds no capability.
#[derive(Debug, Args)]
pub(crate) struct Outer {
    /// The unix socket at which the inner half hands its listeners over.
    #[arg(long, value_name = "PATH", required_unless_present = "supervisor_fd")]
    handoff: Option<PathBuf>,

    /// The policy document (TOML or JSON).
    #[arg(long, value_name = "FILE", required_unless_present = "supervisor_fd")]
    policy: Option<PathBuf>,

    /// The phase to begin in.
    #[arg(long, value_name = "NAME", required_unless_present = "supervisor_fd")]
    phase: Option<String>,

    #[command(flatten)]
    log: LogFlags,

    #[command(flatten)]
    metrics: MetricsFlag,

    /// Ask this resolver, instead of those in /etc/resolv.conf.
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    resolver: Vec<String>,

    /// Listen for `closedbook phase|status|log|denials --control PATH` at this path, in a folder that the task does not
    /// see.
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,

    /// Whether a later phase may permit more: `free`, `flag` (it has to be asked for), `never-after-agent`.
    #[arg(long, value_name = "HOW", default_value = Widen::default().word(), value_parser = flags::widen)]
    widen: Widen,

    /// Inherited: the supervisor, which says what to enforce.
    #[arg(long, hide = true, conflicts_with_all = ["handoff", "policy", "phase", "log", "metrics", "resolver", "control"], requires = "handoff_fd")]
    supervisor_fd: Option<RawFd>,

    /// Inherited: the socket that the listeners come from.
    #[arg(long, hide = true)]
    handoff_fd: Option<RawFd>,

    /// Inherited: the decision log, open.
    #[arg(long, hide = true)]
    log_fd: Option<RawFd>,

    /// Inherited: the process that puts the log aside.
    #[arg(long, hide = true)]
    log_keeper_fd: Option<RawFd>,

    /// Inherited: where metrics are asked for.
    #[arg(long, hide = true)]
    metrics_fd: Option<RawFd>,

    /// Inherited: the control socket, listening.
    #[arg(long, hide = true)]
    control_fd: Option<RawFd>,
}

impl Outer {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        match self.supervisor_fd {
            Some(descriptor) => self.serve_supervisor(descriptor),
            None => self.serve_alone(),
        }
    }

    /// Started by hand, in a container of its own: serves until it is told to end by a signal.
    fn serve_alone(self) -> Result<ExitCode, Failure> {
        let missing = || Failure::usage("--handoff, --policy and --phase are needed");
        let policy = policy::load(self.policy.as_deref().ok_or_else(missing)?)?;
        let phase = self.phase.ok_or_else(missing)?;
        let upstreams = flags::resolvers(&self.resolver)?.map_or(Upstreams::System, Upstreams::Servers);
        messages::start(None);
        let recorder = self.log.open()?.map(OpenLog::start).transpose()?;
        let metrics = self.metrics.open()?;
        let owner = getuid().as_raw();
        let control = match &self.control {
            Some(path) => Some(Control { listener: instance::bind(path)?, owner }),
            None => None,
        };
        let listeners = handoff::fetch(self.handoff.as_deref().ok_or_else(missing)?)?;
        give_up_privilege()?;
        let cannot = |error| Failure::host(format!("the log or the metrics: {error}"));
        let log = recorder.as_ref().map(Recorder::log_to).transpose().map_err(cannot)?;
        let listener = metrics.as_ref().map(OpenMetrics::listener).transpose().map_err(cannot)?;
        let (limits, widen) = (limits(), self.widen);
        let config = Config { policy, phase, upstreams, log, metrics: listener, limits, widen, control };
        runtime()?.block_on(async {
            let stop = until_told()?;
            eprintln!("closedbook: serving");
            outer::run(config, listeners, stop).await.map_err(|error| Failure::refused(chain(&error)))
        })?;
        // Fails where the privilege that made it is gone; the next one takes its place.
        if let Some(path) = &self.control {
            let _ = std::fs::remove_file(path);
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Started by `closedbook run`: serves until the supervisor says so, or is gone.
    fn serve_supervisor(self, descriptor: RawFd) -> Result<ExitCode, Failure> {
        let broken =
            |error: &dyn std::fmt::Display| Failure::bug(format!("the supervisor's descriptors: {error}"));
        let line = UnixStream::from(inherited(descriptor).map_err(|error| broken(&error))?);
        let handoff = self
            .handoff_fd
            .ok_or_else(|| broken(&"no handoff"))
            .and_then(|number| inherited(number).map(UnixStream::from).map_err(|error| broken(&error)))?;
        let take = |number: Option<RawFd>| number.map(inherited).transpose().map_err(|error| broken(&error));
        let metrics = take(self.metrics_fd)?.map(metrics::listener).transpose();
        let inherited = Inherited {
            handoff,
            log: take(self.log_fd)?.map(File::from),
            keeper: take(self.log_keeper_fd)?.map(UnixStream::from),
            metrics: metrics.map_err(|error| broken(&error))?,
            control: take(self.control_fd)?.map(UnixListener::from),
        };
        // Before anything is read from anybody. The listeners come from the inner part, not from the task.
        give_up_privilege()?;
        runtime()?.block_on(async {
            line.set_nonblocking(true).map_err(|error| broken(&error))?;
            let line = tokio::net::UnixStream::from_std(line).map_err(|error| broken(&error))?;
            let (hears, says) = line.into_split();
            serve(Supervisor { hears: BufReader::new(hears), says }, inherited).await
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The other end of the supervisor's line.
struct Supervisor {
    hears: BufReader<OwnedReadHalf>,
    says: OwnedWriteHalf,
}

impl Supervisor {
    /// `None` when the supervisor is gone.
    async fn hear(&mut self) -> Option<ToOuter> {
        let mut text = String::new();
        match self.hears.read_line(&mut text).await {
            Ok(length) if length > 0 => serde_json::from_str(&text).ok(),
            _ => None,
        }
    }

    async fn say(&mut self, message: &FromOuter) -> Result<(), Failure> {
        let mut text = serde_json::to_vec(message).map_err(|error| Failure::bug(error.to_string()))?;
        text.push(b'\n');
        // A supervisor that is gone has told its user why, and this process ends by the same token.
        let _ = self.says.write_all(&text).await;
        Ok(())
    }
}

/// What the supervisor has opened for this process.
struct Inherited {
    handoff: UnixStream,
    log: Option<File>,
    keeper: Option<UnixStream>,
    metrics: Option<MetricsListener>,
    control: Option<UnixListener>,
}

async fn serve(mut supervisor: Supervisor, inherited: Inherited) -> Result<(), Failure> {
    let config = match supervisor.hear().await {
        Some(ToOuter::Serve(config)) => config,
        Some(ToOuter::Stop) => return Err(Failure::bug("the supervisor did not say what to enforce")),
        None => return Ok(()),
    };
    let (proxy, handoff) = match prepare(config, inherited) {
        Ok(proxy) => proxy,
        Err(what) => return supervisor.say(&FromOuter::Unable(what)).await,
    };
    let taken = tokio::task::spawn_blocking(move || handoff::take(&handoff)).await;
    let listeners: Listeners = match taken {
        Ok(Ok(listeners)) => listeners,
        Ok(Err(failure)) => return supervisor.say(&FromOuter::Unable(failure.to_string())).await,
        Err(error) => return Err(Failure::bug(error.to_string())),
    };
    // The sockets are listening: what the task connects before the first accept(2) waits for it.
    supervisor.say(&FromOuter::Ready).await?;
    let stop = async {
        // A message that is not `Stop`, and silence for ever, end it as well.
        supervisor.hear().await;
    };
    let summary = proxy.run(listeners, stop).await.map_err(|error| Failure::refused(chain(&error)))?;
    supervisor.say(&FromOuter::Done(summary.into())).await
}

/// The proxy, and where its listeners come from.
fn prepare(config: OuterConfig, inherited: Inherited) -> Result<(outer::Proxy, UnixStream), String> {
    messages::start(config.messages.as_deref());
    let policy = Policy::from_json(&config.policy).map_err(|error| chain(&error))?;
    let upstreams = config.resolvers.map_or(Upstreams::System, Upstreams::Servers);
    let widen = Widen::parse(&config.widen).ok_or("the ratchet can't be set so")?;
    let Inherited { handoff, log, keeper, metrics, control } = inherited;
    let control = control.map(|listener| Control { listener, owner: config.owner });
    let log = log.map(|file| config.log.log_to(file, keeper)).transpose();
    let log = log.map_err(|error| format!("the decision log: {error}"))?;
    let (phase, limits) = (config.phase, limits());
    let config = Config { policy, phase, upstreams, log, metrics, limits, widen, control };
    let proxy = outer::Proxy::new(config).map_err(|error| chain(&error))?;
    Ok((proxy, handoff))
}

/// Descriptors that there is room for from the start: four thousand connections, at 64 KiB of the kernel's memory.
const DESCRIPTORS_SOON: u32 = 8192;

/// G17: what reads hostile bytes holds nothing.
fn give_up_privilege() -> Result<(), Failure> {
    let limit = privileges::raise_descriptor_limit();
    limit.map_err(|error| Failure::host(format!("can't raise the limit on descriptors: {error}")))?;
    // Only faster: where it fails, room is made when it is needed.
    let _ = descriptors::make_room(
        u32::try_from(privileges::descriptor_limit()).unwrap_or(u32::MAX).min(DESCRIPTORS_SOON),
    );
    if may_become_nobody() {
        privileges::become_nobody().map_err(|error| Failure::bug(chain(&error)))?;
    }
    privileges::drop_all().map_err(|error| Failure::bug(chain(&error)))
}

/// Sized by what the process may open.
fn limits() -> Limits {
    Limits::for_descriptors(privileges::descriptor_limit())
}

/// Threads that serve, on machines with more processors: one moves more than a gigabyte a second, and a
/// machine may run many proxies at once.
const MOST_THREADS: usize = 4;

fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS))
        .enable_all()
        .build()
        .map_err(|error| Failure::host(format!("can't start the threads of the proxy: {error}")))
}

/// Ends on SIGTERM or SIGINT.
fn until_told() -> Result<impl Future<Output = ()>, Failure> {
    let listen = |kind| signal(kind).map_err(|error| Failure::bug(format!("signals: {error}")));
    let (mut term, mut int) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    })
}
