//! Does what the methods ask for.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use closedbook_policy::Phase;
use serde::Serialize;
use serde_json::Value;

use super::fault::{Fault, Word};
use super::method::Method;
use super::proposal;
use super::report::{self, Following};
use crate::outer::log::{Entry, Follower, rfc3339};
use crate::outer::monitor;
use crate::outer::{
    Caller, Change, CutFlow, Kind, LiveFlow, Order, Outer, Refused, Switched, Trouble, Unchanged,
};

/// How the task is enclosed.
const TOPOLOGY: &str = "sealed";

/// Hosts that the answer to a switch names.
const HOSTS: usize = 1000;

/// The proxy, as the control socket sees it.
#[derive(Clone)]
pub(super) struct Desk {
    outer: Arc<Outer>,
}

/// What comes of a method that could be done.
pub(super) enum Done {
    Answer(Value),
    /// After the answer come these records, and then whatever the follower hears.
    Follow {
        answer: Value,
        past: Vec<Arc<Entry>>,
        follower: Option<Follower>,
    },
    /// After the answer comes the end.
    Shutdown(Value),
}

impl Desk {
    pub(super) fn new(outer: Arc<Outer>) -> Self {
        Self { outer }
    }

    /// Does it.
    pub(super) async fn serve(&self, method: Method, by: Caller) -> Result<Done, Fault> {
        let regime = &self.outer.regime;
        let order = |widen, reach| Order { widen, reach, by: Some(by) };
        match method {
            Method::Status => answer(&self.status()),
            Method::PhaseGet => answer(&self.phase()),
            Method::PolicyGet => answer(&self.policy()?),
            Method::FlowsList { limit } => answer(&self.flows(limit)),
            Method::DenialsSummary => answer(&self.denials()),
            Method::Health => {
                let degraded = self.degraded();
                answer(&report::Health { ok: degraded.is_empty(), degraded })
            }
            Method::Metrics => answer(&report::Metrics { text: monitor::metrics(&self.outer) }),
            Method::PhaseSet { name, widen, reach } => {
                answer(&switched(regime.set_phase(&name, order(widen, reach)).await?))
            }
            Method::PolicySet { policy, widen, reach } => {
                answer(&switched(regime.set_policy(*policy, order(widen, reach)).await?))
            }
            Method::LogFollow { last, follow } => {
                let (past, follower) = self.outer.log.recent().follow(last);
                let answer = value(&Following { past: past.len(), following: follow })?;
                Ok(Done::Follow { answer, past, follower: follow.then_some(follower) })
            }
            Method::Shutdown => Ok(Done::Shutdown(Value::Object(Default::default()))),
        }
    }

    /// Ends the proxy.
    pub(super) fn shut_down(&self) {
        self.outer.shutdown.notify_one();
    }

    fn now(&self) -> Arc<Phase> {
        self.outer.ruling.now()
    }

    fn status(&self) -> report::Status {
        let (now, regime) = (self.now(), &self.outer.regime);
        let totals = self.outer.log.tally().totals();
        report::Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            topology: TOPOLOGY.to_owned(),
            phase: now.name().to_owned(),
            since: rfc3339(regime.since()),
            epoch: now.epoch().0,
            policy: now.policy().to_string(),
            policy_name: regime.policy().name().map(str::to_owned),
            table: self
                .outer
                .table
                .filter(|(policy, _)| *policy == now.policy())
                .map(|(_, version)| version.into()),
            widen: regime.widen().word().to_owned(),
            pid: std::process::id(),
            uptime_ms: milliseconds(self.outer.started.elapsed()),
            flows: self.outer.ruling.count(),
            load: load(monitor::load(&self.outer)),
            counters: report::Counters {
                allowed: totals.allowed,
                denied: totals.denied,
                cut: totals.cut,
                unrecorded: totals.unrecorded,
                bytes_up: totals.bytes.0,
                bytes_down: totals.bytes.1,
                reasons: totals
                    .reasons
                    .iter()
                    .map(|(reason, times)| (reason.word().to_owned(), *times))
                    .collect(),
            },
            degraded: self.degraded(),
            history: regime.history().into_iter().map(change).collect(),
        }
    }

    fn degraded(&self) -> Vec<report::Trouble> {
        let told = |Trouble { word, detail }| report::Trouble { word: word.to_owned(), detail };
        monitor::troubles(&self.outer).into_iter().map(told).collect()
    }

    fn phase(&self) -> report::Phase {
        let (now, policy) = (self.now(), self.outer.regime.policy());
        report::Phase {
            name: now.name().to_owned(),
            epoch: now.epoch().0,
            since: rfc3339(self.outer.regime.since()),
            policy: now.policy().to_string(),
            allow: now.entries().iter().map(ToString::to_string).collect(),
            phases: policy.phases().map(|phase| phase.name().to_owned()).collect(),
        }
    }

    fn policy(&self) -> Result<report::Policy, Fault> {
        let policy = self.outer.regime.policy();
        let document = serde_json::from_str(policy.to_json());
        let document = document.map_err(|error| Fault::new(Word::Internal, error.to_string()))?;
        Ok(report::Policy { digest: policy.digest().to_string(), policy: document })
    }

    fn flows(&self, limit: usize) -> report::Flows {
        let live = self.outer.ruling.live();
        report::Flows { total: live.len(), flows: live.into_iter().take(limit).map(flow).collect() }
    }

    fn denials(&self) -> report::Denials {
        let summary = self.outer.log.tally().summary();
        let phase = self.now().name().to_owned();
        let denials = summary.refused.into_iter().map(|refused| self.denial(refused, &phase)).collect();
        report::Denials { phase, denials, more: summary.refused_more }
    }

    fn denial(&self, refused: Refused, phase: &str) -> report::Denial {
        let Refused { host, port, kind, reason, times } = refused;
        // An address that stands for a name says nothing to anybody.
        let leased = host.parse::<IpAddr>().ok().and_then(|address| self.outer.leases.name(address));
        let host = leased.map_or(host, |name| name.to_string());
        let entry = proposal::entry(&host, port, reason);
        report::Denial {
            host,
            port,
            kind: kind_word(kind),
            reason: reason.word().to_owned(),
            times,
            concerns: entry.as_ref().map_or_else(Vec::new, |entry| proposal::concerns(entry, phase)),
            entry: entry.map(|entry| entry.to_string()),
        }
    }
}

