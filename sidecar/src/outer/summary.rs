//! What was refused, counted for the line at the end of a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use closedbook_policy::Reason;

use super::log::{Entry, Kind, Verdict};
use super::metrics::Metrics;

/// Different refusals that are told apart; what comes beyond is counted together. A task that invents names must not
/// make the table grow without bound (G16).
const ROWS: usize = 4096;

/// What one run of the proxy did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// What was refused, most often first. Lookups of addresses and of service records, and names that only a resolver's
    /// search list made, are not here: nobody asked for them.
    pub refused: Vec<Refused>,
    /// Refusals beyond the size of that table.
    pub refused_more: u64,
    /// Attempts that are not in the decision log, because it could not be written.
    pub unrecorded: u64,
    /// Attempts that were permitted and ended by themselves.
    pub allowed: u64,
    /// Attempts that were permitted and cut.
    pub cut: u64,
    /// Bytes that went to servers, and came from them.
    pub bytes: (u64, u64),
    /// Of those, bytes that went by splice(2).
    pub spliced: u64,
    /// Packets that the kernel's rules refused and that have no record, since there were too many at once.
    pub packets_unrecorded: u64,
    /// Why the log is not complete, if it is not.
    pub log_error: Option<String>,
}

/// One row of [`Summary::refused`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The host name, where one was told, otherwise the address that was aimed at.
    pub host: String,
    /// The port that was aimed at; none for a DNS question.
    pub port: Option<u16>,
    /// What was attempted.
    pub kind: Kind,
    /// Why it was refused.
    pub reason: Reason,
    /// How often.
    pub times: u64,
}

/// The counters behind a [`Summary`] and behind the metrics.
#[derive(Debug)]
pub(crate) struct Tally {
    counts: Mutex<Counts>,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct Counts {
    rows: HashMap<Row, u64>,
    summary: Summary,
    denied: u64,
    reasons: BTreeMap<Reason, u64>,
}

/// How much of what there was so far. Noise is counted here like anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) allowed: u64,
    pub(crate) denied: u64,
    pub(crate) cut: u64,
    pub(crate) unrecorded: u64,
    pub(crate) bytes: (u64, u64),
    pub(crate) reasons: BTreeMap<Reason, u64>,
}

type Row = (Box<str>, Option<u16>, Kind, Reason);

impl Tally {
    pub(super) fn new(metrics: Arc<Metrics>) -> Self {
        Self { counts: Mutex::default(), metrics }
    }

    /// What is counted for those who watch.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(super) fn count(&self, entry: &Entry, spliced: u64) {
        self.metrics.ended(entry);
        let Ok(mut counts) = self.counts.lock() else { return };
        let counts = &mut *counts;
        counts.summary.bytes.0 += entry.bytes_up;
        counts.summary.bytes.1 += entry.bytes_down;
        counts.summary.spliced += spliced;
        if let Some(reason) = entry.reason {
            *counts.reasons.entry(reason).or_default() += 1;
        }
        if entry.verdict == Verdict::Deny {
            counts.denied += 1;
        }
        match (entry.verdict, entry.reason) {
            (Verdict::Allow, _) => counts.summary.allowed += 1,
            (Verdict::Cut, _) | (Verdict::Deny, None) => counts.summary.cut += 1,
            (Verdict::Deny, Some(_)) if entry.noise => {}
            (Verdict::Deny, Some(reason)) => counts.refused(entry, reason),
        }
    }

    pub(super) fn unrecorded(&self) {
        self.metrics.unrecorded();
        if let Ok(mut counts) = self.counts.lock() {
            counts.summary.unrecorded += 1;
        }
    }

    /// So many refused packets more, or fewer than was thought, have no record.
    pub(crate) fn packets(&self, unrecorded: i64) {
        self.metrics.packets(unrecorded);
        if let Ok(mut counts) = self.counts.lock() {
            let count = &mut counts.summary.packets_unrecorded;
            *count = count.saturating_add_signed(unrecorded);
        }
    }

    /// The sums so far.
    pub(crate) fn totals(&self) -> Totals {
        let Ok(counts) = self.counts.lock() else { return Totals::default() };
        let Summary { allowed, cut, unrecorded, bytes, .. } = counts.summary;
        Totals { allowed, denied: counts.denied, cut, unrecorded, bytes, reasons: counts.reasons.clone() }
    }

    /// What was counted so far.
    pub(crate) fn summary(&self) -> Summary {
        let Ok(counts) = self.counts.lock() else { return Summary::default() };
        let mut summary = counts.summary.clone();
        summary.refused = counts.rows.iter().filter(|(row, _)| !counts.is_noise(row)).map(refused).collect();
        summary.refused.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.host.cmp(&b.host)));
        summary
    }
}

impl Counts {
    fn refused(&mut self, entry: &Entry, reason: Reason) {
        let original = || entry.original.map(|original| original.ip().to_string().into_boxed_str());
        let host = entry.name.clone().or_else(original).unwrap_or_default();
        let port = if entry.kind == Kind::Dns { None } else { entry.port };
        let row = (host, port, entry.kind, reason);
        let full = self.rows.len() >= ROWS;
        match self.rows.get_mut(&row) {
            Some(times) => *times += 1,
            None if full => self.summary.refused_more += 1,
            None => drop(self.rows.insert(row, 1)),
        }
    }

    /// A reverse lookup, one of a service record (RFC 2782), which goes with one of the name itself, or a refused name
    /// with a search domain behind it: `example.org.corp.internal` beside `example.org`.
    fn is_noise(&self, (host, _, kind, _): &Row) -> bool {
        if *kind != Kind::Dns {
            return false;
        }
        if host.ends_with(".in-addr.arpa") || host.ends_with(".ip6.arpa") || host.starts_with('_') {
            return true;
        }
        let searched = |(other, ..): &Row| {
            other.contains('.') && host.strip_prefix(&**other).is_some_and(|rest| rest.starts_with('.'))
        };
        self.rows.keys().any(searched)
    }
}

fn refused(((host, port, kind, reason), times): (&Row, &u64)) -> Refused {
    Refused { host: host.to_string(), port: *port, kind: *kind, reason: *reason, times: *times }
}
