//! Dials under way, with turns for each destination: one that never answers takes no place from the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use closedbook_policy::Destination;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places.
#[derive(Debug)]
pub(crate) struct Dials {
    all: Arc<Semaphore>,
    most: usize,
    each: Mutex<HashMap<Destination, Weak<Semaphore>>>,
}

/// A dial's place.
#[derive(Debug)]
pub(crate) struct Turn {
    _all: OwnedSemaphorePermit,
    _own: OwnedSemaphorePermit,
    /// Held so that the others of the same destination find it.
    _destination: Arc<Semaphore>,
}

impl Dials {
    /// So many at once.
    pub(crate) fn new(most: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(most)), most, each: Mutex::default() }
    }

    /// Waits for a turn.
    pub(crate) async fn turn(&self, destination: &Destination) -> Option<Turn> {
        let own = self.of(destination);
        let place = Arc::clone(&own).acquire_owned().await.ok()?;
        let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
        Some(Turn { _all: all, _own: place, _destination: own })
    }

    /// Dials under way.
    pub(crate) fn under_way(&self) -> usize {
        self.most.saturating_sub(self.all.available_permits())
    }

    fn of(&self, destination: &Destination) -> Arc<Semaphore> {
        let mut each = self.each.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = each.get(destination).and_then(Weak::upgrade) {
            return own;
        }
        // Names under a wildcard are as many as the task likes: what nobody dials any more goes.
        if each.len() > 2 * self.most {
            each.retain(|_, own| own.strong_count() > 0);
        }
        let own = Arc::new(Semaphore::new((self.most / 4 * 3).max(1)));
        each.insert(destination.clone(), Arc::downgrade(&own));
        own
    }
}
