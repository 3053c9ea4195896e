//! Dialling: the one place where a connection leaves, and it takes a permit to get there.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use closedbook_policy::{Host, Permit, Reason, Refusal};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::limits::Limits;
use super::limits::dials::Dials;
use super::metrics::{Limit, Metrics};
use super::own::Own;
use super::resolve::Resolver;
use super::socket::Socket;

#[cfg(test)]
mod tests;

/// Resolving and connecting together.
const DEADLINE: Duration = Duration::from_secs(10);

/// How long one address is alone before the next is tried beside it (RFC 8305 section 5).
const STAGGER: Duration = Duration::from_millis(250);

/// Opens a TCP connection to an address that passed every check.
pub(crate) type Connect =
    Arc<dyn Fn(SocketAddr) -> Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>> + Send + Sync>;

/// Resolves and connects.
pub(crate) struct Dialler {
    resolver: Resolver,
    own: Own,
    connect: Connect,
    dials: Dials,
    metrics: Arc<Metrics>,
}

/// A connection that was permitted, with the proof.
#[derive(Debug)]
pub(crate) struct Dialled {
    /// The connection.
    pub(crate) server: Socket,
    /// The address that answered.
    pub(crate) address: SocketAddr,
    /// What permitted it.
    pub(crate) permit: Permit,
}

impl Dialler {
    /// Dials by the operating system.
    pub(crate) fn new(resolver: Resolver, own: Own) -> Self {
        Self::through(resolver, own, Arc::new(|address| Box::pin(TcpStream::connect(address))))
    }

    /// Dials by `connect`.
    pub(crate) fn through(resolver: Resolver, own: Own, connect: Connect) -> Self {
        let dials = Dials::new(Limits::default().dials);
        Self { resolver, own, connect, dials, metrics: Arc::default() }
    }

    /// The same with these bounds, counting here.
    pub(crate) fn within(self, limits: &Limits, metrics: Arc<Metrics>) -> Self {
        self.resolver.at_most(limits.lookups);
        Self { dials: Dials::new(limits.dials), metrics, ..self }
    }

    /// Dials under way.
    pub(crate) fn under_way(&self) -> usize {
        self.dials.under_way()
    }

    /// The resolver it asks.
    pub(crate) fn resolver(&self) -> &Resolver {
        &self.resolver
    }

    /// Connects to the permit's destination: to an address that the resolver gave for the permitted name, or to
    /// exactly the permitted address (G3).
    pub(crate) async fn dial(&self, permit: Permit) -> Result<Dialled, Refusal> {
        let began = Instant::now();
        let deadline = began + DEADLINE;
        // The turns of a destination that never answers come late, and those of others do not.
        let turn = timeout_at(deadline, self.dials.turn(permit.destination())).await;
        let Ok(Some(_turn)) = turn else { return Err(self.metrics.hit(Limit::Dials)) };
        let late =
            |_| Refusal::new(Reason::DialFailed, format!("{} did not answer in time", permit.destination()));
        let candidates = timeout_at(deadline, self.candidates(&permit)).await.map_err(|elapsed| {
            self.resolver.is_silent();
            late(elapsed)
        })??;
        let (address, stream) =
            timeout_at(deadline, self.race(&candidates)).await.map_err(late)?.map_err(|error| {
                self.failed(&error, Reason::DialFailed, format!("{} can't be reached", permit.destination()))
            })?;
        let server = Socket::new(stream).map_err(|error| {
            Refusal::new(Reason::DialFailed, format!("{} is gone: {error}", permit.destination()))
        })?;
        self.metrics.dial.observe(began.elapsed().as_secs_f64());
        Ok(Dialled { server, address, permit })
    }

    /// Whether a connection that was dialled earlier, to this address, may serve this permit too.
    pub(crate) fn may_reuse(&self, address: SocketAddr, permit: &Permit) -> bool {
        self.may_dial(permit, address.ip()).is_ok()
    }

    async fn candidates(&self, permit: &Permit) -> Result<Vec<SocketAddr>, Refusal> {
        let destination = permit.destination();
        let resolved = match &destination.host {
            Host::Address(address) => Arc::from([*address]),
            Host::Name(name) => self.resolver.addresses(name).await?,
        };
        let mut candidates = Vec::new();
        let mut refusal = None;
        for address in resolved.iter() {
            match self.may_dial(permit, *address) {
                Ok(()) => candidates.push(SocketAddr::new(*address, destination.port)),
                Err(refused) => refusal = Some(refused),
            }
        }
        match refusal {
            Some(refusal) if candidates.is_empty() => Err(refusal),
            _ => Ok(candidates),
        }
    }

    fn may_dial(&self, permit: &Permit, address: IpAddr) -> Result<(), Refusal> {
        permit.may_dial(address)?;
        match self.own.has(address) {
            Ok(false) => Ok(()),
            Ok(true) => {
                Err(Refusal::new(Reason::PrivateAddress, format!("{address} is an address of this machine")))
            }
            Err(error) => {
                let what = format!("whether {address} is an address of this machine can't be told");
                Err(self.failed(&error, Reason::PrivateAddress, what))
            }
        }
    }

    /// Out of descriptors or memory is our limit, not the server's fault.
    fn failed(&self, error: &io::Error, reason: Reason, what: String) -> Refusal {
        let reason = if is_exhaustion(error) { self.metrics.hit(Limit::Descriptors).reason } else { reason };
        Refusal::new(reason, format!("{what}: {error}"))
    }

    /// The first that answers; a new one is tried when the stagger is over or as soon as one failed.
    async fn race(&self, candidates: &[SocketAddr]) -> io::Result<(SocketAddr, TcpStream)> {
        let mut waiting = candidates.iter().copied();
        // In this task: tasks of their own would wake other threads for nothing, and could connect after a cut (G7).
        let mut trying = FuturesUnordered::new();
        let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
        loop {
            let next = waiting.next();
            if let Some(address) = next {
                let connecting = (self.connect)(address);
                trying.push(async move { connecting.await.map(|stream| (address, stream)) });
            }
            let patience = async {
                match next {
                    Some(_) => tokio::time::sleep(STAGGER).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                tried = trying.next() => match tried {
                    Some(Ok(connected)) => return Ok(connected),
                    Some(Err(error)) => failure = error,
                    None => return Err(failure),
                },
                () = patience => {}
            }
        }
    }
}

fn is_exhaustion(error: &io::Error) -> bool {
    use nix::errno::Errno;
    matches!(
        error.raw_os_error().map(Errno::from_raw),
        Some(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM | Errno::EAGAIN)
    )
}
