//! The decision log: one record per attempt, written once, lost never.
//!
//! A record takes its place in the writer's queue *before* the attempt is looked at, so ending it (in order, by an early
//! return, by a cut, by a panic) needs no waiting and can't fail. When the writer falls behind, places run out and new
//! attempts wait a moment; when it can't write at all, new attempts are refused, or go on unrecorded if the operator
//! wants it so (G13).

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use closedbook_policy::{Phase, Refusal};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::metrics::{Limit, Metrics};
use super::monitor::Trouble;
use super::summary::Tally;

mod line;
mod recent;
mod record;
mod state;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use line::rfc3339;
pub(crate) use recent::{Follower, Heard, Recent};
pub use record::Kind;
use record::Place;
pub(crate) use record::{Entry, Record, Verdict};
use state::State;
use writer::Sink;

/// Attempts that may be alive or waiting to be written at once. The queue takes memory for those that wait only.
const PLACES: usize = 128 * 1024;

/// How long an attempt waits for its place behind a slow log. Then the log counts as one that can't be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where records go, and how.
#[derive(Debug)]
pub struct LogTo {
    /// The file, or whatever it is; added to.
    pub file: File,
    /// A line when a flow opens, too.
    pub opens: bool,
    /// What happens when it can't be written.
    pub when_full: WhenFull,
    /// When another file takes its place; none lets it grow.
    pub rotation: Option<Rotation>,
}

/// What happens to new attempts while the log can't be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// They are refused.
    #[default]
    Stop,
    /// They go on. What finds no room in memory is counted and not recorded, and health says degraded.
    Continue,
}

/// How a log that has grown is put aside.
pub struct Rotation {
    /// Octets that a file holds at most.
    pub most: u64,
    /// Puts the file aside and gives the next, or the same once more if it has not grown. Called by the log's own
    /// thread, between two lines.
    pub next: Box<dyn FnMut() -> io::Result<File> + Send>,
}

impl std::fmt::Debug for Rotation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rotation").field("most", &self.most).finish_non_exhaustive()
    }
}

/// What the writer is given.
#[derive(Debug)]
enum Line {
    /// A flow has opened.
    Opened(Entry),
    /// An attempt has ended.
    Ended(Arc<Entry>),
}

/// Attempts that one proxy numbers, out of all of a namespace.
const NUMBERS_EACH: u64 = 1_000_000_000;

/// Where attempts are recorded.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Option<mpsc::Sender<Line>>,
    opens: bool,
    when_full: WhenFull,
    state: Arc<State>,
    ids: AtomicU64,
    ledger: Arc<Ledger>,
}

/// Where an attempt that has ended is entered, beside the file.
#[derive(Debug)]
pub(crate) struct Ledger {
    tally: Tally,
    recent: Recent,
}

/// What will write the log, as soon as it is [started](Writer::start).
pub(crate) struct Writer(Option<Idle>);

struct Idle {
    lines: mpsc::Receiver<Line>,
    sink: Sink<File>,
    state: Arc<State>,
}

/// The thread that writes, and what tells that it has ended.
#[derive(Debug)]
pub(crate) struct Writing(Option<(Thread, oneshot::Receiver<()>)>);

type Thread = JoinHandle<Result<(), io::Error>>;

impl Log {
    /// A log that is written there, or one that only counts.
    pub(crate) fn to(to: Option<LogTo>, metrics: Arc<Metrics>) -> (Self, Writer) {
        let Some(to) = to else { return (Self::counting(metrics), Writer(None)) };
        let (log, lines) = Self::unwritten(PLACES, to.opens, to.when_full, metrics);
        let state = Arc::clone(&log.state);
        let sink = Sink::new(to.file, to.rotation);
        (log, Writer(Some(Idle { lines, sink, state })))
    }

    fn unwritten(
        places: usize,
        opens: bool,
        when_full: WhenFull,
        metrics: Arc<Metrics>,
    ) -> (Self, mpsc::Receiver<Line>) {
        let (queue, lines) = mpsc::channel(places);
        (Self { queue: Some(queue), opens, when_full, ..Self::counting(metrics) }, lines)
    }

