//! The phase in force, and the flows that live under it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use closedbook_policy::{Attempt, Epoch, Permit, Phase, Reason, Refusal};
use tokio::sync::watch;

#[cfg(test)]
mod tests;

/// What is permitted now.
///
/// A flow is entered here between its decision and its dialling, and leaves when it ends. A switch first changes what
/// new decisions see, then decides every entered flow anew: whichever of the two comes first, no flow of the old phase
/// that the new one refuses outlives [`Ruling::switch`] (G7).
#[derive(Debug)]
pub struct Ruling {
    now: ArcSwap<Phase>,
    flows: Mutex<HashMap<u64, Live>>,
}

#[derive(Debug)]
struct Live {
    attempt: Attempt,
    leash: watch::Sender<Option<Refusal>>,
}

/// What a switch pulls to end a connection whose flow it refuses. Dropping it says that no byte of the connection moves
/// any more, so it is dropped after the sockets.
#[derive(Debug)]
pub(crate) struct Leash {
    pull: watch::Sender<Option<Refusal>>,
    pulled: watch::Receiver<Option<Refusal>>,
}

/// A permitted flow's place in the registry.
#[derive(Debug)]
pub(crate) struct Flow {
    ruling: Arc<Ruling>,
    id: u64,
}

impl Ruling {
    /// Rules by this phase, as its epoch 1.
    pub fn new(phase: &Phase) -> Self {
        Self::since(phase, Epoch(1))
    }

    /// Rules by a phase that was put in force before, by another proxy.
    pub(crate) fn since(phase: &Phase, epoch: Epoch) -> Self {
        Self { now: ArcSwap::new(phase.at(epoch)), flows: Mutex::default() }
    }

    /// The phase in force.
    pub fn now(&self) -> Arc<Phase> {
        self.now.load_full()
    }

    /// Puts another phase in force, under the next epoch, and returns the ids of the flows that it cut, when the last
    /// of them has stopped.
    pub async fn switch(&self, phase: &Phase) -> Vec<u64> {
        let refused = {
            let mut flows = self.flows();
            let Epoch(epoch) = self.now().epoch();
            let phase = phase.at(Epoch(epoch.saturating_add(1)));
            self.now.store(Arc::clone(&phase));
            let refused = |live: &Live| phase.decide(live.attempt.clone()).is_err();
            let ids: Vec<u64> = flows.iter().filter(|(_, live)| refused(live)).map(|(id, _)| *id).collect();
            ids.into_iter()
                .filter_map(|id| flows.remove(&id).map(|live| (id, live.leash)))
                .collect::<Vec<_>>()
        };
        let detail = format!("phase {} does not permit it", phase.name());
        for (_, leash) in &refused {
            leash.send_replace(Some(Refusal::new(Reason::PhaseChanged, detail.clone())));
        }
        for (_, leash) in &refused {
            leash.closed().await;
        }
        refused.into_iter().map(|(id, _)| id).collect()
    }

    /// Enters a flow. One whose phase was switched away between its decision and now is decided anew.
    pub(crate) fn admit(
        self: &Arc<Self>,
        id: u64,
        permit: Permit,
        leash: &Leash,
    ) -> Result<(Permit, Flow), Refusal> {
        let mut flows = self.flows();
        // Under the lock, so a switch either sees this flow, or is seen here.
        let now = self.now();
        let permit =
            if permit.epoch() == now.epoch() { permit } else { now.decide(permit.attempt().clone())? };
        flows.insert(id, Live { attempt: permit.attempt().clone(), leash: leash.pull.clone() });
        Ok((permit, Flow { ruling: Arc::clone(self), id }))
    }

    fn flows(&self) -> MutexGuard<'_, HashMap<u64, Live>> {
        // Each use leaves the map whole, so a panic elsewhere in the holder's thread does not make it wrong.
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Leash {
    /// For one connection of the task.
    pub(crate) fn new() -> Self {
        let (pull, pulled) = watch::channel(None);
        Self { pull, pulled }
    }

    /// Waits until a switch refuses a flow of this connection.
    pub(crate) async fn cut(&self) -> Refusal {
        let mut pulled = self.pulled.clone();
        let refusal = pulled.wait_for(Option::is_some).await.map(|refusal| refusal.clone());
        match refusal {
            Ok(Some(refusal)) => refusal,
            // Can't be: this leash holds a sender, and nothing but a refusal ends the wait.
            _ => std::future::pending().await,
        }
    }

    /// The refusal of a switch that has happened.
    pub(crate) fn pulled(&self) -> Option<Refusal> {
        self.pulled.borrow().clone()
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.ruling.flows().remove(&self.id);
    }
}
