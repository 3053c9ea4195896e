//! The writing side of the log.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use super::Entry;

/// Bytes that are gathered into one write.
const BATCH: usize = 64 * 1024;

/// How long a log that could not be written is left alone.
const RETRY: Duration = Duration::from_millis(500);

/// Writes until every sender is gone. What a failed write left over is tried again, from the byte where it stopped,
/// so that a log on a disk that was full for a while has no hole and no torn line.
pub(super) fn write(
    mut entries: mpsc::Receiver<Arc<Entry>>,
    file: impl Write,
    broken: &AtomicBool,
) -> io::Result<()> {
    let mut sink = Sink { file, pending: Vec::new() };
    while let Some(entry) = entries.blocking_recv() {
        sink.take(&entry);
        while sink.pending.len() < BATCH
            && let Ok(entry) = entries.try_recv()
        {
            sink.take(&entry);
        }
        while let Err(error) = sink.flush() {
            if !broken.swap(true, Ordering::AcqRel) {
                tracing::error!(%error, "the decision log can't be written: new flows are refused");
            }
            // The proxy has ended and waits for this thread alone: give up instead of waiting for ever.
            if entries.is_closed() {
                return Err(error);
            }
            std::thread::sleep(RETRY);
        }
        broken.store(false, Ordering::Release);
    }
    sink.flush()
}

struct Sink<W> {
    file: W,
    pending: Vec<u8>,
}

impl<W: Write> Sink<W> {
    fn take(&mut self, entry: &Entry) {
        let start = self.pending.len();
        match serde_json::to_writer(&mut self.pending, entry) {
            Ok(()) => self.pending.push(b'\n'),
            // Strings and numbers only: writing them to memory does not fail. If it did, no half line may stay.
            Err(_) => self.pending.truncate(start),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            match self.file.write(&self.pending) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.pending.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
