//! A waiting room: places for connections that have not said yet what they want.
//!
//! When all places are taken, whoever has waited longest makes way for the next: an honest client is through in
//! milliseconds, so a crowd of slow ones, however large, keeps nobody out (G16).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, timeout};

/// How long a connection may keep its place against newcomers.
const GRACE: Duration = Duration::from_millis(250);

/// How long a newcomer waits before it looks again who could go.
const HANDOVER: Duration = Duration::from_millis(50);

/// How long a newcomer waits in all. Every guest has gone or was told to go long before.
const PATIENCE: Duration = Duration::from_secs(2);

/// The room.
#[derive(Debug)]
pub(crate) struct Room {
    places: Arc<Semaphore>,
    most: usize,
    guests: Mutex<Guests>,
    bytes: AtomicUsize,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct Guests {
    /// By number, so the first has waited longest.
    waiting: BTreeMap<u64, Guest>,
    next: u64,
}

#[derive(Debug)]
struct Guest {
    since: Instant,
    way_out: oneshot::Sender<()>,
}

/// A place in the room.
#[derive(Debug)]
pub(crate) struct Stay {
    room: Arc<Room>,
    number: u64,
    told: oneshot::Receiver<()>,
    bytes: usize,
    _place: OwnedSemaphorePermit,
}

impl Room {
    /// With so many places, for guests that together hold so many octets.
    pub(crate) fn new(most: usize, most_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Arc::new(Semaphore::new(most)),
            most,
            guests: Mutex::default(),
            bytes: AtomicUsize::new(0),
            most_bytes,
        })
    }

    /// A place, if need be that of the guest who has waited longest. While all guests are fresh, newcomers wait: a burst
    /// of honest clients is served, only a little later.
    pub(crate) async fn enter(self: &Arc<Self>) -> Option<Stay> {
        let place = timeout(PATIENCE, self.place()).await.ok()?;
        Some(self.seat(place))
    }

    /// The same for who can't wait: a place if one is free.
    pub(crate) fn enter_now(self: &Arc<Self>) -> Option<Stay> {
        Some(self.seat(Arc::clone(&self.places).try_acquire_owned().ok()?))
    }

    fn seat(self: &Arc<Self>, place: OwnedSemaphorePermit) -> Stay {
        let (way_out, told) = oneshot::channel();
        let mut guests = self.guests();
        let number = guests.next;
        guests.next = guests.next.wrapping_add(1);
        guests.waiting.insert(number, Guest { since: Instant::now(), way_out });
        drop(guests);
        Stay { room: Arc::clone(self), number, told, bytes: 0, _place: place }
    }

    /// Places that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.most.saturating_sub(self.places.available_permits())
    }

    async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            let place = Arc::clone(&self.places);
            let patience = match Arc::clone(&place).try_acquire_owned() {
                Ok(place) => return place,
                Err(_) => self.show_out(),
            };
            if let Ok(Ok(place)) = timeout(patience, place.acquire_owned()).await {
                return place;
            }
        }
    }

    /// Tells the guest who has waited longest to go, if it has had its time; how long the place may take to be free.
    fn show_out(&self) -> Duration {
        let mut guests = self.guests();
        let Some(oldest) = guests.waiting.first_entry() else { return HANDOVER };
        match GRACE.checked_sub(oldest.get().since.elapsed()) {
            Some(left) if !left.is_zero() => left,
            _ => {
                // Who has left meanwhile gives the place free as well.
                let _ = oldest.remove().way_out.send(());
                HANDOVER
            }
        }
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        // Each use leaves the map whole.
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stay {
    /// Ends when the place is wanted for another.
    pub(crate) async fn shown_out(&mut self) {
        if (&mut self.told).await.is_err() {
            // It has its place for good.
            std::future::pending().await
        }
    }

    /// Takes so many octets more out of what all guests may hold; false when there is no more.
    pub(crate) fn holds(&mut self, more: usize) -> bool {
        let before = self.room.bytes.fetch_add(more, Ordering::Relaxed);
        self.bytes += more;
        before.saturating_add(more) <= self.room.most_bytes
    }

    /// It has said what it wants: nobody takes the place any more.
    pub(crate) fn settled(&self) {
        self.room.guests().waiting.remove(&self.number);
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        self.settled();
        self.room.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
