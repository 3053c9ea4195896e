//! The phase in force, and what lives under it.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use closedbook_policy::{Epoch, Permit, Phase, Reason, Refusal};
use tokio::sync::watch;

use super::copy::{End, Moved};
use super::socket::Socket;

mod claim;
mod hands;
#[cfg(test)]
mod tests;

pub(crate) use claim::Claim;
pub use claim::{CutFlow, LiveFlow, State};

/// What is permitted now.
///
/// A flow is entered here between its decision and its dialling, and leaves when it ends. A switch first changes what
/// new decisions see, then decides every entered flow anew: whichever of the two comes first, no flow of the old phase
/// that the new one refuses outlives [`Ruling::switch`] (G7). So do connections that still send their hello, kept HTTP
/// connections between two requests, and DNS questions for which somebody upstream is asked.
#[derive(Debug)]
pub struct Ruling {
    now: ArcSwap<Phase>,
    flows: Mutex<Flows>,
    /// One switch at a time: the second would not wait for what the first is still cutting.
    turn: tokio::sync::Mutex<()>,
}

/// Which flows a switch cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Those that the new phase refuses.
    #[default]
    Refused,
    /// All. What the new phase permits has to be dialled again.
    All,
}

#[derive(Debug, Default)]
struct Flows {
    live: HashMap<u64, Live>,
    next: u64,
}

#[derive(Debug)]
struct Live {
    /// The number of its record.
    id: u64,
    claim: Claim,
    line: Option<Line>,
    since: std::time::Instant,
    leash: watch::Sender<Option<Refusal>>,
    /// By a switch, which is about to take it out.
    stopped: AtomicBool,
}

/// What a flow moves bytes over, and where they are counted.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) client: Arc<Socket>,
    pub(crate) server: Arc<Socket>,
    pub(crate) moved: Arc<Moved>,
}

/// What a switch pulls to end a connection whose flow it refuses. Dropping it says that no byte of the connection moves
/// any more, so it is dropped after the sockets. A flow that is [connected](Flow::reached) is not waited for: its sockets
/// are reset by the switch itself.
#[derive(Debug)]
pub(crate) struct Leash {
    pull: watch::Sender<Option<Refusal>>,
    pulled: watch::Receiver<Option<Refusal>>,
}

/// A place in the registry, left by dropping it.
#[derive(Debug)]
pub(crate) struct Flow {
    ruling: Arc<Ruling>,
    key: u64,
}

impl Ruling {
    /// Rules by this phase, as its epoch 1.
    pub fn new(phase: &Phase) -> Self {
        Self::since(phase, Epoch(1))
    }

    /// Rules by a phase that was put in force before, by another proxy.
    pub(crate) fn since(phase: &Phase, epoch: Epoch) -> Self {
        Self { now: ArcSwap::new(phase.at(epoch)), flows: Mutex::default(), turn: Default::default() }
    }

    /// The phase in force.
    pub fn now(&self) -> Arc<Phase> {
        self.now.load_full()
    }

    /// Puts another phase in force, under the next epoch, and returns what it cut, when the last of it has stopped.
    pub async fn switch(&self, phase: &Phase, reach: Reach) -> Vec<CutFlow> {
        let _turn = self.turn.lock().await;
        let refused = self.enforce(phase, reach);
        for live in refused.iter().filter(|live| live.line.is_none()) {
            live.leash.closed().await;
        }
        let cut = refused.iter().map(|live| CutFlow::new(live.id, &live.claim)).collect();
        // What is left to do for them delays nobody's answer. A task, since a thread may not be had.
        tokio::spawn(async move {
            tokio::task::yield_now().await;
            for live in refused {
                live.leash.send_modify(|_| {});
            }
        });
        cut
    }

    /// Changes what new decisions see, and stops what the new phase refuses; gives what it has stopped, and what has been
    /// told to.
    fn enforce(&self, phase: &Phase, reach: Reach) -> Vec<Live> {
        let mut flows = self.flows();
        let Epoch(epoch) = self.now().epoch();
        let phase = phase.at(Epoch(epoch.saturating_add(1)));
        self.now.store(Arc::clone(&phase));
        let detail = match reach {
            Reach::Refused => format!("phase {} does not permit it", phase.name()),
            Reach::All => format!("the switch to phase {} cut everything", phase.name()),
        };
        let refusal = Refusal::new(Reason::PhaseChanged, detail);
        let live: Vec<&Live> = flows.live.values().collect();
        // Under the lock: a task that finds its sockets reset comes here, and waits. Thousands of them would take the
        // processors from what is going on here.
        hands::for_each(&live, |live| {
            if reach == Reach::All || live.claim.stands(&phase).is_err() {
                live.stop(&refusal);
            }
        });
        flows.live.extract_if(|_, live| live.stopped.load(Ordering::Acquire)).map(|(_, live)| live).collect()
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
        let flow = self.enter(&mut flows, id, Claim::of(&permit), leash);
        Ok((permit, flow))
    }

