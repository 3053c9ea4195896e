//! The policy in force, the ratchet, and what was switched so far.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closedbook_policy::{Epoch, Phase, Policy, Widening};
use thiserror::Error;
use time::OffsetDateTime;

use super::ruling::{CutFlow, Reach, Ruling};
use crate::journal::Journal;

mod ratchet;
#[cfg(test)]
mod tests;

pub(super) use ratchet::Ratchet;
pub use ratchet::{Stop, Widen};

/// Switches that are remembered.
const REMEMBERED: usize = 100;

/// Who rules: the one place where the phase or the policy changes.
#[derive(Debug)]
pub struct Regime {
    ruling: Arc<Ruling>,
    state: Mutex<State>,
    journal: Option<Arc<Journal>>,
    /// One change at a time, each judged by what the one before has left.
    turn: tokio::sync::Mutex<()>,
}

/// What former proxies of a namespace have done to it.
#[derive(Debug)]
pub(super) struct Former {
    /// The epoch that is in force.
    pub(super) epoch: Epoch,
    /// The phases that were ever in force.
    pub(super) entered: Vec<Box<str>>,
    /// Where to note down what the next proxy has to know.
    pub(super) journal: Option<Arc<Journal>>,
}

#[derive(Debug)]
struct State {
    policy: Policy,
    ratchet: Ratchet,
    since: OffsetDateTime,
    history: VecDeque<Change>,
}

/// What is asked for beside the phase or the policy itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Order {
    /// That something may be permitted which was not is meant.
    pub widen: bool,
    /// What is cut.
    pub reach: Reach,
    /// Who asks.
    pub by: Option<Caller>,
}

/// The process at the other end of the control socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    /// Its user.
    pub uid: u32,
    /// Its number, where the kernel told it.
    pub pid: Option<i32>,
}