    fn counting(metrics: Arc<Metrics>) -> Self {
        Self {
            queue: None,
            opens: false,
            when_full: WhenFull::Stop,
            state: Arc::default(),
            ids: AtomicU64::new(1),
            ledger: Arc::new(Ledger { tally: Tally::new(metrics), recent: Recent::default() }),
        }
    }

    /// Takes the place of one attempt, waiting a moment while there is none.
    pub(crate) async fn open(&self, phase: Arc<Phase>) -> Result<Record, Refusal> {
        let (place, opening) = match &self.queue {
            None => (Place::Nowhere, None),
            Some(queue) => self.places(queue).await?,
        };
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        Ok(Record::new(id, phase, place, opening, Some(Arc::clone(&self.ledger))))
    }

    /// The place of the record, and that of the line for its opening.
    async fn places(
        &self,
        queue: &mpsc::Sender<Line>,
    ) -> Result<(Place, Option<mpsc::OwnedPermit<Line>>), Refusal> {
        let broken = self.state.is_broken();
        let reserved = match self.when_full {
            WhenFull::Stop if broken => None,
            // Nobody is to wait for what may never come.
            WhenFull::Continue if broken || self.state.is_stalled() => queue.clone().try_reserve_owned().ok(),
            WhenFull::Stop | WhenFull::Continue => {
                timeout(PATIENCE, queue.clone().reserve_owned()).await.ok().and_then(Result::ok)
            }
        };
        self.state.stalled(reserved.is_none() && !broken);
        let Some(place) = reserved else {
            return match self.when_full {
                WhenFull::Stop => Err(self.unwritable()),
                WhenFull::Continue => Ok((Place::Lost, None)),
            };
        };
        // An opening that finds no place is told by its record alone.
        let opening = if self.opens { queue.clone().try_reserve_owned().ok() } else { None };
        Ok((Place::Queue(place), opening))
    }

    /// The numbers of a proxy that follows others begin so high that no two attempts of a namespace have the same.
    pub(crate) fn after(&self, proxies: u64) {
        self.ids.store(proxies.saturating_mul(NUMBERS_EACH).saturating_add(1), Ordering::Relaxed);
    }

    /// What was counted so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.ledger.tally
    }

    /// The attempts that ended last, and those that end from now on.
    pub(crate) fn recent(&self) -> &Recent {
        &self.ledger.recent
    }

    /// What is wrong with it.
    pub(crate) fn troubles(&self) -> Vec<Trouble> {
        self.state.troubles(self.when_full)
    }

    /// The one refusal that leaves no record: there is nowhere to write it. It is counted.
    fn unwritable(&self) -> Refusal {
        self.ledger.tally.unrecorded();
        self.ledger.tally.metrics().hit(Limit::Log)
    }
}

impl Writer {
    /// Starts writing, in a thread of its own: a log on a slow disk or behind a full pipe blocks nobody's runtime. Not
    /// before the process is confined, since a thread takes its restrictions from the one that starts it.
    pub(crate) fn start(self) -> Result<Writing, io::Error> {
        let Some(Idle { lines, sink, state }) = self.0 else { return Ok(Writing(None)) };
        let (ended, end) = oneshot::channel();
        let write = move || {
            // Goes with the thread, however that ends.
            let _ended: oneshot::Sender<()> = ended;
            writer::write(lines, sink, &state)
        };
        let thread = std::thread::Builder::new().name("log".into()).spawn(write)?;
        Ok(Writing(Some((thread, end))))
    }
}

impl Writing {
    /// Waits until everything is written; all [`Log`]s and [`Record`]s must be gone, or go meanwhile.
    pub(crate) async fn finish(self) -> Result<(), io::Error> {
        let Some((thread, end)) = self.0 else { return Ok(()) };
        // Nothing is ever sent: what is waited for is that nobody can any more.
        let _ = end.await;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the log's writer panicked")))
    }
}
