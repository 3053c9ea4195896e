//! What the proxy counts about itself, as OpenMetrics text; and which limits it has hit.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use closedbook_policy::{Reason, Refusal};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::log::{Entry, Verdict};
use super::monitor::Load;
use super::process::Process;

mod limit;
pub(crate) mod serve;
#[cfg(test)]
mod tests;

pub(crate) use limit::Limit;

/// How long a limit that was hit makes the proxy degraded.
const RECENT: Duration = Duration::from_secs(60);

/// All counters, gauges and histograms.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    attempts: Family<Attempt, Counter>,
    bytes: Family<Direction, Counter>,
    limits: Family<Hit, Counter>,
    unrecorded: Counter,
    packets: Gauge,
    /// From accept to whole evidence.
    pub(crate) hello: Histogram,
    /// One decision.
    pub(crate) decision: Histogram,
    /// Resolving and connecting, of dials that succeeded.
    pub(crate) dial: Histogram,
    live: Live,
    process: Process,
    last_hits: Mutex<[Option<Instant>; Limit::ALL.len()]>,
}

/// What is looked up when somebody asks.
#[derive(Debug, Default)]
struct Live {
    flows: Gauge,
    hellos: Gauge,
    dns_connections: Gauge,
    dials: Gauge,
    degraded: Gauge,
    epoch: Gauge,
    resident: Gauge<u64, AtomicU64>,
    open: Gauge<u64, AtomicU64>,
    most_open: Gauge<u64, AtomicU64>,
}

/// The state of the proxy at the moment of a look at its metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) load: Load,
    pub(crate) degraded: bool,
    pub(crate) epoch: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Attempt {
    kind: &'static str,
    verdict: &'static str,
    reason: &'static str,
    phase: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Direction {
    direction: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Hit {
    limit: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            attempts: Family::default(),
            bytes: Family::default(),
            limits: Family::default(),
            unrecorded: Counter::default(),
            packets: Gauge::default(),
            hello: Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0]),
            decision: Histogram::new(exponential_buckets(1e-6, 4.0, 10)),
            dial: Histogram::new([
                0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
            ]),
            live: Live::default(),
            process: Process::open(),
            last_hits: Mutex::default(),
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    /// Counts an attempt that has ended.
    pub(crate) fn ended(&self, entry: &Entry) {
        let attempt = Attempt {
            kind: entry.kind.word(),
            verdict: entry.verdict.word(),
            // A label without a value is the same as none.
            reason: entry.reason.map_or("", Reason::word),
            phase: entry.phase.name().to_owned(),
        };
        self.attempts.get_or_create(&attempt).inc();
        if entry.verdict != Verdict::Deny {
            self.bytes.get_or_create(&UP).inc_by(entry.bytes_up);
            self.bytes.get_or_create(&DOWN).inc_by(entry.bytes_down);
        }
    }

    /// Counts an attempt that is not in the log.
    pub(crate) fn unrecorded(&self) {
        self.unrecorded.inc();
    }

    /// Counts refused packets that have no record; fewer if some were taken for such.
    pub(crate) fn packets(&self, unrecorded: i64) {
        self.packets.inc_by(unrecorded);
    }

    /// A limit is reached: counts it, and says so to whom it hits.
    pub(crate) fn hit(&self, limit: Limit) -> Refusal {
        self.limits.get_or_create(&Hit { limit: limit.word() }).inc();
        let mut hits = self.last_hits.lock().unwrap_or_else(PoisonError::into_inner);
        let last = hits.get_mut(limit as usize).and_then(|last| last.replace(Instant::now()));
        drop(hits);
        // Once a minute: a task that runs into a limit does so thousands of times.
        if last.is_none_or(|last| last.elapsed() >= RECENT) {
            tracing::warn!(limit = limit.word(), "{}", limit.detail());
        }
        limit.refusal()
    }

    /// The process that counts here.
    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// The limits that were hit in the last minute.
    pub(crate) fn recent_hits(&self) -> Vec<Limit> {
        let hits = self.last_hits.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = |limit: &&Limit| {
            hits.get(**limit as usize).is_some_and(|hit| hit.is_some_and(|hit| hit.elapsed() < RECENT))
        };
        Limit::ALL.iter().filter(recent).copied().collect()
    }

    /// The text, in the OpenMetrics format 1.0.
    pub(crate) fn text(&self, now: Now) -> String {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let Load { connections, hellos, dns_connections, dials, descriptors, memory } = now.load;
        self.live.flows.set(count(connections.0));
        self.live.hellos.set(count(hellos.0));
        self.live.dns_connections.set(count(dns_connections.0));
        self.live.dials.set(count(dials.0));
        self.live.degraded.set(now.degraded.into());
        self.live.epoch.set(i64::try_from(now.epoch).unwrap_or(i64::MAX));
        self.live.resident.set(memory);
        self.live.open.set(descriptors.0);
        self.live.most_open.set(descriptors.1);
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn register(&mut self) {
        let Self { registry, attempts, bytes, limits, unrecorded, packets, .. } = self;
        let Self { hello, decision, dial, live, .. } = self;
        let build = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("closedbook_build", "The program", build);
        registry.register(
            "closedbook_attempts",
            "Attempts that have ended, as in the decision log",
            attempts.clone(),
        );
        registry.register_with_unit(
            "closedbook_moved",
            "Bytes of permitted attempts that have ended",
            Unit::Bytes,
            bytes.clone(),
        );
        registry.register("closedbook_limit_hits", "Refusals because a limit was reached", limits.clone());
        registry.register(
            "closedbook_unrecorded",
            "Attempts that are not in the decision log, since it could not be written",
            unrecorded.clone(),
        );
        registry.register(
            "closedbook_packets_unrecorded",
            "Refused packets that have no record, since there were too many at once",
            packets.clone(),
        );
        let mut time = |name, help, histogram: &Histogram| {
            registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
        };
        time("closedbook_hello", "From accept to a whole ClientHello or request head", hello);
        time("closedbook_decision", "One decision", decision);
        time("closedbook_dial", "Resolving and connecting, where it succeeded", dial);
        let mut gauge = |name, help, gauge: &Gauge| registry.register(name, help, gauge.clone());
        gauge("closedbook_flows", "Connections that have said what they want", &live.flows);
        gauge("closedbook_pending_hellos", "Connections that have not", &live.hellos);
        gauge("closedbook_dns_connections", "Connections of DNS over TCP", &live.dns_connections);
        gauge("closedbook_pending_dials", "Dials under way", &live.dials);
        gauge("closedbook_degraded", "1 if health says degraded", &live.degraded);
        gauge("closedbook_epoch", "Switches of phase so far, and one", &live.epoch);
        let mut process =
            |name, help, gauge: &Gauge<u64, AtomicU64>| registry.register(name, help, gauge.clone());
        process("process_open_fds", "Descriptors that are open", &live.open);
        process("process_max_fds", "Descriptors that may be open", &live.most_open);
        registry.register_with_unit(
            "process_resident_memory",
            "Memory in use",
            Unit::Bytes,
            live.resident.clone(),
        );
        // There from the start, so that an increase from nothing is one.
        for limit in Limit::ALL {
            drop(limits.get_or_create(&Hit { limit: limit.word() }));
        }
        for direction in [UP, DOWN] {
            drop(bytes.get_or_create(&direction));
        }
    }
}

const UP: Direction = Direction { direction: "up" };
const DOWN: Direction = Direction { direction: "down" };
