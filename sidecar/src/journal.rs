//! What must outlive a proxy that dies: which made-up address stands for which name, and which phase is in force.
//!
//! A file in memory that `inner` makes, keeps open and never reads, and that each proxy of a namespace adds to before
//! what it says takes effect. A client may hold on to an address for as long as it likes, so after a restart no address
//! may stand for another name; and a proxy that begins anew must not begin in a wider phase (G6).

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use closedbook_kernel::descriptors;
use closedbook_policy::Name;
use serde::{Deserialize, Serialize};
use thiserror::Error;

#[cfg(test)]
mod tests;

const NAME: &CStr = c"closedbook-journal";

/// Bytes. A hundred thousand names take a third of it; the rest is for policies that are replaced.
const MOST: u64 = 64 * 1024 * 1024;

/// Where a proxy writes what its successor has to know.
#[derive(Debug)]
pub struct Journal {
    file: File,
    tail: Mutex<Tail>,
}

#[derive(Debug)]
struct Tail {
    length: u64,
    /// The policy that was written down last.
    policy: Option<Box<str>>,
}

/// What the former proxies of a namespace left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Past {
    /// How many there were.
    pub proxies: u64,
    /// The names that have a made-up address, in the order in which they got it.
    pub leases: Vec<Name>,
    /// The phases that were ever in force.
    pub entered: Vec<Box<str>>,
    /// What is in force, if it was ever switched.
    pub ruling: Option<PastRuling>,
}

/// A phase that was put in force by a former proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastRuling {
    /// The policy document, as JSON.
    pub policy: Box<str>,
    /// The phase.
    pub phase: Box<str>,
    /// Its epoch.
    pub epoch: u64,
}

/// Why a proxy can't go on where the former one stopped. It does not start.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file.
    #[error("what the former proxy left can't be read")]
    Io(#[from] io::Error),
    /// A line of it.
    #[error("line {line} of what the former proxy left makes no sense")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A phase before any policy.
    #[error("what the former proxy left names phase {0:?} of no policy")]
    NoPolicy(Box<str>),
    /// More than any proxy writes.
    #[error("what the former proxy left is too long: {0} bytes")]
    TooLong(u64),
}

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Entry<'a> {
    /// A proxy begins in this phase.
    Start(#[serde(borrow)] std::borrow::Cow<'a, str>),
    /// The next address is this name's.
    Lease(#[serde(borrow)] std::borrow::Cow<'a, str>),
    /// The policy of the phases from here on.
    Policy(#[serde(borrow)] std::borrow::Cow<'a, str>),
    /// This phase comes into force.
    Phase {
        #[serde(borrow)]
        name: std::borrow::Cow<'a, str>,
        epoch: u64,
    },
}

impl Journal {
    /// An empty one, for the first proxy of a namespace.
    pub fn blank() -> io::Result<File> {
        descriptors::memory_file(NAME)
    }

    /// Reads what former proxies left, to go on behind it.
    pub fn open(file: File) -> Result<(Self, Past), JournalError> {
        let length = file.metadata()?.len();
        if length > MOST {
            return Err(JournalError::TooLong(length));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact_at(&mut bytes, 0)?;
        // What a proxy was writing when it died never took effect.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        bytes.truncate(whole);
        file.set_len(whole as u64)?;
        let past = Past::read(&bytes)?;
        let policy = past.ruling.as_ref().map(|ruling| ruling.policy.clone());
        Ok((Self { file, tail: Mutex::new(Tail { length: whole as u64, policy }) }, past))
    }

    /// Notes that a proxy begins, in this phase.
    pub fn begin(&self, phase: &str) -> io::Result<()> {
        self.add(&[Entry::Start(phase.into())], |_| {})
    }

    /// Notes that the next address is this name's. To be called before anybody is told.
    pub fn lease(&self, name: &Name) -> io::Result<()> {
        self.add(&[Entry::Lease(name.as_str().into())], |_| {})
    }

    /// Notes that a phase of this policy comes into force. To be called before it does.
    pub fn ruling(&self, policy: &str, phase: &str, epoch: u64) -> io::Result<()> {
        let entry = Entry::Phase { name: phase.into(), epoch };
        let known = {
            let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.policy.as_deref() == Some(policy)
        };
        if known {
            return self.add(&[entry], |_| {});
        }
        // In one piece: a policy alone says nothing, but must not stand before the phase of another.
        self.add(&[Entry::Policy(policy.into()), entry], |tail| tail.policy = Some(policy.into()))
    }

    /// Makes it useless for a proxy that would have to go on after this one: it does not start (G6). For when something
    /// came into force that could not be noted. Two bytes, for which there is always room.
    pub fn spoil(&self) -> io::Result<()> {
        let _tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        (&self.file).write_all(b"?\n")
    }

    fn add(&self, entries: &[Entry<'_>], done: impl FnOnce(&mut Tail)) -> io::Result<()> {
        let mut text = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut text, entry)?;
            text.push(b'\n');
        }
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let length = tail.length + text.len() as u64;
        if length > MOST {
            return Err(io::ErrorKind::StorageFull.into());
        }
        (&self.file).write_all(&text)?;
        tail.length = length;
        done(&mut tail);
        Ok(())
    }
}

impl Past {
    fn read(bytes: &[u8]) -> Result<Self, JournalError> {
        let mut past = Self::default();
        let mut policy: Option<Box<str>> = None;
        for (index, text) in
            bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, text)| !text.is_empty())
        {
            let senseless = |source| JournalError::Line { line: index + 1, source };
            match serde_json::from_slice(text).map_err(|error| senseless(error.into()))? {
                Entry::Start(phase) => {
                    past.proxies += 1;
                    past.enter(&phase);
                }
                Entry::Lease(name) => {
                    past.leases.push(Name::parse(&name).map_err(|error| senseless(error.into()))?);
                }
                Entry::Policy(text) => policy = Some(text.into()),
                Entry::Phase { name, epoch } => {
                    let policy = policy.clone().ok_or_else(|| JournalError::NoPolicy(name.clone().into()))?;
                    past.enter(&name);
                    past.ruling = Some(PastRuling { policy, phase: name.into(), epoch });
                }
            }
        }
        Ok(past)
    }

    fn enter(&mut self, phase: &str) {
        if !self.entered.iter().any(|entered| **entered == *phase) {
            self.entered.push(phase.into());
        }
    }
}
