//! `closedbook sidecar outer`: takes the listeners over, gives up all privilege, decides and dials.

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZero;
use std::os::fd::RawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;

use clap::Args;
use closedbook_kernel::descriptors::{self, inherited};
use closedbook_kernel::idmap::may_become_nobody;
use closedbook_kernel::{landlock, privileges, seccomp};
use closedbook_policy::Policy;
use closedbook_sidecar::control::Control;
use closedbook_sidecar::handoff::{Handed, Verdict};
use closedbook_sidecar::listeners::Listeners;
use closedbook_sidecar::outer::{self, Config, Limits, MetricsListener, Upstreams, Widen};
use nix::unistd::getuid;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{SignalKind, signal};

use super::config::{FromOuter, OuterConfig, ToOuter};
use super::handoff;
use super::ready::ReadyFlags;
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

    #[command(flatten)]
    ready: ReadyFlags,
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
        let mut ready = self.ready.open()?;
        let recorder = self.log.open()?.map(OpenLog::start).transpose()?;
        let metrics = self.metrics.open()?;
        let owner = getuid().as_raw();
        let control = match &self.control {
            Some(path) => Some(Control { listener: instance::bind(path)?, owner }),
            None => None,
        };
        let inner = handoff::connect(self.handoff.as_deref().ok_or_else(missing)?)?;
        give_up_privilege()?;
        let Handed { listeners, journal, probes, verdict } = take(inner)?;
        let widen = self.widen;
        let cannot = |error| Failure::host(format!("the log or the metrics: {error}"));
        let log = recorder.as_ref().map(Recorder::log_to).transpose().map_err(cannot)?;
        let listener = metrics.as_ref().map(OpenMetrics::listener).transpose().map_err(cannot)?;
        let (limits, metrics) = (limits(), listener);
        let table = None;
        let config =
            Config { policy, table, phase, upstreams, log, metrics, limits, widen, control, journal };
        let proxy = outer::Proxy::new(config).map_err(|error| Failure::refused(chain(&error)))?;
        let threads = threads();
        confine()?;
        let told = proxy.probes();
        told.expect(probes);
        runtime(threads)?.block_on(async {
            let mut signals = std::pin::pin!(until_told()?);
            let mut failed = None;
            let stop = async {
                tokio::select! {
                    tested = passed(verdict) => match tested {
                        Ok(()) => told.over(),
                        Err(error) => return failed = Some(error),
                    },
                    () = &mut signals => return,
                }
                if let Err(error) = ready.announce() {
                    return failed = Some(format!("can't say that it serves: {error}"));
                }
                eprintln!("closedbook: serving");
                signals.await;
            };
            proxy.run(listeners, stop).await.map_err(|error| Failure::refused(chain(&error)))?;
            failed.map_or(Ok(()), |error| Err(Failure::refused(error)))
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
        let inner = self
            .handoff_fd
            .ok_or_else(|| broken(&"no handoff"))
            .and_then(|number| inherited(number).map(UnixStream::from).map_err(|error| broken(&error)))?;
        let take = |number: Option<RawFd>| number.map(inherited).transpose().map_err(|error| broken(&error));
        let metrics = take(self.metrics_fd)?.map(metrics::listener).transpose();
        let inherited = Inherited {
            inner,
            log: take(self.log_fd)?.map(File::from),
            keeper: take(self.log_keeper_fd)?.map(UnixStream::from),
            metrics: metrics.map_err(|error| broken(&error))?,
            control: take(self.control_fd)?.map(UnixListener::from),
        };
        give_up_privilege()?;
        let mut hears = io::BufReader::new(line.try_clone().map_err(|error| broken(&error))?);
        let config = match hear(&mut hears) {
            Some(ToOuter::Serve(config)) => config,
            Some(ToOuter::Stop) => return Err(Failure::bug("the supervisor did not say what to enforce")),
            None => return Ok(ExitCode::SUCCESS),
        };
        let threads = threads();
        let (proxy, listeners, verdict) = match prepare(config, inherited) {
            Ok(prepared) => prepared,
            Err(failure) => {
                say(&line, &FromOuter::Unable(failure.to_string()))?;
                return Ok(ExitCode::SUCCESS);
            }
        };
        let heard = hears.buffer().to_vec();
        runtime(threads)?.block_on(async {
            line.set_nonblocking(true).map_err(|error| broken(&error))?;
            let line = tokio::net::UnixStream::from_std(line).map_err(|error| broken(&error))?;
            serve(Supervisor::new(line, heard), proxy, listeners, verdict).await
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// What the supervisor has opened for this process.
struct Inherited {
    inner: UnixStream,
    log: Option<File>,
    keeper: Option<UnixStream>,
    metrics: Option<MetricsListener>,
    control: Option<UnixListener>,
}

/// All that is done before the task is served: its listeners are taken, what the proxy needs is opened or asked for, and
/// nothing else can be opened any more.
fn prepare(config: OuterConfig, inherited: Inherited) -> Result<(outer::Proxy, Listeners, Verdict), Failure> {
    let refused = |error: &dyn Error| Failure::refused(chain(error));
    messages::start(config.messages.as_deref());
    let policy = Policy::from_json(&config.policy).map_err(|error| refused(&error))?;
    let upstreams = config.resolvers.map_or(Upstreams::System, Upstreams::Servers);
    let Inherited { inner, log, keeper, metrics, control } = inherited;
    let log = log.map(|file| config.log.log_to(file, keeper)).transpose();
    let log = log.map_err(|error| Failure::host(format!("the decision log: {error}")))?;
    let Handed { listeners, journal, probes, verdict } = take(inner)?;
    let widen = Widen::parse(&config.widen).ok_or_else(|| Failure::bug("the ratchet can't be set so"))?;
    let control = control.map(|listener| Control { listener, owner: config.owner });
    let (table, phase, limits) = (config.table, config.phase, limits());
    let config = Config { policy, table, phase, upstreams, log, metrics, limits, widen, control, journal };
    let proxy = outer::Proxy::new(config).map_err(|error| refused(&error))?;
    proxy.probes().expect(probes);
    confine()?;
    Ok((proxy, listeners, verdict))
}

fn take(inner: UnixStream) -> Result<Handed, Failure> {
    closedbook_sidecar::handoff::take(inner).map_err(|error| Failure::refused(chain(&error)))
}

/// One message, before there is a runtime; `None` when the supervisor is gone.
fn hear(from: &mut impl io::BufRead) -> Option<ToOuter> {
    let mut text = String::new();
    from.read_line(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn say(mut to: &UnixStream, message: &FromOuter) -> Result<(), Failure> {
    // A supervisor that is gone has told its user why.
    let _ = to.write_all(&line(message)?);
    Ok(())
}

fn line(message: &FromOuter) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_vec(message).map_err(|error| Failure::bug(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

/// The other end of the supervisor's line.
struct Supervisor {
    hears: BufReader<tokio::io::Chain<io::Cursor<Vec<u8>>, OwnedReadHalf>>,
    says: OwnedWriteHalf,
    /// A message that has not come to its end yet.
    text: Vec<u8>,
}

impl Supervisor {
    /// What was read and not looked at yet comes first.
    fn new(line: tokio::net::UnixStream, heard: Vec<u8>) -> Self {
        let (hears, says) = line.into_split();
        Self { hears: BufReader::new(io::Cursor::new(heard).chain(hears)), says, text: Vec::new() }
    }

    /// `None` when the supervisor is gone. May be given up and begun again.
    async fn hear(&mut self) -> Option<ToOuter> {
        let read = self.hears.read_until(b'\n', &mut self.text).await;
        let text = std::mem::take(&mut self.text);
        read.ok().and_then(|_| serde_json::from_slice(&text).ok())
    }

    async fn say(&mut self, message: &FromOuter) -> Result<(), Failure> {
        // A supervisor that is gone has told its user why, and this process ends by the same token.
        let _ = self.says.write_all(&line(message)?).await;
        Ok(())
    }
}

async fn serve(
    mut supervisor: Supervisor,
    proxy: outer::Proxy,
    listeners: Listeners,
    verdict: Verdict,
) -> Result<(), Failure> {
    let probes = proxy.probes();
    let stop = async {
        let said = tokio::select! {
            tested = passed(verdict) => match tested {
                Ok(()) => {
                    probes.over();
                    supervisor.say(&FromOuter::Ready).await
                }
                Err(error) => {
                    let _ = supervisor.say(&FromOuter::Unable(error)).await;
                    return;
                }
            },
            _ = supervisor.hear() => return,
        };
        // A message that is not `Stop`, and silence for ever, end it as well.
        if said.is_ok() {
            supervisor.hear().await;
        }
    };
    let summary = proxy.run(listeners, stop).await.map_err(|error| Failure::refused(chain(&error)))?;
    // A supervisor that is gone, or has given us up, wants no report.
    supervisor.say(&FromOuter::Done(summary.into())).await
}

/// Waits for the end of the self-test.
async fn passed(verdict: Verdict) -> Result<(), String> {
    let tested = outer::aside("self-test", || verdict.wait()).map_err(|error| error.to_string())?.await;
    tested.map_err(|error| error.to_string())?.map_err(|error| chain(&error))
}

/// Descriptors that there is room for from the start: four thousand connections, at 64 KiB of the kernel's memory.
const DESCRIPTORS_SOON: u32 = 8192;

/// G17: what reads hostile bytes holds nothing.
fn give_up_privilege() -> Result<(), Failure> {
    let limits = privileges::raise_descriptor_limit().and_then(|()| privileges::limit_proxy());
    limits.map_err(|error| Failure::host(format!("can't set this process's limits: {error}")))?;
    // Only faster: where it fails, room is made when it is needed.
    let _ = descriptors::make_room(
        u32::try_from(privileges::descriptor_limit()).unwrap_or(u32::MAX).min(DESCRIPTORS_SOON),
    );
    let silent = descriptors::silence().and_then(|()| std::env::set_current_dir("/"));
    silent.map_err(|error| Failure::host(format!("can't leave the caller's input and folder: {error}")))?;
    if may_become_nobody() {
        privileges::become_nobody().map_err(|error| Failure::bug(chain(&error)))?;
    }
    privileges::drop_all().map_err(|error| Failure::bug(chain(&error)))
}

/// G17: and does nothing but what a proxy does. Must be called before there are threads.
fn confine() -> Result<(), Failure> {
    let enforced = landlock::no_file_system();
    tracing::debug!(?enforced, "Landlock");
    seccomp::confine_proxy().map_err(|error| {
        Failure::host(format!("the system-call filter is refused: {error}"))
            .remedy("use a kernel with CONFIG_SECCOMP_FILTER, and allow seccomp(2) in the container")
    })
}

/// Asked before it can't be any more: the answer is in files.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS)
}

/// Sized by what the process may open. Asked before it is confined.
fn limits() -> Limits {
    Limits::for_descriptors(privileges::descriptor_limit())
}

/// Threads that serve, on machines with more processors: one moves more than a gigabyte a second, and a
/// machine may run many proxies at once.
const MOST_THREADS: usize = 4;

fn runtime(threads: usize) -> Result<tokio::runtime::Runtime, Failure> {
    let failed = |why: &dyn std::fmt::Display| {
        Failure::host(format!("can't start the threads of the proxy: {why}"))
            .remedy("allow it more memory, and its user more processes")
    };
    let build = || tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    // Where the system gives no thread, the runtime says so by a panic. There is no other thread yet that could panic.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let built = panic::catch_unwind(build);
    panic::set_hook(hook);
    built.unwrap_or_else(|_| Err(io::ErrorKind::WouldBlock.into())).map_err(|error| failed(&error))
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