/// A change that was made.
#[derive(Debug, Clone)]
pub struct Switched {
    /// The phase in force now.
    pub phase: Arc<Phase>,
    /// What it permits that was not permitted before; the first such thing.
    pub widened: Option<Widening>,
    /// What was cut.
    pub cut: Vec<CutFlow>,
    /// Flows that go on.
    pub kept: usize,
}

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum Unchanged {
    /// The policy has no such phase.
    #[error("there is no phase {name:?}; the policy has {}", known.join(", "))]
    NoPhase {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The new policy lacks the phase in force.
    #[error("the policy has no phase {0:?}, which is the one in force")]
    PhaseMissing(String),
    /// The ratchet holds (G8).
    #[error("it would permit {widening}, which is not permitted now: {stop}")]
    Widening {
        /// What would be permitted.
        widening: Widening,
        /// Why it is not.
        stop: Stop,
    },
    /// A proxy that has to take this one's place would not know of it.
    #[error("it can't be noted down for a proxy that would have to go on after this one")]
    Unnoted(#[source] io::Error),
    /// The switch was begun, and the program is going down.
    #[error("closedbook is ending")]
    Ending,
}

/// One line of the history.
#[derive(Debug, Clone)]
pub struct Change {
    /// When.
    pub at: OffsetDateTime,
    /// The phase that was in force.
    pub from: String,
    /// The phase that was asked for.
    pub to: String,
    /// The policy that was asked for, as `policy.digest()` has it.
    pub policy: String,
    /// The switch that it became; none if it was refused.
    pub epoch: Option<u64>,
    /// What it permits that was not permitted before.
    pub widens: Option<String>,
    /// Why it was refused.
    pub refused: Option<Stop>,
    /// How many flows it cut.
    pub cut: usize,
    /// Who asked.
    pub by: Option<Caller>,
}

impl Regime {
    /// Begins with this phase of the policy, after what former proxies of the namespace have done.
    pub(super) fn after(former: Former, policy: Policy, phase: &Phase, widen: Widen) -> Self {
        let Former { epoch, entered, journal } = former;
        let state = State {
            policy,
            ratchet: Ratchet::new(widen, &entered, phase),
            since: OffsetDateTime::now_utc(),
            history: VecDeque::new(),
        };
        let ruling = Arc::new(Ruling::since(phase, epoch));
        Self { ruling, state: Mutex::new(state), journal, turn: Default::default() }
    }

    /// What is permitted now.
    pub fn ruling(&self) -> &Arc<Ruling> {
        &self.ruling
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        self.state().policy.clone()
    }

    /// How the ratchet is set.
    pub fn widen(&self) -> Widen {
        self.state().ratchet.widen()
    }

    /// Since when the phase is in force.
    pub fn since(&self) -> OffsetDateTime {
        self.state().since
    }

    /// What was changed and what was refused, the oldest first.
    pub fn history(&self) -> Vec<Change> {
        self.state().history.iter().cloned().collect()
    }

    /// Puts another phase of the policy in force.
    pub async fn set_phase(self: &Arc<Self>, name: &str, order: Order) -> Result<Switched, Unchanged> {
        let name = name.to_owned();
        self.change(order, move |policy, _| match policy.phase(&name) {
            Some(phase) => Ok((policy.clone(), Arc::clone(phase))),
            None => Err(Unchanged::NoPhase { name, known: names(policy) }),
        })
        .await
    }

    /// Puts another policy in force, in the phase of the same name.
    pub async fn set_policy(self: &Arc<Self>, policy: Policy, order: Order) -> Result<Switched, Unchanged> {
        self.change(order, move |_, now| match policy.phase(now.name()).cloned() {
            Some(phase) => Ok((policy, phase)),
            None => Err(Unchanged::PhaseMissing(now.name().to_owned())),
        })
        .await
    }

    /// To its end, even if whoever asked goes away meanwhile: the next change must not begin before.
    async fn change(
        self: &Arc<Self>,
        order: Order,
        choose: impl FnOnce(&Policy, &Phase) -> Result<(Policy, Arc<Phase>), Unchanged> + Send + 'static,
    ) -> Result<Switched, Unchanged> {
        let regime = Arc::clone(self);
        let changing = async move {
            let _turn = regime.turn.lock().await;
            let now = regime.ruling.now();
            let (policy, phase) = choose(&regime.policy(), &now)?;
            let widened = regime.judge(&now, &phase, &policy, order)?;
            regime.note(&policy, &phase, &now, widened.is_some())?;
            // What a question or a hello meets from now on is the new policy's.
            regime.state().policy = policy;
            let cut = regime.ruling.switch(&phase, order.reach).await;
            Ok(regime.changed(&now, widened, cut, order))
        };
        tokio::spawn(changing).await.unwrap_or(Err(Unchanged::Ending))
    }

    fn judge(
        &self,
        now: &Phase,
        next: &Phase,
        policy: &Policy,
        order: Order,
    ) -> Result<Option<Widening>, Unchanged> {
        let mut state = self.state();
        let Some(widening) = next.widens(now) else { return Ok(None) };
        let Err(stop) = state.ratchet.permits(now, next, order.widen) else { return Ok(Some(widening)) };
        tracing::warn!(from = now.name(), to = next.name(), %widening, %stop, by = ?order.by, "widening refused");
        state.remember(Change {
            at: OffsetDateTime::now_utc(),
            from: now.name().to_owned(),
            to: next.name().to_owned(),
            policy: policy.digest().to_string(),
            epoch: None,
            widens: Some(widening.to_string()),
            refused: Some(stop),
            cut: 0,
            by: order.by,
        });
        Err(Unchanged::Widening { widening, stop })
    }

    /// G6: before it takes effect, so that a proxy which has to take this one's place never begins in a wider phase. Where
    /// that can't be done nothing is widened; narrowing goes on all the same, since it always works (G8), and no proxy takes
    /// this one's place any more.
    fn note(&self, policy: &Policy, phase: &Phase, now: &Phase, widens: bool) -> Result<(), Unchanged> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let Epoch(epoch) = now.epoch();
        match journal.ruling(policy.to_json(), phase.name(), epoch.saturating_add(1)) {
            Err(error) if widens => Err(Unchanged::Unnoted(error)),
            Err(error) => {
                let spoiled = journal.spoil();
                tracing::error!(
                    %error, phase = phase.name(), ?spoiled,
                    "this phase can't be noted down: if this proxy dies, no other takes its place"
                );
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn changed(
        &self,
        before: &Phase,
        widened: Option<Widening>,
        cut: Vec<CutFlow>,
        order: Order,
    ) -> Switched {
        let phase = self.ruling.now();
        tracing::info!(
            from = before.name(), to = phase.name(), epoch = %phase.epoch(), policy = %phase.policy(),
            widened = widened.as_ref().map(tracing::field::display), cut = cut.len(), by = ?order.by,
            "phase switched"
        );
        let mut state = self.state();
        state.ratchet.entered(&phase);
        state.since = OffsetDateTime::now_utc();
        let change = Change {
            at: state.since,
            from: before.name().to_owned(),
            to: phase.name().to_owned(),
            policy: phase.policy().to_string(),
            epoch: Some(phase.epoch().0),
            widens: widened.as_ref().map(ToString::to_string),
            refused: None,
            cut: cut.len(),
            by: order.by,
        };
        state.remember(change);
        drop(state);
        Switched { phase, widened, cut, kept: self.ruling.count() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each use leaves it whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remember(&mut self, change: Change) {
        if self.history.len() >= REMEMBERED {
            self.history.pop_front();
        }
        self.history.push_back(change);
    }
}

fn names(policy: &Policy) -> Vec<String> {
    policy.phases().map(|phase| phase.name().to_owned()).collect()
}
