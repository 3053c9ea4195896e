//! What the proxy spends at most.

use std::sync::{Mutex, PoisonError};

use tokio::time::Instant;

use super::copy::pipe;

pub(crate) mod dials;
pub(crate) mod room;
#[cfg(test)]
mod tests;

/// What the proxy spends at most, DNS included. Each bound refuses with the reason `limit`, says in the record which one
/// it was, and is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections that have said what they want, at once. One takes two descriptors.
    pub flows: usize,
    /// Connections that have not, at once: places of their own, so that slow clients take none from the others.
    pub hellos: usize,
    /// Octets that those hold together, of what they have said so far.
    pub hello_bytes: usize,
    /// DNS over TCP: connections at once.
    pub dns_connections: usize,
    /// Dials under way at once. No destination gets more than three quarters of them.
    pub dials: usize,
    /// Lookups under way at once. One takes two descriptors.
    pub lookups: usize,
    /// Directions that move bulk through a pipe at once; the others copy. One takes two descriptors.
    pub pipes: usize,
    /// DNS questions that are answered.
    pub questions: Rate,
    /// DNS questions beyond those that are refused; what comes beyond these is dropped and counted.
    pub refusals: Rate,
}

/// How often something may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// In the long run.
    pub per_second: u32,
    /// At once, after a silence.
    pub burst: u32,
}

/// Descriptors for what is not counted below: listeners, log, runtime, standard streams, those who ask at the control
/// socket or for metrics; and room.
const RESERVE: u64 = 128;

/// More connections than this are no task's at work.
const MOST: usize = 65_536;

impl Limits {
    /// The bounds for a process that may open so many descriptors. All of them reached at once, some are left.
    pub fn for_descriptors(descriptors: u64) -> Self {
        let budget = usize::try_from(descriptors.saturating_sub(RESERVE)).unwrap_or(usize::MAX);
        let share = |part: usize, least: usize, most: usize| (budget / part).clamp(least, most);
        let hellos = share(6, 16, 4_096);
        let dns_connections = share(16, 8, 512);
        let lookups = share(32, 4, 256);
        let pipes = share(16, 4, pipe::MOST);
        let taken = hellos + dns_connections + 2 * lookups + 2 * pipes;
        let flows = (budget.saturating_sub(taken) / 2).clamp(8, MOST);
        Self {
            flows,
            hellos,
            hello_bytes: 64 * 1024 * 1024,
            dns_connections,
            dials: flows.min(4_096),
            lookups,
            pipes,
            // Ten thousand clients that start at once ask for both families each.
            questions: Rate { per_second: 2_000, burst: 20_000 },
            refusals: Rate { per_second: 200, burst: 2_000 },
        }
    }
}

impl Default for Limits {
    /// For as many descriptors as a connection-rich program usually may open.
    fn default() -> Self {
        Self::for_descriptors(65_536)
    }
}

/// A token bucket.
#[derive(Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    level: Mutex<(f64, Instant)>,
}

impl Bucket {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, level: Mutex::new((f64::from(rate.burst), Instant::now())) }
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&self) -> bool {
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let (tokens, since) = *level;
        let now = Instant::now();
        // Never set back: the clock is monotonic, and another thread may have looked at it later.
        let passed = now.saturating_duration_since(since).as_secs_f64();
        let tokens = (tokens + passed * f64::from(self.rate.per_second)).min(f64::from(self.rate.burst));
        let taken = tokens >= 1.0;
        *level = (if taken { tokens - 1.0 } else { tokens }, now.max(since));
        taken
    }
}