impl From<Unchanged> for Fault {
    fn from(unchanged: Unchanged) -> Self {
        let message = unchanged.to_string();
        match unchanged {
            Unchanged::NoPhase { known, .. } => Fault::new(Word::UnknownPhase, message).with("phases", known),
            Unchanged::PhaseMissing(phase) => Fault::new(Word::PhaseMissing, message).with("phase", phase),
            Unchanged::Widening { widening, stop } => Fault::new(Word::WideningRefused, message)
                .with("widens", widening.to_string())
                .with("why", stop.word()),
            Unchanged::Unnoted(_) | Unchanged::Ending => Fault::new(Word::Internal, message),
        }
    }
}

fn answer(result: &impl Serialize) -> Result<Done, Fault> {
    value(result).map(Done::Answer)
}

fn value(result: &impl Serialize) -> Result<Value, Fault> {
    serde_json::to_value(result).map_err(|error| Fault::new(Word::Internal, error.to_string()))
}

fn switched(switched: Switched) -> report::Switched {
    let Switched { phase, widened, cut, kept } = switched;
    report::Switched {
        phase: phase.name().to_owned(),
        epoch: phase.epoch().0,
        policy: phase.policy().to_string(),
        widened: widened.map(|widening| widening.to_string()),
        cut: cut_hosts(&cut),
        kept,
    }
}

fn cut_hosts(cut: &[CutFlow]) -> report::Cut {
    let mut hosts: BTreeMap<(&str, Option<u16>, Kind), usize> = BTreeMap::new();
    for flow in cut {
        *hosts.entry((&flow.host, flow.port, flow.kind)).or_default() += 1;
    }
    let hosts = hosts.into_iter().take(HOSTS).map(|((host, port, kind), flows)| report::CutHost {
        host: host.to_owned(),
        port,
        kind: kind_word(kind),
        flows,
    });
    report::Cut { total: cut.len(), hosts: hosts.collect() }
}

fn change(change: Change) -> report::Change {
    report::Change {
        ts: rfc3339(change.at),
        from: change.from,
        to: change.to,
        policy: change.policy,
        epoch: change.epoch,
        widens: change.widens,
        refused: change.refused.map(|stop| stop.word().to_owned()),
        cut: change.cut,
        uid: change.by.map(|by| by.uid),
        pid: change.by.and_then(|by| by.pid),
    }
}

fn flow(live: LiveFlow) -> report::Flow {
    report::Flow {
        id: live.id,
        state: live.state.word().to_owned(),
        kind: kind_word(live.kind),
        host: live.host,
        port: live.port,
        original: live.original.map(|address| address.to_string()),
        dialled: live.dialled.map(|address| address.to_string()),
        rule: live.rule,
        age_ms: milliseconds(live.age),
        bytes_up: live.bytes.0,
        bytes_down: live.bytes.1,
    }
}

fn load(load: monitor::Load) -> report::Load {
    let spent = |(now, most): (usize, usize)| report::Spent { now: now as u64, most: most as u64 };
    report::Load {
        connections: spent(load.connections),
        hellos: spent(load.hellos),
        dns_connections: spent(load.dns_connections),
        dials: spent(load.dials),
        descriptors: report::Spent { now: load.descriptors.0, most: load.descriptors.1 },
        memory: load.memory,
    }
}

fn kind_word(kind: Kind) -> String {
    kind.word().to_owned()
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
