//! How long the command may take.

use std::time::{Duration, Instant};

/// What timeout(1) ends with too.
pub(super) const OVER: u8 = 124;
/// How long it has to end once it is told to.
const NOTICE: Duration = Duration::from_secs(5);

/// The time that is left.
pub(super) enum Limit {
    /// As much as it wants.
    None,
    /// Until then, and so many seconds in all.
    Until(Instant, u64),
    /// It was told to end, and has until then.
    Told(Instant),
}

/// What is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Nothing.
    Nothing,
    /// The command is to be told that its time is over: so many seconds.
    Tell(u64),
    /// It had its notice.
    End,
}

impl Limit {
    /// From now on.
    pub(super) fn of(seconds: Option<u64>) -> Self {
        let until =
            |seconds| Some(Limit::Until(Instant::now().checked_add(Duration::from_secs(seconds))?, seconds));
        // A time that no clock can show does not come.
        seconds.and_then(until).unwrap_or(Limit::None)
    }

    /// How long nothing is due.
    pub(super) fn patience(&self) -> Option<Duration> {
        match self {
            Limit::None => None,
            Limit::Until(until, _) | Limit::Told(until) => {
                Some(until.saturating_duration_since(Instant::now()))
            }
        }
    }

    /// Whether the command was told.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Limit::Told(_))
    }

    /// What is due now; once.
    pub(super) fn due(&mut self) -> Due {
        match *self {
            Limit::Until(until, seconds) if until <= Instant::now() => {
                *self = Limit::Told(Instant::now() + NOTICE);
                Due::Tell(seconds)
            }
            Limit::Told(until) if until <= Instant::now() => Due::End,
            _ => Due::Nothing,
        }
    }
}
