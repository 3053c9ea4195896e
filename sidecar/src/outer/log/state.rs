//! How the log is doing, for those who look.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::WhenFull;
use crate::outer::monitor::Trouble;

/// Shared by the writer and by those who open records.
#[derive(Debug, Default)]
pub(super) struct State {
    broken: AtomicBool,
    stalled: AtomicBool,
    /// Why it can't be written, or put aside.
    failed: Mutex<Failed>,
}

#[derive(Debug, Default)]
struct Failed {
    writing: Option<String>,
    rotating: Option<String>,
}

impl State {
    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }

    /// The writer has failed, or succeeded again.
    pub(super) fn wrote(&self, result: Result<(), &io::Error>) {
        if result.is_ok() && !self.is_broken() {
            return;
        }
        if let Err(error) = result
            && !self.is_broken()
        {
            tracing::error!(%error, "the decision log can't be written");
        } else if result.is_ok() {
            tracing::info!("the decision log can be written again");
        }
        self.failed().writing = result.err().map(ToString::to_string);
        self.broken.store(result.is_err(), Ordering::Release);
    }

    /// The file was put aside, or could not be.
    pub(super) fn rotated(&self, result: Result<(), &io::Error>) {
        if let Err(error) = result {
            tracing::error!(%error, "the decision log can't be put aside, and grows on");
        }
        self.failed().rotating = result.err().map(ToString::to_string);
    }

    /// The queue was full for too long, or is not any more.
    pub(super) fn stalled(&self, stalled: bool) {
        if self.is_stalled() != stalled {
            self.stalled.store(stalled, Ordering::Relaxed);
        }
    }

    /// What is wrong.
    pub(super) fn troubles(&self, when_full: WhenFull) -> Vec<Trouble> {
        let failed = self.failed();
        let then = match when_full {
            WhenFull::Stop => "new flows are refused",
            WhenFull::Continue => "flows go on, and some may not be recorded",
        };
        let writing = failed.writing.as_ref().map(|error| Trouble {
            word: "log-unwritable",
            detail: format!("the decision log can't be written: {error}; {then}"),
        });
        let stalled = self
            .is_stalled()
            .then(|| Trouble { word: "log-slow", detail: format!("the decision log is too slow; {then}") });
        let rotating = failed.rotating.as_ref().map(|error| Trouble {
            word: "log-not-put-aside",
            detail: format!("the decision log can't be put aside, and grows on: {error}"),
        });
        writing.into_iter().chain(stalled).chain(rotating).collect()
    }

    fn failed(&self) -> MutexGuard<'_, Failed> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
