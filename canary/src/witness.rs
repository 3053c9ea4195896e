//! The witness's record: what arrived, whoever sent it.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::nonce::Nonce;
use crate::trial::Try;

/// What the witness wrote down while the probes ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What arrived.
    pub arrivals: Vec<Arrival>,
    /// Arrivals that it could not keep. With any, absence proves nothing.
    pub lost: u64,
    /// Whether it was shown to write down what arrives, after the last probe: by something that was sent to it then.
    pub alive: bool,
    /// Arrivals that were left out because they are nothing of the run's.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub others: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Record {
    /// Whether what it does not have has not arrived.
    pub fn believable(&self) -> Result<(), &'static str> {
        match (self.alive, self.lost) {
            (false, _) => Err("the witness was not shown to be alive at the end"),
            (true, 0) => Ok(()),
            (true, _) => Err("the witness could not write down everything"),
        }
    }

    /// With nothing in it that can't be one of these tries', and the number of the rest.
    pub fn kept_for<'a>(mut self, tries: impl Iterator<Item = &'a Try>) -> Self {
        let mut nonces = HashSet::new();
        let mut quiet = HashSet::new();
        for attempt in tries {
            nonces.insert(attempt.nonce.label());
            quiet.extend(attempt.aimed.filter(|_| attempt.quiet));
        }
        let before = self.arrivals.len();
        self.arrivals.retain(|arrival| {
            arrival.local.is_some_and(|local| quiet.contains(&local))
                || arrival.marks().any(|mark| nonces.contains(&mark))
        });
        self.others += u64::try_from(before - self.arrivals.len()).unwrap_or(u64::MAX);
        self
    }
}

/// A record in which arrivals are found by their marks: there can be thousands of them, and of tries.
#[derive(Debug)]
pub struct Index<'a> {
    record: &'a Record,
    by_mark: HashMap<String, Vec<&'a Arrival>>,
}

impl<'a> Index<'a> {
    /// Of this record.
    pub fn of(record: &'a Record) -> Self {
        let mut by_mark: HashMap<String, Vec<&'a Arrival>> = HashMap::new();
        for arrival in &record.arrivals {
            for mark in arrival.marks().collect::<HashSet<_>>() {
                by_mark.entry(mark).or_default().push(arrival);
            }
        }
        Self { record, by_mark }
    }

    /// The record.
    pub fn record(&self) -> &'a Record {
        self.record
    }

    /// What can be a try's: it bears the try's mark, or came to an address at which nobody else aims.
    pub fn find(&self, attempt: &Try) -> Vec<&'a Arrival> {
        let mark = attempt.nonce.label();
        match attempt.aimed.filter(|_| attempt.quiet) {
            None => self.by_mark.get(&mark).cloned().unwrap_or_default(),
            Some(quiet) => {
                let is_its = |arrival: &&Arrival| {
                    arrival.local == Some(quiet) || arrival.marks().any(|borne| borne == mark)
                };
                self.record.arrivals.iter().filter(is_its).collect()
            }
        }
    }
}

/// One thing that arrived: a line of the witness's file. Fields that are not needed here are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// What it was: `tls`, `http`, `dns`, `udp`, `tcp-syn`, ...
    pub proto: String,
    /// The address it was sent to.
    #[serde(default)]
    pub local: Option<IpAddr>,
    /// The port it was sent to.
    #[serde(default)]
    pub local_port: Option<u16>,
    /// The name it asked for.
    #[serde(default)]
    pub name: Option<String>,
    /// What the layer adds.
    #[serde(default)]
    pub detail: Option<String>,
    /// How its content begins, printable.
    #[serde(default)]
    pub ascii: String,
    /// The nonce that was found in it.
    #[serde(default)]
    pub nonce: Option<String>,
}

impl Arrival {
    /// All marks in it, lower case.
    fn marks(&self) -> impl Iterator<Item = String> {
        let texts = [self.nonce.as_deref(), self.name.as_deref(), self.detail.as_deref(), Some(&self.ascii)];
        texts.into_iter().flatten().flat_map(Nonce::all_in)
    }

    /// Whether it bears this mark, in whatever spelling.
    pub fn carries(&self, nonce: &Nonce) -> bool {
        let wanted = nonce.label();
        if wanted.is_empty() {
            return false;
        }
        let within = |text: &str| text.to_ascii_lowercase().contains(&wanted);
        [self.nonce.as_deref(), self.name.as_deref(), self.detail.as_deref(), Some(self.ascii.as_str())]
            .into_iter()
            .flatten()
            .any(within)
    }

    /// For people.
    pub fn shown(&self) -> String {
        let place = match (self.local, self.local_port) {
            (Some(ip), Some(port)) => std::net::SocketAddr::new(ip, port).to_string(),
            (Some(ip), None) => ip.to_string(),
            _ => "the witness".to_owned(),
        };
        match &self.name {
            Some(name) => format!("{} for {name} at {place}", self.proto),
            None => format!("{} at {place}", self.proto),
        }
    }
}
