//! One attempt, from its first byte to its line in the log.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use closedbook_policy::{Phase, Reason, Refusal};
use serde::Serialize;
use time::OffsetDateTime;
use tokio::sync::mpsc::OwnedPermit;

use super::{Ledger, Line};
use crate::outer::copy::Moved;

/// What there is to say about one attempt.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) ts: OffsetDateTime,
    pub(crate) id: u64,
    /// The phase that decided, with its epoch and its policy.
    pub(crate) phase: Arc<Phase>,
    pub(crate) kind: Kind,
    pub(crate) name: Option<Box<str>>,
    pub(crate) port: Option<u16>,
    pub(crate) original: Option<SocketAddr>,
    pub(crate) dialled: Option<SocketAddr>,
    pub(crate) verdict: Verdict,
    pub(crate) reason: Option<Reason>,
    pub(crate) rule: Option<Box<str>>,
    pub(crate) bytes_up: u64,
    pub(crate) bytes_down: u64,
    pub(crate) ms: u64,
    pub(crate) detail: Option<Box<str>>,
    /// A refusal that nobody asked for; it is logged, and left out of the summary.
    pub(crate) noise: bool,
}

/// What was attempted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A TLS connection.
    Tls,
    /// One HTTP request.
    Http,
    /// One DNS question.
    Dns,
    /// A TCP connection that said nothing that was understood, or one of a `tcp://` entry.
    Tcp,
    /// A packet that the ruleset refused.
    Packet,
}

impl Kind {
    /// The stable word.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Tls => "tls",
            Kind::Http => "http",
            Kind::Dns => "dns",
            Kind::Tcp => "tcp",
            Kind::Packet => "packet",
        }
    }
}

/// What became of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    Allow,
    Deny,
    Cut,
}

impl Verdict {
    /// The stable word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Deny => "deny",
            Verdict::Cut => "cut",
        }
    }
}

/// Where a record will go.
#[derive(Debug)]
pub(super) enum Place {
    /// Into the queue.
    Queue(OwnedPermit<Line>),
    /// Nowhere, since there is no log.
    Nowhere,
    /// Nowhere, although there is a log: it can't be written, and the operator wants to go on.
    Lost,
}

/// The owner of one attempt's line. Ended by exactly one of [`Record::allow`], [`Record::deny`] and [`Record::cut`];
/// dropped before that, when the proxy stops or panics, it says that it was cut, without a reason.
#[derive(Debug)]
pub(crate) struct Record {
    entry: Option<Entry>,
    started: Instant,
    moved: Arc<Moved>,
    place: Option<Place>,
    /// Taken by the line that says that the flow has opened.
    opening: Option<OwnedPermit<Line>>,
    /// None where this is no attempt of the task.
    ledger: Option<Arc<Ledger>>,
}

impl Record {
    pub(super) fn new(
        id: u64,
        phase: Arc<Phase>,
        place: Place,
        opening: Option<OwnedPermit<Line>>,
        ledger: Option<Arc<Ledger>>,
    ) -> Self {
        let entry = Entry {
            ts: OffsetDateTime::now_utc(),
            id,
            phase,
            kind: Kind::Tcp,
            name: None,
            port: None,
            original: None,
            dialled: None,
            verdict: Verdict::Cut,
            reason: None,
            rule: None,
            bytes_up: 0,
            bytes_down: 0,
            ms: 0,
            detail: Some("closedbook stopped".into()),
            noise: false,
        };
        Self {
            entry: Some(entry),
            started: Instant::now(),
            moved: Arc::default(),
            place: Some(place),
            opening,
            ledger,
        }
    }

    /// For what is no attempt of the task, and goes nowhere.
    pub(crate) fn unwritten(phase: Arc<Phase>) -> Self {
        Self::new(0, phase, Place::Nowhere, None, None)
    }

    /// Whether the task made this attempt.
    pub(crate) fn is_of_the_task(&self) -> bool {
        self.ledger.is_some()
    }

    /// The number of this attempt.
    pub(crate) fn id(&self) -> u64 {
        self.entry.as_ref().map_or(0, |entry| entry.id)
    }

    /// Fills in what has become known.
    pub(crate) fn note(&mut self, fill: impl FnOnce(&mut Entry)) {
        if let Some(entry) = &mut self.entry {
            fill(entry);
        }
    }

    /// Its flow has opened: it was permitted, and its server is reached.
    pub(crate) fn opened(&mut self) {
        if let (Some(entry), Some(opening)) = (&self.entry, self.opening.take()) {
            opening.send(Line::Opened(entry.clone()));
        }
    }

    /// The phase that decided: what the line names.
    pub(crate) fn decided(&mut self, phase: &Arc<Phase>) {
        self.note(|entry| entry.phase = Arc::clone(phase));
    }

    /// Where the attempt's bytes are counted.
    pub(crate) fn moved(&self) -> &Arc<Moved> {
        &self.moved
    }

    /// It was permitted and ended by itself.
    pub(crate) fn allow(self) {
        self.end(Verdict::Allow, None, None);
    }

    /// It was permitted and ended by itself, and there is something to say about it.
    pub(crate) fn allow_with(self, detail: impl Into<Box<str>>) {
        self.end(Verdict::Allow, None, Some(detail.into()));
    }

    /// It was refused.
    pub(crate) fn deny(self, refusal: &Refusal) {
        self.end(Verdict::Deny, Some(refusal.reason), Some(refusal.detail.as_ref().into()));
    }

    /// It was permitted, and then not any more.
    pub(crate) fn cut(self, refusal: &Refusal) {
        self.end(Verdict::Cut, Some(refusal.reason), Some(refusal.detail.as_ref().into()));
    }

    fn end(mut self, verdict: Verdict, reason: Option<Reason>, detail: Option<Box<str>>) {
        self.note(|entry| {
            entry.verdict = verdict;
            entry.reason = reason;
            entry.detail = detail.filter(|detail| !detail.is_empty());
        });
        // The drop writes.
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let (Some(mut entry), Some(ledger)) = (self.entry.take(), &self.ledger) else { return };
        if std::thread::panicking() {
            entry.detail = Some("a fault of closedbook".into());
        }
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        entry.bytes_up = count(&self.moved.up);
        entry.bytes_down = count(&self.moved.down);
        entry.ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        ledger.tally.count(&entry, count(&self.moved.spliced));
        let entry = Arc::new(entry);
        ledger.recent.add(&entry);
        match self.place.take() {
            Some(Place::Queue(place)) => drop(place.send(Line::Ended(entry))),
            Some(Place::Lost) => ledger.tally.unrecorded(),
            Some(Place::Nowhere) | None => {}
        }
    }
}
