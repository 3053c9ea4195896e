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
    cut: watch::Sender<Option<Refusal>>,
}

/// A permitted flow's place in the registry. Dropping it says that the flow moves no byte any more.
#[derive(Debug)]
pub(crate) struct Flow {
    ruling: Arc<Ruling>,
    id: u64,
    cut: watch::Receiver<Option<Refusal>>,
}

impl Ruling {
    /// Rules by this phase, as its epoch 1.
    pub fn new(phase: &Phase) -> Self {
        Self { now: ArcSwap::new(phase.at(Epoch(1))), flows: Mutex::default() }
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
            ids.into_iter().filter_map(|id| flows.remove(&id).map(|live| (id, live.cut))).collect::<Vec<_>>()
        };
        let detail = format!("phase {} does not permit it", phase.name());
        for (_, cut) in &refused {
            cut.send_replace(Some(Refusal::new(Reason::PhaseChanged, detail.clone())));
        }
        for (_, cut) in &refused {
            cut.closed().await;
        }
        refused.into_iter().map(|(id, _)| id).collect()
    }

    /// Enters a flow. One whose phase was switched away between its decision and now is decided anew.
    pub(crate) fn admit(self: &Arc<Self>, id: u64, permit: Permit) -> Result<(Permit, Flow), Refusal> {
        let mut flows = self.flows();
        // Under the lock, so a switch either sees this flow, or is seen here.
        let now = self.now();
        let permit =
            if permit.epoch() == now.epoch() { permit } else { now.decide(permit.attempt().clone())? };
        let (sender, cut) = watch::channel(None);
        flows.insert(id, Live { attempt: permit.attempt().clone(), cut: sender });
        Ok((permit, Flow { ruling: Arc::clone(self), id, cut }))
    }

    fn flows(&self) -> MutexGuard<'_, HashMap<u64, Live>> {
        // Each use leaves the map whole, so a panic elsewhere in the holder's thread does not make it wrong.
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flow {
    /// Waits until a switch refuses this flow.
    pub(crate) async fn cut(&self) -> Refusal {
        let mut cut = self.cut.clone();
        match cut.wait_for(Option::is_some).await {
            Ok(refusal) => refusal.clone().unwrap_or_else(gone),
            Err(_) => gone(),
        }
    }
}

/// The registry forgot the flow, which it does only when it cuts it.
fn gone() -> Refusal {
    Refusal::new(Reason::PhaseChanged, "the flow is not permitted any more")
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.ruling.flows().remove(&self.id);
    }
}
