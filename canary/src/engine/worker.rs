//! A worker: tries the probes of its order, and says what became of each, line by line.

use std::any::Any;
use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::plan::{Planned, plan};
use super::{Event, Line, Order, Outcome};
use crate::probe::{Moment, Probe};
use crate::surroundings::Surroundings;
use crate::trial::{Signals, Trial};

/// Probes at a time. They wait for answers most of the time.
const AT_ONCE: usize = 24;
/// Probes that wait for an event all wait at the same time.
const WAITING_AT_ONCE: usize = 64;

/// Reads an order, carries it out, and writes what came of it. Returns when all probes are over.
pub fn work(input: impl BufRead + Send + 'static, mut output: impl Write) -> io::Result<()> {
    let mut lines = input.lines();
    let order = lines.next().transpose()?.ok_or(io::ErrorKind::UnexpectedEof)?;
    let order: Order = serde_json::from_str(&order)?;
    if let Some(keep) = &order.keep {
        drop_capabilities(keep)?;
    }
    let around = Surroundings::look();
    let wanted = |planned: &Planned| {
        order.only.is_empty() || order.only.iter().any(|start| planned.probe.id.starts_with(start.as_str()))
    };
    let planned = plan(order.moment, order.level, &order.targets, &around, order.harness);
    let (mut run, skip): (Vec<_>, Vec<_>) =
        planned.into_iter().filter(wanted).partition(|planned| planned.missing.is_none());
    // What is about the first moment comes first.
    run.sort_by_key(|planned| planned.probe.id != "life-startup-race");
    say(&mut output, &Line::Begun { surroundings: Box::new(around.clone()), probes: run.len() })?;
    for Planned { probe, missing } in skip {
        let outcome = Outcome { id: probe.id.to_owned(), skipped: missing, broken: None, tries: Vec::new() };
        say(&mut output, &Line::Over(Box::new(outcome)))?;
    }
    let signals = Signals::new();
    let heard = signals.clone();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(event) => heard.tell(event),
                Err(_) => break,
            }
        }
        // Whoever gave the order has gone: nobody waits any longer.
        heard.tell(Event::Over);
    });
    try_all(&order, &around, run.iter().map(|planned| planned.probe), &signals, &mut output)
}

fn try_all(
    order: &Order,
    around: &Surroundings,
    probes: impl Iterator<Item = &'static Probe>,
    signals: &Signals,
    output: &mut impl Write,
) -> io::Result<()> {
    let queue: Arc<Mutex<VecDeque<&'static Probe>>> = Arc::new(Mutex::new(probes.collect()));
    let all = queue.lock().unwrap_or_else(PoisonError::into_inner).len();
    let (done, results) = mpsc::channel();
    let at_once = if order.moment == Moment::Phase { AT_ONCE } else { WAITING_AT_ONCE };
    let shared = Arc::new((order.clone(), around.clone()));
    for _ in 0..at_once.min(all) {
        let (queue, done, shared, signals) = (queue.clone(), done.clone(), shared.clone(), signals.clone());
        std::thread::spawn(move || {
            loop {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                let Some(probe) = next else { return };
                watch(probe, &shared, &signals, &done);
            }
        });
    }
    drop(done);
    let mut waiting = false;
    let mut over = 0;
    while over < all {
        match results.recv_timeout(Duration::from_millis(20)) {
            Ok(outcome) => {
                over += 1;
                say(output, &Line::Over(Box::new(outcome)))?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if order.moment != Moment::Phase && !waiting && signals.ready_probes() + over >= all {
            waiting = true;
            say(output, &Line::Waiting)?;
        }
    }
    Ok(())
}

/// Runs one probe in a thread of its own, and gives it up when its time is over: a probe that hangs must not hang the rest.
fn watch(
    probe: &'static Probe,
    shared: &Arc<(Order, Surroundings)>,
    signals: &Signals,
    done: &Sender<Outcome>,
) {
    let (over, result) = mpsc::channel();
    let (inner, told) = (shared.clone(), signals.clone());
    let spawned = std::thread::Builder::new().name(probe.id.to_owned()).spawn(move || {
        let (order, around) = &*inner;
        let mut trial = Trial::new(probe, order.level, &order.targets, around, told);
        let ended = catch_unwind(AssertUnwindSafe(|| (probe.run)(&mut trial)));
        // Nobody listens any more if it took too long.
        let _ = over.send(match ended {
            Ok(()) => Outcome { tries: trial.into_tries(), ..empty(probe) },
            Err(panic) => broken(probe, format!("a fault of the canary: {}", words(&*panic))),
        });
    });
    let outcome = match spawned {
        Err(error) => broken(probe, format!("no thread for it: {error}")),
        Ok(_) => wait(probe, &result, signals),
    };
    // The main thread outlives all of these.
    let _ = done.send(outcome);
}

/// The time a probe spends waiting for an event is not its own.
fn wait(probe: &'static Probe, result: &mpsc::Receiver<Outcome>, signals: &Signals) -> Outcome {
    let mut left = probe.within;
    loop {
        let began = Instant::now();
        let was_waiting = signals.is_awaited();
        match result.recv_timeout(left.min(Duration::from_millis(50))) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => return broken(probe, "it ended without a word"),
            Err(RecvTimeoutError::Timeout) if was_waiting => {}
            Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(began.elapsed()),
        }
        if left.is_zero() {
            return broken(probe, format!("not over after {} s", probe.within.as_secs()));
        }
    }
}

fn empty(probe: &Probe) -> Outcome {
    Outcome { id: probe.id.to_owned(), skipped: None, broken: None, tries: Vec::new() }
}

fn broken(probe: &Probe, why: impl Into<String>) -> Outcome {
    Outcome { broken: Some(why.into()), ..empty(probe) }
}

fn words(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic")
}

fn say(output: &mut impl Write, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    output.write_all(&text)?;
    output.flush()
}

/// Takes all capabilities but these from this process, for good.
fn drop_capabilities(keep: &[String]) -> io::Result<()> {
    use caps::{CapSet, CapsHashSet};
    let failed = |error: caps::errors::CapsError| io::Error::other(error.to_string());
    // A name that is not known is a fault of the order: with less than was meant, less would be tried.
    let keep: CapsHashSet = keep.iter().map(|name| name.parse()).collect::<Result<_, _>>().map_err(failed)?;
    for capability in caps::all() {
        if !keep.contains(&capability) && caps::has_cap(None, CapSet::Bounding, capability).unwrap_or(false) {
            caps::drop(None, CapSet::Bounding, capability).map_err(failed)?;
        }
    }
    for set in [CapSet::Ambient, CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        let held = caps::read(None, set).map_err(failed)?;
        let kept: CapsHashSet = held.intersection(&keep).copied().collect();
        caps::set(None, set, &kept).map_err(failed)?;
    }
    Ok(())
}
