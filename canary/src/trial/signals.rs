//! What a harness does meanwhile, as probes hear of it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::engine::Event;

/// What has happened, for probes that wait for it. All clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Signals(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    happened: Vec<Event>,
    ready: usize,
    waiting: usize,
}

impl Signals {
    /// Nothing has happened.
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    /// It has happened.
    pub(crate) fn tell(&self, event: Event) {
        let (state, changed) = &*self.0;
        state.lock().unwrap_or_else(PoisonError::into_inner).happened.push(event);
        changed.notify_all();
    }

    /// Probes that have done what comes before the event.
    pub(crate) fn ready_probes(&self) -> usize {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).ready
    }

    /// Whether any probe waits: time does not count then.
    pub(crate) fn is_awaited(&self) -> bool {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).waiting > 0
    }

    pub(crate) fn has(&self, event: Event) -> bool {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).happened.contains(&event)
    }

    /// One more probe has done what comes before the event.
    pub(super) fn ready(&self) {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).ready += 1;
    }

    /// Waits for it; false if it never will happen.
    pub(super) fn until(&self, event: Event) -> bool {
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready += 1;
        state.waiting += 1;
        while !state.happened.contains(&event) && !state.happened.contains(&Event::Over) {
            state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
        state.happened.contains(&event)
    }
}