    /// Enters what is no permitted flow yet, or none at all.
    pub(crate) fn hold(self: &Arc<Self>, id: u64, claim: Claim, leash: &Leash) -> Result<Flow, Refusal> {
        let mut flows = self.flows();
        claim.stands(&self.now())?;
        Ok(self.enter(&mut flows, id, claim, leash))
    }

    /// What lives now, the oldest first.
    pub(crate) fn live(&self) -> Vec<LiveFlow> {
        let flows = self.flows();
        let mut live: Vec<_> = flows
            .live
            .values()
            .map(|live| LiveFlow::new(live.id, &live.claim, live.line.as_ref(), live.since.elapsed()))
            .collect();
        drop(flows);
        live.sort_by_key(|flow| flow.id);
        live
    }

    /// How many live now.
    pub(crate) fn count(&self) -> usize {
        self.flows().live.len()
    }

    fn enter(self: &Arc<Self>, flows: &mut Flows, id: u64, claim: Claim, leash: &Leash) -> Flow {
        let key = flows.next;
        flows.next = flows.next.wrapping_add(1);
        let (since, leash) = (std::time::Instant::now(), leash.pull.clone());
        flows.live.insert(key, Live { id, claim, line: None, since, leash, stopped: AtomicBool::new(false) });
        Flow { ruling: Arc::clone(self), key }
    }

    fn flows(&self) -> MutexGuard<'_, Flows> {
        // Each use leaves the map whole, so a panic elsewhere in the holder's thread does not make it wrong.
        self.flows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flow {
    /// The flow has its connection. An error if a switch came first: between the decision and now, the phase may have
    /// become one that permits the name and not this address.
    pub(crate) fn reached(&self, address: SocketAddr, line: Line) -> Result<(), Refusal> {
        let mut flows = self.ruling.flows();
        let gone = || Refusal::new(Reason::PhaseChanged, "a switch of phase came before the connection");
        let live = flows.live.get_mut(&self.key).ok_or_else(gone)?;
        live.claim.reached(address);
        live.line = Some(line);
        live.claim.stands(&self.ruling.now())
    }

    /// The flow has ended as it says. If a switch was there before, it was cut instead: the answer to that switch says so
    /// already.
    pub(crate) async fn end(self, leash: &Leash, end: Result<End, Refusal>) -> Result<End, Refusal> {
        let mine = self.ruling.flows().live.remove(&self.key).is_some();
        if mine { end } else { Err(leash.cut().await) }
    }

    /// Why a switch has cut it, if one has.
    pub(crate) fn cut(&self, leash: &Leash) -> Option<Refusal> {
        let taken = !self.ruling.flows().live.contains_key(&self.key);
        let unsaid = || Refusal::new(Reason::PhaseChanged, "a switch of phase does not permit it");
        taken.then(|| leash.pulled().unwrap_or_else(unsaid))
    }

    /// Nothing of it is under way, but its connection is kept for the next one.
    pub(crate) fn rest(&self) {
        if let Some(live) = self.ruling.flows().live.get_mut(&self.key) {
            live.claim.rest();
        }
    }
}

impl Live {
    fn stop(&self, refusal: &Refusal) {
        self.stopped.store(true, Ordering::Release);
        let Some(line) = &self.line else {
            self.leash.send_replace(Some(refusal.clone()));
            return;
        };
        // First what a task is told that finds its sockets reset; only later that it should look.
        self.leash.send_if_modified(|pulled| {
            *pulled = Some(refusal.clone());
            false
        });
        // Not left to that task, which stands in line with those of all flows that go on.
        line.abort();
    }
}

impl Line {
    fn abort(&self) {
        // The server first: from here on nothing reaches it.
        self.server.abort();
        self.client.abort();
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
        self.ruling.flows().live.remove(&self.key);
    }
}
