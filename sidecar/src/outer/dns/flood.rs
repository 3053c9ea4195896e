//! DNS questions come at a pace: beyond it they are refused, and beyond that dropped, so that a flood fills neither the
//! processor nor the log (G16).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use closedbook_policy::{Reason, Refusal};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::outer::Outer;
use crate::outer::limits::{Bucket, Limits};
use crate::outer::log::Kind;
use crate::outer::metrics::{Limit, Metrics};
use crate::outer::stop::Stop;

/// How often a flood is recorded at most.
const INTERVAL: Duration = Duration::from_secs(1);

/// The pace of questions.
#[derive(Debug)]
pub(crate) struct Flood {
    questions: Bucket,
    refusals: Bucket,
    dropped: AtomicU64,
    news: Notify,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// It is ruled on.
    Answer,
    /// It is refused, with a record.
    Refuse,
    /// It is dropped, and counted in the record of the flood.
    Drop,
}

impl Flood {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            questions: Bucket::new(limits.questions),
            refusals: Bucket::new(limits.refusals),
            dropped: AtomicU64::new(0),
            news: Notify::new(),
        }
    }

    /// What becomes of the next question.
    pub(super) fn pace(&self, metrics: &Metrics) -> Pace {
        if self.questions.take() {
            return Pace::Answer;
        }
        if self.refusals.take() {
            return Pace::Refuse;
        }
        metrics.hit(Limit::DnsRate);
        self.dropped.fetch_add(1, Ordering::Relaxed);
        self.news.notify_one();
        Pace::Drop
    }
}

/// Records what was dropped, in one record a second, until `stop`.
pub(crate) async fn report(outer: Arc<Outer>, mut stop: Stop) {
    loop {
        let stopped = tokio::select! {
            () = stop.told() => true,
            () = outer.questions.news.notified() => timeout(INTERVAL, stop.told()).await.is_ok(),
        };
        record(&outer).await;
        if stopped {
            return;
        }
    }
}

async fn record(outer: &Outer) {
    let dropped = outer.questions.dropped.swap(0, Ordering::Relaxed);
    if dropped == 0 {
        return;
    }
    if let Ok(mut record) = outer.log.open(outer.ruling.now()).await {
        record.note(|entry| {
            entry.kind = Kind::Dns;
            entry.port = Some(53);
        });
        let detail = format!("{dropped} questions were dropped: {}", Limit::DnsRate.detail());
        record.deny(&Refusal::new(Reason::Limit, detail));
    }
}
