//! What a client is told to do, and what it tells of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One piece of work. All of them are bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Job {
    /// Moves this many bytes on each of some connections at once; they are open before the clock starts.
    Bulk { carrier: Carrier, direction: Direction, connections: usize, bytes: u64 },
    /// Opens connections, each until its first byte has come, by so many threads at once.
    Connect { parallel: usize, count: usize },
    /// Requests on one connection, one after the other.
    Requests { carrier: Carrier, count: usize },
    /// DNS questions, so many of them on the way at once.
    Questions { in_flight: usize, count: usize },
    /// Tries something that is refused.
    Refusals { kind: Refusal, count: usize },
    /// Opens connections and keeps them until the client ends.
    Hold { count: usize },
    /// Opens connections that never finish their hello, and keeps them as long.
    Dawdle { count: usize },
}

/// What the bytes travel in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Carrier {
    /// A recorded ClientHello, then anything: no cryptography is measured.
    Tls,
    /// HTTP/1.1.
    Http,
    /// Anything from the first byte, by a `tcp://` entry.
    Tcp,
}

/// Which way, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// The ways to be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// A ClientHello with a name that no entry permits.
    TlsName,
    /// The same in HTTP.
    HttpHost,
    /// A ClientHello to a port that no entry permits.
    TlsPort,
    /// A silent client at such a port: it waits for a server that speaks first.
    SilentPort,
    /// A DNS question for such a name.
    DnsName,
    /// A datagram.
    Udp,
}

/// How it went.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// From the start of the clock to the end of the work.
    pub(crate) seconds: f64,
    /// What each piece took, in microseconds; empty for bulk.
    pub(crate) each: Vec<f64>,
}

impl Outcome {
    pub(crate) fn new(took: Duration, each: Vec<Duration>) -> Self {
        Self { seconds: took.as_secs_f64(), each: each.iter().map(|time| time.as_secs_f64() * 1e6).collect() }
    }
}

impl Carrier {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tls => "tls",
            Self::Http => "http",
            Self::Tcp => "tcp",
        }
    }
}

impl Direction {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }
}
