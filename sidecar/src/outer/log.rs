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
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::metrics::{Limit, Metrics};
use super::summary::Tally;

mod line;
mod record;
mod state;
#[cfg(test)]
mod tests;
mod writer;

pub use record::Kind;
use record::Place;
pub(crate) use record::{Entry, Record, Verdict};
use state::State;

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
    Ended(Entry),
}

/// Where attempts are recorded.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Option<mpsc::Sender<Line>>,
    opens: bool,
    when_full: WhenFull,
    state: Arc<State>,
    ids: AtomicU64,
    tally: Arc<Tally>,
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Writer(Option<JoinHandle<Result<(), io::Error>>>);

impl Log {
    /// Starts the writer of a log, or a log that only counts.
    pub(crate) fn start(to: Option<LogTo>, metrics: Arc<Metrics>) -> Result<(Self, Writer), io::Error> {
        let Some(to) = to else { return Ok((Self::counting(metrics), Writer(None))) };
        let (log, lines) = Self::unwritten(to.opens, to.when_full, metrics);
        let state = Arc::clone(&log.state);
        let sink = writer::Sink::new(to.file, to.rotation);
        // A thread of its own: a log on a slow disk or behind a full pipe blocks nobody's runtime.
        let write = move || writer::write(lines, sink, &state);
        let thread = std::thread::Builder::new().name("log".into()).spawn(write)?;
        Ok((log, Writer(Some(thread))))
    }

    fn unwritten(opens: bool, when_full: WhenFull, metrics: Arc<Metrics>) -> (Self, mpsc::Receiver<Line>) {
        let (queue, lines) = mpsc::channel(PLACES);
        (Self { queue: Some(queue), opens, when_full, ..Self::counting(metrics) }, lines)
    }

    fn counting(metrics: Arc<Metrics>) -> Self {
        Self {
            queue: None,
            opens: false,
            when_full: WhenFull::Stop,
            state: Arc::default(),
            ids: AtomicU64::new(1),
            tally: Arc::new(Tally::new(metrics)),
        }
    }

    /// Takes the place of one attempt, waiting a moment while there is none.
    pub(crate) async fn open(&self, phase: Arc<Phase>) -> Result<Record, Refusal> {
        let (place, opening) = match &self.queue {
            None => (Place::Nowhere, None),
            Some(queue) => self.places(queue).await?,
        };
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        Ok(Record::new(id, phase, place, opening, Arc::clone(&self.tally)))
    }

    /// The place of the record, and that of the line for its opening.
    async fn places(
        &self,
        queue: &mpsc::Sender<Line>,
    ) -> Result<(Place, Option<mpsc::OwnedPermit<Line>>), Refusal> {
        let broken = self.state.is_broken();
        let reserved = match (self.when_full, broken) {
            (WhenFull::Stop, true) => None,
            // Nobody is to wait for what may never come.
            (WhenFull::Continue, true) => queue.clone().try_reserve_owned().ok(),
            (_, false) => timeout(PATIENCE, queue.clone().reserve_owned()).await.ok().and_then(Result::ok),
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

    /// What was counted so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What is wrong with it.
    pub(crate) fn complaints(&self) -> Vec<String> {
        self.state.complaints(self.when_full)
    }

    /// The one refusal that leaves no record: there is nowhere to write it. It is counted.
    fn unwritable(&self) -> Refusal {
        self.tally.unrecorded();
        self.tally.metrics().hit(Limit::Log)
    }
}

impl Writer {
    /// Waits until everything is written; all [`Log`]s and [`Record`]s must be gone.
    pub(crate) fn finish(self) -> Result<(), io::Error> {
        match self.0.map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written,
            Some(Err(_)) => Err(io::Error::other("the log's writer panicked")),
        }
    }
}
