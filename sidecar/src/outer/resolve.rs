//! closedbook's own resolver: what a permitted name stands for.
//!
//! A query is built from the [`Name`] of the policy's vocabulary and nothing else, so no byte that the client chose
//! freely reaches an upstream; the cache keeps answers as long as they say (their TTL) and no longer.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use closedbook_policy::{Name, Reason, Refusal};
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ProtocolConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::op::Query;
use hickory_resolver::proto::rr::{Name as DnsName, RData, RecordType};
use hickory_resolver::{Hosts, TokioResolver, system_conf};
use thiserror::Error;
use tokio::sync::{Semaphore, watch};

use super::monitor::Trouble;

#[cfg(test)]
mod tests;

/// Whom closedbook asks for the addresses of a permitted name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upstreams {
    /// The servers of `/etc/resolv.conf`, and `/etc/hosts` before them, both read once. The search list is not used.
    System,
    /// These servers, and nothing else.
    Servers(Vec<SocketAddr>),
}

/// Why there is no resolver.
#[derive(Debug, Error)]
pub enum ResolverError {
    /// `/etc/resolv.conf` is missing or unreadable.
    #[error("the system's resolver configuration can't be read")]
    System(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No server to ask.
    #[error("no DNS server is configured")]
    NoServer,
    /// The resolver could not be set up.
    #[error("the resolver can't be set up")]
    Setup(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// One try of one server. Two tries fit into the dialler's ten seconds, with time left to connect.
const TRY: Duration = Duration::from_secs(2);

/// Lookups under way; the rest waits its turn.
const PARALLEL: usize = 256;

/// How long the other address family is waited for when one is there (RFC 8305 section 3).
const RESOLUTION_DELAY: Duration = Duration::from_millis(50);

/// Addresses of one name that are looked at.
const ADDRESSES: usize = 32;

type Answer = Result<Arc<[IpAddr]>, Refusal>;

/// Resolves names, one lookup per name at a time, however many ask.
#[derive(Clone)]
pub(crate) struct Resolver(Arc<Inner>);

struct Inner {
    upstream: TokioResolver,
    hosts: Option<Hosts>,
    turns: Semaphore,
    /// What the last lookup failed with, if it got no answer at all.
    silence: Mutex<Option<String>>,
    under_way: Mutex<HashMap<Name, watch::Sender<Option<Answer>>>>,
}

impl Resolver {
    /// A resolver that asks these upstreams. Reads the system's files now and never again: in a shared file system the
    /// task may change them later.
    pub(crate) fn new(upstreams: &Upstreams) -> Result<Self, ResolverError> {
        let (servers, hosts) = match upstreams {
            Upstreams::Servers(servers) => {
                (servers.iter().map(|server| name_server(*server)).collect(), None)
            }
            Upstreams::System => {
                let (config, _) = system_conf::read_system_conf().map_err(system)?;
                // A missing hosts file says nothing.
                (config.name_servers, Hosts::from_system().ok())
            }
        };
        Self::asking(servers, hosts)
    }

    fn asking(servers: Vec<NameServerConfig>, hosts: Option<Hosts>) -> Result<Self, ResolverError> {
        if servers.is_empty() {
            return Err(ResolverError::NoServer);
        }
        let config = ResolverConfig::from_parts(None, Vec::new(), servers);
        let upstream = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
            .with_options(options())
            .build()
            .map_err(|error| ResolverError::Setup(Box::new(error)))?;
        let turns = Semaphore::new(PARALLEL);
        Ok(Self(Arc::new(Inner {
            upstream,
            hosts,
            turns,
            silence: Mutex::default(),
            under_way: Mutex::default(),
        })))
    }

    /// So many lookups at once, and no more than by default.
    pub(crate) fn at_most(&self, lookups: usize) {
        self.0.turns.forget_permits(PARALLEL.saturating_sub(lookups.max(1)));
    }

    /// Somebody has waited for it in vain.
    pub(crate) fn is_silent(&self) {
        self.0.hears(Some("no answer in time".into()));
    }

    /// What is wrong with whom it asks: nobody has answered the last question.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        let silence = self.0.silence.lock().unwrap_or_else(PoisonError::into_inner);
        silence
            .as_ref()
            .map(|error| Trouble { word: "resolver-silent", detail: format!("no resolver answers: {error}") })
    }

    /// The addresses of a name, IPv6 and IPv4 alternating, IPv6 first (RFC 8305 section 4).
    ///
    /// Given up when nobody waits for them any more: a name that a switch of phase has closed is not asked for again.
    pub(crate) async fn addresses(&self, name: &Name) -> Answer {
        let mut answer = {
            let mut under_way = self.0.under_way();
            match under_way.get(name) {
                Some(sender) => sender.subscribe(),
                None => {
                    let (inner, wanted) = (Arc::clone(&self.0), name.clone());
                    let mut looking = Box::pin(async move { inner.look_up(&wanted).await });
                    // What is in the cache is there at once, and a task of its own would only wake another thread.
                    let mut now = Context::from_waker(Waker::noop());
                    if let Poll::Ready(answer) = looking.as_mut().poll(&mut now) {
                        return answer;
                    }
                    let (sender, answer) = watch::channel(None);
                    under_way.insert(name.clone(), sender.clone());
                    tokio::spawn(Arc::clone(&self.0).answer(name.clone(), looking, sender));
                    answer
                }
            }
        };
        let answer = answer.wait_for(Option::is_some).await.map(|answer| answer.clone());
        answer.ok().flatten().unwrap_or_else(|| Err(failed(name, "the lookup was given up")))
    }
}

impl Inner {
    async fn answer(
        self: Arc<Self>,
        name: Name,
        mut looking: Pin<Box<impl Future<Output = Answer>>>,
        sender: watch::Sender<Option<Answer>>,
    ) {
        loop {
            tokio::select! {
                answer = &mut looking => {
                    self.under_way().remove(&name);
                    sender.send_replace(Some(answer));
                    return;
                }
                () = sender.closed() => {
                    let mut under_way = self.under_way();
                    // Under the lock nobody joins. Who joined just before is waited for.
                    if sender.receiver_count() == 0 {
                        under_way.remove(&name);
                        return;
                    }
                }
            }
        }
    }

    fn under_way(&self) -> MutexGuard<'_, HashMap<Name, watch::Sender<Option<Answer>>>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look_up(&self, name: &Name) -> Answer {
        let _turn = self.turns.acquire().await;
        // Fully qualified, so no search list comes into play.
        let Ok(question) = DnsName::from_ascii(format!("{name}.")) else {
            return Err(failed(name, "it is no name of the DNS"));
        };
        let (v6, v4) = match self.in_hosts(&question) {
            Some(found) => found,
            None => {
                let asked = self.both_families(&question).await;
                self.heard(asked.as_ref().err());
                asked.map_err(|error| failed(name, error))?
            }
        };
        let found = alternate(v6, v4);
        if found.is_empty() { Err(failed(name, "it has no address")) } else { Ok(found) }
    }

    /// A name that does not exist is an answer too.
    fn heard(&self, error: Option<&NetError>) {
        self.hears(error.filter(|error| !matches!(error, NetError::Dns(_))).map(ToString::to_string));
    }

    fn hears(&self, silence: Option<String>) {
        *self.silence.lock().unwrap_or_else(PoisonError::into_inner) = silence;
    }

    /// What the hosts file says; a name that is in it is not asked for in the DNS, whichever families it has there.
    fn in_hosts(&self, name: &DnsName) -> Option<(Vec<IpAddr>, Vec<IpAddr>)> {
        let hosts = self.hosts.as_ref()?;
        let look_up = |kind| hosts.lookup_static_host(&Query::query(name.clone(), kind));
        let addresses = |lookup: Option<_>| lookup.as_ref().map(found).unwrap_or_default();
        match (look_up(RecordType::AAAA), look_up(RecordType::A)) {
            (None, None) => None,
            (v6, v4) => Some((addresses(v6), addresses(v4))),
        }
    }

    /// Asks for both families at once and waits for the slower one only a little.
    async fn both_families(&self, name: &DnsName) -> Result<(Vec<IpAddr>, Vec<IpAddr>), NetError> {
        let ask =
            |kind| async move { self.upstream.lookup(name.clone(), kind).await.map(|lookup| found(&lookup)) };
        let mut v6 = std::pin::pin!(ask(RecordType::AAAA));
        let mut v4 = std::pin::pin!(ask(RecordType::A));
        tokio::select! {
            first = &mut v6 => match first {
                Ok(first) if !first.is_empty() => Ok((first, soon(v4).await)),
                first => match v4.await {
                    Ok(second) => Ok((first.unwrap_or_default(), second)),
                    Err(error) => Err(error),
                },
            },
            first = &mut v4 => match first {
                Ok(first) if !first.is_empty() => Ok((soon(v6).await, first)),
                first => match v6.await {
                    Ok(second) => Ok((second, first.unwrap_or_default())),
                    // The A query is the one that everybody knows how to read.
                    Err(error) => Err(first.err().unwrap_or(error)),
                },
            },
        }
    }
}

async fn soon(other: impl Future<Output = Result<Vec<IpAddr>, NetError>>) -> Vec<IpAddr> {
    let other = tokio::time::timeout(RESOLUTION_DELAY, other).await;
    other.ok().and_then(Result::ok).unwrap_or_default()
}

fn found(lookup: &hickory_resolver::lookup::Lookup) -> Vec<IpAddr> {
    let address = |data: &RData| match data {
        RData::A(address) => Some(IpAddr::V4(address.0)),
        RData::AAAA(address) => Some(IpAddr::V6(address.0)),
        _ => None,
    };
    lookup.answers().iter().filter_map(|record| address(&record.data)).collect()
}

fn alternate(v6: Vec<IpAddr>, v4: Vec<IpAddr>) -> Arc<[IpAddr]> {
    let (mut v6, mut v4) = (v6.into_iter(), v4.into_iter());
    let mut both = Vec::new();
    loop {
        let pair = (v6.next(), v4.next());
        if pair == (None, None) || both.len() >= ADDRESSES {
            return both.into();
        }
        both.extend(pair.0);
        both.extend(pair.1);
    }
}

fn options() -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.ndots = 0;
    options.timeout = TRY;
    options.attempts = 2;
    options.use_hosts_file = ResolveHosts::Never;
    options.try_tcp_on_error = true;
    options.max_active_requests = 2 * PARALLEL;
    options.negative_max_ttl = Some(Duration::from_secs(5));
    options
}

fn name_server(server: SocketAddr) -> NameServerConfig {
    let connection = |protocol| {
        let mut connection = ConnectionConfig::new(protocol);
        connection.port = server.port();
        connection
    };
    // A server's "no such name" is believed: there is nobody else to ask but its equals.
    NameServerConfig::new(
        server.ip(),
        true,
        vec![connection(ProtocolConfig::Udp), connection(ProtocolConfig::Tcp)],
    )
}

fn system(error: NetError) -> ResolverError {
    ResolverError::System(Box::new(error))
}

fn failed(name: &Name, why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Reason::ResolveFailed, format!("{name} could not be resolved: {why}"))
}
