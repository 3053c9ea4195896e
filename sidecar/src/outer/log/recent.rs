//! The end of the log, in memory: for those who look at a running proxy.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::broadcast;

use super::Entry;

/// Records that are kept.
pub(crate) const KEPT: usize = 1000;

/// How far a follower may fall behind before it misses records.
const BEHIND: usize = 4096;

/// The last records, and a stream of those to come.
#[derive(Debug)]
pub(crate) struct Recent {
    kept: Mutex<VecDeque<Arc<Entry>>>,
    news: broadcast::Sender<Arc<Entry>>,
}

/// One who is told of every record from some moment on.
#[derive(Debug)]
pub(crate) struct Follower(broadcast::Receiver<Arc<Entry>>);

/// What a follower hears.
#[derive(Debug, Clone)]
pub(crate) enum Heard {
    Record(Arc<Entry>),
    /// So many records came faster than they were taken.
    Missed(u64),
}

impl Default for Recent {
    fn default() -> Self {
        Self { kept: Mutex::default(), news: broadcast::Sender::new(BEHIND) }
    }
}

impl Recent {
    pub(super) fn add(&self, entry: &Arc<Entry>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(entry));
        // Nobody may be listening. Told under the lock, so that a new follower misses nothing and gets nothing twice.
        let _ = self.news.send(Arc::clone(entry));
    }

    /// Up to so many of the last records, the oldest first, and whatever comes after them.
    pub(crate) fn follow(&self, last: usize) -> (Vec<Arc<Entry>>, Follower) {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let past = kept.iter().skip(kept.len().saturating_sub(last)).cloned().collect();
        (past, Follower(self.news.subscribe()))
    }
}

impl Follower {
    /// Waits for the next; none when the log is over.
    pub(crate) async fn next(&mut self) -> Option<Heard> {
        match self.0.recv().await {
            Ok(entry) => Some(Heard::Record(entry)),
            Err(broadcast::error::RecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
