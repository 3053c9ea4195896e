//! Everything that arrives in the lab, in the order it was noticed.
//!
//! A leak that gets no answer is a leak all the same, so what counts is arrival: each listener and the packet tap
//! write here. Nothing is ever sampled: what could not be kept is counted ([`Witness::lost`]), so that "the witness
//! saw nothing" can be believed.

mod arrival;
mod nonce;
pub(crate) mod packet;
pub(crate) mod tap;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ring::hmac;
use tokio::sync::watch;

pub(crate) use arrival::hex;
pub use arrival::{Arrival, Kind};
pub use nonce::{find as find_nonce, fresh as fresh_nonce};

use crate::LabError;

/// Arrivals kept in memory. The file has them all, up to [`FILE_LIMIT`].
const MEMORY_LIMIT: usize = 100_000;
/// Octets written to the file before arrivals are only counted: a load test must not fill the disk.
const FILE_LIMIT: u64 = 256 * 1024 * 1024;

/// The record of one lab. Cheap to clone; all clones are the same record.
#[derive(Clone)]
pub struct Witness(Arc<Inner>);

struct Inner {
    record: Mutex<Record>,
    count: watch::Sender<u64>,
    lost: AtomicU64,
    key: hmac::Key,
}

#[derive(Default)]
struct Record {
    arrivals: VecDeque<Arrival>,
    file: Option<File>,
    written: u64,
}

impl Witness {
    /// A record in memory, and in the file if one is named. The file is made anew, for its owner alone.
    pub(crate) fn new(log: Option<&Path>) -> Result<Self, LabError> {
        let file = log.map(create).transpose()?;
        let random = ring::rand::SystemRandom::new();
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &random)
            .map_err(|_| rustls::Error::FailedToGetRandomBytes)?;
        let record = Mutex::new(Record { file, ..Record::default() });
        Ok(Self(Arc::new(Inner { record, count: watch::Sender::new(0), lost: AtomicU64::new(0), key })))
    }

    /// What has arrived since the start or the last [`reset`](Self::reset), oldest first.
    pub fn arrivals(&self) -> Vec<Arrival> {
        self.record().arrivals.iter().cloned().collect()
    }

    /// Whether anything that arrived carried this nonce.
    pub fn saw(&self, nonce: &str) -> bool {
        self.record().arrivals.iter().any(|arrival| arrival.carries(nonce))
    }

    /// Waits until something that arrived satisfies `wanted`; `None` when `within` has passed first.
    pub async fn seen(&self, wanted: impl Fn(&Arrival) -> bool, within: Duration) -> Option<Arrival> {
        let mut count = self.0.count.subscribe();
        let search = async {
            loop {
                count.mark_unchanged();
                let found = self.record().arrivals.iter().find(|arrival| wanted(arrival)).cloned();
                if found.is_some() {
                    return found;
                }
                // The sender lives as long as this witness.
                count.changed().await.ok()?;
            }
        };
        tokio::time::timeout(within, search).await.ok().flatten()
    }

    /// Forgets what has arrived. The file is kept as it is.
    pub fn reset(&self) {
        self.record().arrivals.clear();
        self.0.lost.store(0, Ordering::Relaxed);
    }

    /// Arrivals that are not in [`arrivals`](Self::arrivals): pushed out of memory, or dropped by the kernel before
    /// the tap could read them. With any lost, absence proves nothing.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// HMAC-SHA-256 of a nonce under this lab's key, as 32 hex digits: what only the lab itself can answer.
    pub fn proof(&self, nonce: &str) -> String {
        let tag = hmac::sign(&self.0.key, nonce.as_bytes());
        arrival::hex(tag.as_ref().get(..16).unwrap_or_default())
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, arrival: Arrival) {
        let mut record = self.record();
        if !record.write(&arrival) {
            tracing::warn!("the witness can't write its file any more");
        }
        if record.arrivals.len() == MEMORY_LIMIT {
            record.arrivals.pop_front();
            self.add_lost(1);
        }
        record.arrivals.push_back(arrival);
        drop(record);
        self.0.count.send_modify(|count| *count += 1);
    }

    pub(crate) fn add_lost(&self, count: u64) {
        self.0.lost.fetch_add(count, Ordering::Relaxed);
    }
}

impl Record {
    /// One line, written at once: readers of the file look at it while the lab runs. False once it fails.
    fn write(&mut self, arrival: &Arrival) -> bool {
        let Some(file) = self.file.as_mut().filter(|_| self.written < FILE_LIMIT) else {
            return true;
        };
        let Ok(mut line) = serde_json::to_vec(arrival) else {
            return false;
        };
        line.push(b'\n');
        self.written += line.len() as u64;
        if file.write_all(&line).is_err() {
            self.file = None;
            return false;
        }
        true
    }
}

fn create(path: &Path) -> Result<File, LabError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path).map_err(|source| LabError::File { action: "create", path: path.to_owned(), source })
}
