//! The proxy over the time of a run: one that dies is replaced, a few times.
//!
//! Nothing is opened by that: the rules stand, and while nobody listens every client is refused at once (G6).

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::proxy::{Proxy, START, Start};
use crate::exit::Failure;
use crate::sidecar::config::Report;

/// Proxies that may be started in the place of dead ones within [`WINDOW`]. What kills more of them than that is no
/// accident.
const RESTARTS: usize = 5;
const WINDOW: Duration = Duration::from_secs(60);

/// The proxy, and what is needed to start another.
pub(super) struct Service {
    start: Start,
    handoffs: UnixStream,
    state: State,
    /// When proxies were replaced, the latest last.
    replaced: VecDeque<Instant>,
    replacements: usize,
}

enum State {
    /// It has said that it serves.
    Serving(Proxy),
    /// It will say so until then, or is given up.
    Starting(Proxy, Instant),
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
        Ok(Self { start, handoffs, state, replaced: VecDeque::new(), replacements: 0 })
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
            State::Ended(_) | State::Gone => None,
        }
    }

    /// How long to wait for it.
    pub(super) fn patience(&self) -> Option<Duration> {
        match &self.state {
            State::Starting(_, until) => Some(until.saturating_duration_since(Instant::now())),
            _ => None,
        }
    }

    /// Deals with a proxy that has died, or has said something, or has not for too long.
    pub(super) fn attend(&mut self) {
        match std::mem::replace(&mut self.state, State::Gone) {
            State::Serving(proxy) if proxy.has_reported() => {
                eprintln!("closedbook: the proxy was told to end; the command has no network from here on");
                self.state = State::Ended(proxy);
                self.give_up();
            }
            State::Serving(proxy) => self.replace(&proxy.obituary()),
            State::Starting(mut proxy, _) => match proxy.word(Duration::ZERO) {
                Ok(()) => {
                    eprintln!("closedbook: the proxy serves again");
                    self.state = State::Serving(proxy);
                }
                Err(failure) => {
                    proxy.kill();
                    let _ = proxy.obituary();
                    self.replace(&format!("could not be started again: {failure}"));
                }
            },
            state @ (State::Ended(_) | State::Gone) => self.state = state,
        }
    }

    /// No other proxy is started, so nobody is left who would answer the operator.
    fn give_up(&mut self) {
        self.start.control = None;
    }

    /// Starts another one, unless there were too many.
    fn replace(&mut self, how: &str) {
        let now = Instant::now();
        while self.replaced.front().is_some_and(|then| now.duration_since(*then) > WINDOW) {
            self.replaced.pop_front();
        }
        if self.replaced.len() >= RESTARTS {
            eprintln!(
                "closedbook: the proxy {how}; it was started {RESTARTS} times within a minute and is not started again: \
                 the command has no network from here on"
            );
            self.give_up();
            return;
        }
        self.replaced.push_back(now);
        self.replacements += 1;
        eprintln!(
            "closedbook: the proxy {how}; another is started, and until it serves all connections are refused"
        );
        match Proxy::start(&self.start, &self.handoffs) {
            Ok(proxy) => self.state = State::Starting(proxy, now + START),
            Err(failure) => {
                eprintln!("closedbook: {failure}; the command has no network from here on");
                self.give_up();
            }
        }
    }

    /// Ends it; what was refused since the last start.
    pub(super) fn stop(self) -> Option<Report> {
        if self.replacements > 0 {
            eprintln!(
                "closedbook: the proxy was started again {} times; what was refused before the last time is in the \
                 decision log alone",
                self.replacements
            );
        }
        match self.state {
            State::Serving(proxy) | State::Ended(proxy) => proxy.stop(),
            State::Starting(proxy, _) => {
                proxy.kill();
                let _ = proxy.obituary();
                None
            }
            State::Gone => None,
        }
    }
}
