//! `--log` and what goes with it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use closedbook_kernel::descriptors;
use closedbook_sidecar::outer::{LogTo, Rotation, WhenFull};
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::keeper::Keeper;
use super::open_output;
use super::shelf::Shelf;
use crate::exit::Failure;

/// The least that a log may be put aside at.
const LEAST: u64 = 4096;

#[derive(Debug, Args)]
pub(crate) struct LogFlags {
    /// Write the decision log (JSON Lines) to this file; it is added to if it exists.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Put the log aside as FILE.1 before it grows beyond this size (4096, 64KiB, 100MB, ...).
    #[arg(long, value_name = "SIZE", requires = "log", value_parser = size)]
    log_max: Option<u64>,

    /// How many logs that were put aside are kept: FILE.1, the newest, to FILE.N.
    #[arg(long, value_name = "N", requires = "log_max", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    log_keep: u32,

    /// Write a line when a flow opens, too.
    #[arg(long, requires = "log")]
    log_open: bool,

    /// What happens to new connections when the log can't be written.
    #[arg(long, value_enum, value_name = "WHAT", requires = "log", default_value_t = Full::Stop)]
    log_full: Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Full {
    /// They are refused.
    Stop,
    /// They go on; what can't be recorded is counted.
    Continue,
}

/// A log that was opened by the user who asks for it.
#[derive(Debug)]
pub(crate) struct OpenLog {
    file: File,
    manner: Manner,
    shelf: Option<Shelf>,
    evidence: Option<Evidence>,
}

/// A log, with the process that puts it aside.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) file: File,
    pub(crate) manner: Manner,
    pub(crate) keeper: Option<Keeper>,
    evidence: Option<Evidence>,
    out_of_reach: Vec<PathBuf>,
}

/// How a log is written.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Manner {
    /// Octets of one file.
    most: Option<u64>,
    opens: bool,
    go_on: bool,
}

impl LogFlags {
    /// Opens it, before anything is started: a log that can't be written refuses to start (G13).
    pub(crate) fn open(&self) -> Result<Option<OpenLog>, Failure> {
        let Some(path) = &self.log else { return Ok(None) };
        let file = readable(open_output("--log", path)?, path);
        let shelf = self.log_max.map(|most| Shelf::at(path, &file, most, self.log_keep)).transpose()?;
        let manner =
            Manner { most: self.log_max, opens: self.log_open, go_on: self.log_full == Full::Continue };
        let evidence = Evidence::of("--log", path, &file)?;
        Ok(Some(OpenLog { file, manner, shelf, evidence }))
    }
}

/// The same file open for reading too, where it is a file and may be read: the writer looks whether its last line is
/// whole.
fn readable(file: File, path: &Path) -> File {
    match file.metadata() {
        Ok(meta) if meta.is_file() => OpenOptions::new().read(true).append(true).open(path).unwrap_or(file),
        _ => file,
    }
}

impl OpenLog {
    /// How it is written.
    pub(crate) fn manner(&self) -> Manner {
        self.manner
    }

    /// Starts the process that puts it aside, if it is to be. This process must have one thread.
    pub(crate) fn start(self) -> Result<Recorder, Failure> {
        let Self { file, manner, shelf, evidence } = self;
        let place = evidence.as_ref().map(Evidence::place);
        let mut out_of_reach: Vec<PathBuf> = place.map(Path::to_owned).into_iter().collect();
        if let (Some(place), Some(shelf)) = (place, &shelf) {
            out_of_reach.extend(shelf.names_aside().map(|name| place.with_file_name(name)));
        }
        let keeper = shelf.map(Keeper::start).transpose()?;
        Ok(Recorder { file, manner, keeper, evidence, out_of_reach })
    }
}

impl Recorder {
    /// What the command must not reach: the file, and those that were or will be put aside.
    pub(crate) fn out_of_reach(&self) -> &[PathBuf] {
        &self.out_of_reach
    }

    /// Whether the log's path leads to the log, at the end, when no proxy is left.
    pub(crate) fn verify(&self) -> Result<(), Failure> {
        let Some(evidence) = &self.evidence else { return Ok(()) };
        let Some(keeper) = &self.keeper else { return evidence.verify(&self.file) };
        let current = keeper.line().and_then(Asker::over).and_then(|mut asker| asker.ask(Keeper::CURRENT));
        let current = current.map_err(|error| {
            Failure::refused(format!("whether the log is what this run wrote can't be told: {error}"))
                .remedy("look who killed the process that puts it aside")
        })?;
        evidence.verify(&current)
    }

    /// For a proxy in this process.
    pub(crate) fn log_to(&self) -> io::Result<LogTo> {
        let keeper = self.keeper.as_ref().map(Keeper::line).transpose()?;
        self.manner.log_to(self.file.try_clone()?, keeper)
    }
}

impl Manner {
    /// The log as the proxy takes it: this file, and whom to ask for the next.
    pub(crate) fn log_to(self, file: File, keeper: Option<UnixStream>) -> io::Result<LogTo> {
        let (file, rotation) = match (self.most, keeper) {
            (Some(most), Some(line)) => {
                let mut asker = Asker::over(line)?;
                // An earlier proxy may have had this one put aside.
                let file = asker.ask(Keeper::CURRENT)?;
                (file, Some(Rotation { most, next: Box::new(move || asker.ask(Keeper::NEXT)) }))
            }
            _ => (file, None),
        };
        let when_full = if self.go_on { WhenFull::Continue } else { WhenFull::Stop };
        Ok(LogTo { file, opens: self.opens, when_full, rotation })
    }
}

/// How long an answer may take. The log goes on in the old file then.
const PATIENCE: Duration = Duration::from_secs(5);

/// The proxy's end of a line to the [`Keeper`].
struct Asker {
    line: UnixStream,
    /// Answers that did not come in time and may still come.
    owed: u32,
}

impl Asker {
    fn over(line: UnixStream) -> io::Result<Self> {
        line.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { line, owed: 0 })
    }

    fn ask(&mut self, what: u8) -> io::Result<File> {
        while self.owed > 0 {
            self.hear_once()?;
        }
        self.line.write_all(&[what])?;
        self.owed += 1;
        self.hear_once()?.ok_or_else(|| io::Error::other("the process that puts it aside could not"))
    }

    /// The next answer; none is in one that says no.
    fn hear_once(&mut self) -> io::Result<Option<File>> {
        match descriptors::receive(&self.line) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the process that puts it aside does not answer"))
            }
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            heard => {
                self.owed = self.owed.saturating_sub(1);
                Ok(heard.ok().and_then(|mut received| received.pop()).map(File::from))
            }
        }
    }
}

/// `4096`, `64KiB`, `100MB`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "" | "B" => 1,
        "K" | "kB" | "KB" => 1_000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("a number with B, KB, MB, GB, KiB, MiB or GiB".into()),
    };
    let number: u64 = number.parse().map_err(|_| "a size begins with a whole number")?;
    match number.checked_mul(scale) {
        None => Err("too large".into()),
        Some(size) if size < LEAST => Err(format!("at least {LEAST}")),
        Some(size) => Ok(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_written() {
        assert_eq!(size("4096"), Ok(4096));
        assert_eq!(size("100MB"), Ok(100_000_000));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("1G"), Ok(1_000_000_000));
        for wrong in
            ["", "MB", "-1", "1.5MB", "4095", "1 MB", "1TB", "99999999999999999999", "99999999999GiB"]
        {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
