//! The decision log: one record per attempt, written once, lost never.
//!
//! A record takes its place in the writer's queue *before* the attempt is looked at, so ending it (in order, by an early
//! return, by a cut, by a panic) needs no waiting and can't fail. When the writer falls behind, places run out and new
//! attempts wait; when it can't write at all, new attempts are refused (G13).

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use closedbook_policy::{Phase, Reason, Refusal};
use tokio::sync::mpsc;

use super::summary::Tally;

mod line;
mod recent;
mod record;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use line::rfc3339;
pub(crate) use recent::{Follower, Heard, Recent};
pub use record::Kind;
pub(crate) use record::{Entry, Record, Verdict};

/// Attempts that may be alive or waiting to be written at once. The queue takes memory for those that wait only.
const PLACES: usize = 128 * 1024;

/// Attempts that one proxy numbers, out of all of a namespace.
const NUMBERS_EACH: u64 = 1_000_000_000;

/// Where attempts are recorded.
#[derive(Debug)]
pub(crate) struct Log {
    queue: Option<mpsc::Sender<Arc<Entry>>>,
    broken: Arc<AtomicBool>,
    ids: AtomicU64,
    ledger: Arc<Ledger>,
}

/// Where an attempt that has ended is entered, beside the file.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    tally: Tally,
    recent: Recent,
}

/// What will write the log, as soon as it is [started](Writer::start).
#[derive(Debug)]
pub(crate) struct Writer(Option<Idle>);

#[derive(Debug)]
struct Idle {
    entries: mpsc::Receiver<Arc<Entry>>,
    file: File,
    broken: Arc<AtomicBool>,
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Writing(Option<JoinHandle<Result<(), io::Error>>>);

impl Log {
    /// A log that is written to this file, or one that only counts.
    pub(crate) fn to(file: Option<File>) -> (Self, Writer) {
        let Some(file) = file else { return (Self::new(None), Writer(None)) };
        let (log, entries) = Self::unwritten();
        let broken = Arc::clone(&log.broken);
        (log, Writer(Some(Idle { entries, file, broken })))
    }

    fn unwritten() -> (Self, mpsc::Receiver<Arc<Entry>>) {
        let (queue, entries) = mpsc::channel(PLACES);
        (Self::new(Some(queue)), entries)
    }

    fn new(queue: Option<mpsc::Sender<Arc<Entry>>>) -> Self {
        Self { queue, broken: Arc::default(), ids: AtomicU64::new(1), ledger: Arc::default() }
    }

    /// Takes the place of one attempt, waiting while there is none.
    pub(crate) async fn open(&self, phase: Arc<Phase>) -> Result<Record, Refusal> {
        let place = match &self.queue {
            None => None,
            Some(_) if self.broken.load(Ordering::Acquire) => return Err(self.unwritable()),
            Some(queue) => match queue.clone().reserve_owned().await {
                Ok(place) => Some(place),
                Err(_) => return Err(self.unwritable()),
            },
        };
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        Ok(Record::new(id, phase, place, Arc::clone(&self.ledger)))
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

    /// Whether records can't be written now.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// The one refusal that leaves no record: there is nowhere to write it. It is counted.
    fn unwritable(&self) -> Refusal {
        self.ledger.tally.unrecorded();
        Refusal::new(Reason::Limit, "the decision log can't be written")
    }
}

impl Writer {
    /// Starts writing, in a thread of its own: a log on a slow disk or behind a full pipe blocks nobody's runtime. Not
    /// before the process is confined, since a thread takes its restrictions from the one that starts it.
    pub(crate) fn start(self) -> Result<Writing, io::Error> {
        let Some(Idle { entries, file, broken }) = self.0 else { return Ok(Writing(None)) };
        let write = move || writer::write(entries, file, &broken);
        let thread = std::thread::Builder::new().name("log".into()).spawn(write)?;
        Ok(Writing(Some(thread)))
    }
}

impl Writing {
    /// Waits until everything is written; all [`Log`]s and [`Record`]s must be gone.
    pub(crate) fn finish(self) -> Result<(), io::Error> {
        match self.0.map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(written)) => written,
            Some(Err(_)) => Err(io::Error::other("the log's writer panicked")),
        }
    }
}
