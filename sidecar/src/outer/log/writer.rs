//! The writing side of the log.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::line::Opening;
use super::state::State;
use super::{Line, Rotation};

/// Bytes that are gathered into one write.
const BATCH: usize = 64 * 1024;

/// How long a log that could not be written is left alone.
const RETRY: Duration = Duration::from_millis(500);

/// How long a log that could not be put aside goes on growing before that is tried again.
const ROTATE_AGAIN: Duration = Duration::from_secs(10);

/// Writes until every sender is gone. What a failed write left over is tried again, from the byte where it stopped,
/// so that a log on a disk that was full for a while has no hole and no torn line.
pub(super) fn write<W: Write>(
    mut lines: mpsc::Receiver<Line>,
    mut sink: Sink<W>,
    state: &State,
) -> io::Result<()> {
    while let Some(line) = lines.blocking_recv() {
        sink.take(&line);
        while !sink.is_full()
            && let Ok(line) = lines.try_recv()
        {
            sink.take(&line);
        }
        sink.make_room(state);
        while let Err(error) = sink.flush() {
            state.wrote(Err(&error));
            // The proxy has ended and waits for this thread alone: give up instead of waiting for ever.
            if lines.is_closed() {
                return Err(error);
            }
            std::thread::sleep(RETRY);
        }
        state.wrote(Ok(()));
    }
    Ok(())
}

/// A file, with what is still to be written to it.
pub(super) struct Sink<W> {
    file: W,
    /// Octets that the file has.
    size: u64,
    /// Whole lines, except that the beginning of the first may be in the file already.
    pending: Vec<u8>,
    rotation: Option<Next<W>>,
}

/// What gives the next file.
struct Next<W> {
    most: u64,
    next: Box<dyn FnMut() -> io::Result<(W, u64)> + Send>,
    not_before: Option<Instant>,
}

impl Sink<File> {
    /// Adds to this file, until the rotation gives another.
    pub(super) fn new(file: File, rotation: Option<Rotation>) -> Self {
        let rotation = rotation.map(|Rotation { most, mut next }| {
            let next = move || next().map(|file| (size(&file), file)).map(|(size, file)| (file, size));
            Next { most, next: Box::new(next), not_before: None }
        });
        // Whoever wrote before may have died within a line.
        let pending = if is_torn(&file) { vec![b'\n'] } else { Vec::new() };
        Self { size: size(&file), file, pending, rotation }
    }
}

/// Octets of the file; none of what has no end that one could go to. Written to it is at the end, wherever this goes.
fn size(mut file: &File) -> u64 {
    file.seek(SeekFrom::End(0)).unwrap_or_default()
}

/// Whether the file ends within a line. One that can't be read is not looked at.
fn is_torn(file: &File) -> bool {
    let mut last = [b'\n'];
    let end = size(file);
    end > 0 && file.read_at(&mut last, end - 1).is_ok() && last != [b'\n']
}

impl<W: Write> Sink<W> {
    #[cfg(test)]
    pub(super) fn of(file: W) -> Self {
        Self { file, size: 0, pending: Vec::new(), rotation: None }
    }

    #[cfg(test)]
    pub(super) fn rotating(
        file: W,
        most: u64,
        mut next: impl FnMut() -> io::Result<W> + Send + 'static,
    ) -> Self {
        let next = Box::new(move || next().map(|file| (file, 0)));
        Self { rotation: Some(Next { most, next, not_before: None }), ..Self::of(file) }
    }

    fn take(&mut self, line: &Line) {
        let start = self.pending.len();
        let written = match line {
            Line::Ended(entry) => serde_json::to_writer(&mut self.pending, &**entry),
            Line::Opened(entry) => serde_json::to_writer(&mut self.pending, &Opening(entry)),
        };
        match written {
            Ok(()) => self.pending.push(b'\n'),
            // Strings and numbers only: writing them to memory does not fail. If it did, no half line may stay.
            Err(_) => self.pending.truncate(start),
        }
    }

    /// Whether the batch should be written. Half of a small file, so that a batch does not make it overflow.
    fn is_full(&self) -> bool {
        let most = self.rotation.as_ref().map_or(u64::MAX, |next| next.most / 2);
        self.pending.len() >= usize::try_from(most).unwrap_or(BATCH).min(BATCH)
    }

    /// Goes over to the next file if the batch would make this one too large. Where that fails, this one grows on: a
    /// log that is too long is better than one with a hole.
    fn make_room(&mut self, state: &State) {
        let Some(next) = &mut self.rotation else { return };
        let too_large = self.size > 0 && self.size.saturating_add(self.pending.len() as u64) > next.most;
        if !too_large || next.not_before.is_some_and(|moment| Instant::now() < moment) {
            return;
        }
        match (next.next)() {
            Ok((file, size)) => {
                (self.file, self.size) = (file, size);
                next.not_before = None;
                state.rotated(Ok(()));
            }
            Err(error) => {
                next.not_before = Some(Instant::now() + ROTATE_AGAIN);
                state.rotated(Err(&error));
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            match self.file.write(&self.pending) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.pending.drain(..count);
                    self.size = self.size.saturating_add(count as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
