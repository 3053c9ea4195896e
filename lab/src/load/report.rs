use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

/// What one connection went through.
#[derive(Debug, Default)]
pub(super) struct Sample {
    pub(super) connected: Option<Duration>,
    pub(super) encrypted: Option<Duration>,
    pub(super) heads: Vec<Duration>,
    pub(super) totals: Vec<Duration>,
    pub(super) requests: Tally,
    pub(super) octets: u64,
    pub(super) checked: u64,
    pub(super) equal: u64,
    /// Why there was no connection.
    pub(super) trouble: Option<String>,
}

/// How a load went.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Connections made, TLS included.
    pub connections: Tally,
    /// Requests that were tried.
    pub requests: Tally,
    /// Milliseconds until TCP was connected.
    pub connect_ms: Percentiles,
    /// Milliseconds until the TLS handshake was done, from the start.
    pub tls_ms: Percentiles,
    /// Milliseconds from a request to its answer's head.
    pub head_ms: Percentiles,
    /// Milliseconds from a request to its answer's end.
    pub total_ms: Percentiles,
    /// Bodies whose content was checked.
    pub checked: u64,
    /// Bodies whose content was right.
    pub equal: u64,
    /// Octets of bodies.
    pub bytes: u64,
    /// From the first segment to the last answer.
    pub seconds: f64,
    /// Octets of bodies a second.
    pub bytes_per_second: f64,
    /// Requests a second.
    pub requests_per_second: f64,
}

/// How many went well, and why the others didn't.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Went well.
    pub ok: u64,
    /// Did not, by kind.
    pub errors: BTreeMap<String, u64>,
}

/// A distribution; all zero when nothing was measured.
#[derive(Debug, Default, Clone, Copy, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half is below.
    pub p50: f64,
    /// Nine of ten.
    pub p90: f64,
    /// Ninety-nine of a hundred.
    pub p99: f64,
    /// The slowest.
    pub max: f64,
}

impl Sample {
    /// A connection whose task broke.
    pub(super) fn lost() -> Self {
        Self { trouble: Some("panic".to_owned()), ..Self::default() }
    }
}

impl Tally {
    /// Counts a failure.
    pub(super) fn fail(&mut self, kind: String) {
        *self.errors.entry(kind).or_default() += 1;
    }

    /// All failures.
    pub fn failed(&self) -> u64 {
        self.errors.values().sum()
    }

    fn add(&mut self, other: &Self) {
        self.ok += other.ok;
        for (kind, count) in &other.errors {
            *self.errors.entry(kind.clone()).or_default() += count;
        }
    }
}

impl Percentiles {
    fn of(times: impl Iterator<Item = Duration>) -> Self {
        let mut times: Vec<f64> = times.map(|time| time.as_secs_f64() * 1000.0).collect();
        times.sort_by(f64::total_cmp);
        // Nearest rank.
        let at = |share: f64| {
            let rank = (share * times.len() as f64).ceil() as usize;
            times.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        Self { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }
}

impl Report {
    pub(super) fn of(samples: &[Sample], elapsed: Duration) -> Self {
        let mut connections = Tally::default();
        let mut requests = Tally::default();
        for sample in samples {
            requests.add(&sample.requests);
            match &sample.trouble {
                Some(trouble) => connections.fail(trouble.clone()),
                None => connections.ok += 1,
            }
        }
        let bytes: u64 = samples.iter().map(|sample| sample.octets).sum();
        let seconds = elapsed.as_secs_f64();
        Self {
            requests_per_second: requests.ok as f64 / seconds,
            connections,
            requests,
            connect_ms: Percentiles::of(samples.iter().filter_map(|sample| sample.connected)),
            tls_ms: Percentiles::of(samples.iter().filter_map(|sample| sample.encrypted)),
            head_ms: Percentiles::of(samples.iter().flat_map(|sample| sample.heads.iter().copied())),
            total_ms: Percentiles::of(samples.iter().flat_map(|sample| sample.totals.iter().copied())),
            checked: samples.iter().map(|sample| sample.checked).sum(),
            equal: samples.iter().map(|sample| sample.equal).sum(),
            bytes,
            seconds,
            bytes_per_second: bytes as f64 / seconds,
        }
    }

    /// Whether nothing failed.
    pub fn is_clean(&self) -> bool {
        self.connections.failed() == 0 && self.requests.failed() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let times = (1..=100).rev().map(Duration::from_millis);
        let all = Percentiles::of(times);
        assert_eq!(all, Percentiles { p50: 50.0, p90: 90.0, p99: 99.0, max: 100.0 });
        assert_eq!(Percentiles::of([Duration::from_millis(7)].into_iter()).p50, 7.0);
        assert_eq!(Percentiles::of(std::iter::empty()), Percentiles::default());
    }

    #[test]
    fn what_failed_is_counted_by_kind() {
        let mut sample = Sample::default();
        sample.requests.ok = 2;
        sample.requests.fail("http-reset".to_owned());
        let report = Report::of(&[sample, Sample::lost(), Sample::lost()], Duration::from_secs(1));
        assert_eq!(report.connections.errors.get("panic"), Some(&2));
        assert_eq!((report.connections.ok, report.requests.ok, report.requests.failed()), (1, 2, 1));
        assert!(!report.is_clean());
    }
}
