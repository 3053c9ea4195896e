//! The proxy over the time of a run: one that dies is replaced, a few times; then the run ends.
//!
//! Nothing is opened by that: the rules stand, and while nobody listens every client is refused at once (G6).

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::proxy::{Proxy, START, Start};
use crate::exit::Failure;
use crate::flags::log::Recorder;
use crate::sidecar::config::Report;

/// Proxies that may be started in the place of dead ones within [`WINDOW`]. What kills more of them than that is no
/// accident.
const RESTARTS: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);

/// How long the second of them within [`WINDOW`] is waited with; each further one twice as long. The first is started at
/// once.
const PAUSE: Duration = Duration::from_millis(100);

/// The proxy, and what is needed to start another.
pub(super) struct Service {
    /// Ends before what it was started with: who puts the log aside waits until nobody can ask any more.
    state: State,
    start: Start,
    handoffs: UnixStream,
    /// When proxies were replaced, the latest last.
    replaced: VecDeque<Instant>,
    replacements: usize,
}

enum State {
    /// It has said that it serves.
    Serving(Proxy),
    /// It will say so until then, or is given up.
    Starting(Proxy, Instant),
    /// There is none; the next is started then.
    Waiting(Instant),
    /// It was told to end, by somebody else, and has left a report.
    Ended(Proxy),
    /// There is none any more.
    Gone,
}

impl Service {
    /// Starts the first proxy.
    pub(super) fn start(start: Start, handoffs: UnixStream) -> Result<Self, Failure> {
        let proxy = Proxy::start(&start, &handoffs)?;
        let state = State::Starting(proxy, Instant::now() + START);
        Ok(Self { state, start, handoffs, replaced: VecDeque::new(), replacements: 0 })
    }

    /// Waits until the first proxy serves. One that can't ends the run.
    pub(super) fn wait_until_ready(&mut self) -> Result<(), Failure> {
        self.state = match std::mem::replace(&mut self.state, State::Gone) {
            State::Starting(mut proxy, _) => {
                proxy.wait_until_ready()?;
                State::Serving(proxy)
            }
            state => state,
        };
        Ok(())
    }

    /// What to wait for: readable when there is something to [attend](Service::attend) to.
    pub(super) fn watched(&self) -> Option<BorrowedFd<'_>> {
        match &self.state {
            State::Serving(proxy) => Some(proxy.as_fd()),
            // Its death closes the line too.
            State::Starting(proxy, _) => Some(proxy.line().as_fd()),
            State::Waiting(_) | State::Ended(_) | State::Gone => None,
        }
    }

    /// How long to wait for it.
    pub(super) fn patience(&self) -> Option<Duration> {
        match &self.state {
            State::Starting(_, until) | State::Waiting(until) => {
                Some(until.saturating_duration_since(Instant::now()))
            }
            _ => None,
        }
    }

    /// Deals with a proxy that has died, or has said something, or has not for too long; starts one whose time has come.
    /// An error if there will be none any more.
    pub(super) fn attend(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.state, State::Gone) {
            State::Serving(proxy) if proxy.has_reported() => {
                eprintln!("closedbook: the proxy was told to end; the command has no network from here on");
                // No other is started, so nobody is left who would answer the operator.
                (self.start.control, self.start.metrics) = (None, None);
                self.state = State::Ended(proxy);
            }
            State::Serving(proxy) => self.replace(&proxy.obituary())?,
            State::Starting(mut proxy, _) => match proxy.word(Duration::ZERO) {
                Ok(()) => {
                    eprintln!("closedbook: the proxy serves again");
                    self.state = State::Serving(proxy);
                }
                Err(failure) => {
                    proxy.kill();
                    let _ = proxy.obituary();
                    self.replace(&format!("could not be started again: {failure}"))?;
                }
            },
            State::Waiting(until) if until <= Instant::now() => {
                let proxy = Proxy::start(&self.start, &self.handoffs)?;
                self.state = State::Starting(proxy, Instant::now() + START);
            }
            state @ (State::Waiting(_) | State::Ended(_) | State::Gone) => self.state = state,
        }
        Ok(())
    }

    /// Has another one started, unless there were too many.
    fn replace(&mut self, how: &str) -> Result<(), Failure> {
        let now = Instant::now();
        while self.replaced.front().is_some_and(|then| now.duration_since(*then) > WINDOW) {
            self.replaced.pop_front();
        }
        let Some(pause) = pause(self.replaced.len()) else {
            return Err(Failure::bug(format!(
                "the proxy {how}, after {RESTARTS} others within a minute: the run ends"
            ))
            .remedy(
                "if it was killed, look who kills it (for want of memory, the kernel: dmesg); else report it",
            ));
        };
        self.replaced.push_back(now);
        self.replacements += 1;
        eprintln!(
            "closedbook: the proxy {how}; another is started, and until it serves all connections are refused"
        );
        self.state = State::Waiting(now + pause);
        Ok(())
    }

    /// Ends it; what was refused since the last start, and the log.
    pub(super) fn stop(self) -> (Option<Report>, Option<Recorder>) {
        if self.replacements > 0 {
            eprintln!(
                "closedbook: the proxy was started again {} times; what was refused before the last time is in the \
                 decision log alone",
                self.replacements
            );
        }
        let report = match self.state {
            State::Serving(proxy) | State::Ended(proxy) => proxy.stop(),
            State::Starting(proxy, _) => {
                proxy.kill();
                let _ = proxy.obituary();
                None
            }
            State::Waiting(_) | State::Gone => None,
        };
        (report, self.start.log)
    }
}

/// How long the next proxy is waited with, when so many were replaced lately; none if there is to be no other.
fn pause(replaced: usize) -> Option<Duration> {
    match replaced {
        0 => Some(Duration::ZERO),
        RESTARTS.. => None,
        _ => Some(PAUSE * (1 << (replaced - 1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What dies at once, over and over, does not keep a processor busy, and comes to an end.
    #[test]
    fn pauses_grow_and_end() {
        let pauses: Vec<u128> = (0..).map_while(pause).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [0, 100, 200, 400, 800]);
    }
}
