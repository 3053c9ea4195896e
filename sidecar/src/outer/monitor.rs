//! A look at the running proxy from outside.

use std::sync::Weak;

use closedbook_policy::Epoch;

use super::Outer;
use super::limits::Limits;
use super::metrics::{Limit, Now};

#[cfg(test)]
mod tests;

/// Looks at a proxy without keeping it alive.
#[derive(Debug, Clone)]
pub struct Monitor(pub(super) Weak<Outer>);

/// Something that the proxy does not do as it should. What it does not do, it refuses: it is never more open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// One stable word.
    pub word: &'static str,
    /// For people.
    pub detail: String,
}

impl Monitor {
    /// What is wrong; nothing, if all is well. None when the proxy has ended.
    pub fn troubles(&self) -> Option<Vec<Trouble>> {
        self.0.upgrade().map(|outer| troubles(&outer))
    }

    /// The metrics, as OpenMetrics text. None when the proxy has ended.
    pub fn metrics(&self) -> Option<String> {
        self.0.upgrade().map(|outer| metrics(&outer))
    }
}

/// The metrics, as OpenMetrics text.
pub(crate) fn metrics(outer: &Outer) -> String {
    let Epoch(epoch) = outer.ruling.now().epoch();
    outer.metrics.text(Now { load: load(outer), degraded: !troubles(outer).is_empty(), epoch })
}

/// What the proxy spends now, and at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) connections: (usize, usize),
    pub(crate) hellos: (usize, usize),
    pub(crate) dns_connections: (usize, usize),
    pub(crate) dials: (usize, usize),
    pub(crate) descriptors: (u64, u64),
    /// Octets.
    pub(crate) memory: u64,
}

/// What it spends.
pub(crate) fn load(outer: &Outer) -> Load {
    let Limits { flows, hellos, dns_connections, dials, .. } = outer.limits;
    let process = outer.metrics.process();
    Load {
        connections: (flows.saturating_sub(outer.flows.available_permits()), flows),
        hellos: (outer.hellos.taken(), hellos),
        dns_connections: (outer.dns_connections.taken(), dns_connections),
        dials: (outer.dialler.under_way(), dials),
        descriptors: (process.descriptors(), process.most_descriptors()),
        memory: process.resident(),
    }
}

/// What is wrong.
pub(crate) fn troubles(outer: &Outer) -> Vec<Trouble> {
    let mut all = outer.log.troubles();
    all.extend(outer.dialler.resolver().trouble());
    // That the log can't be written is said already, and for as long as it is true.
    let hits = outer.metrics.recent_hits().into_iter().filter(|limit| *limit != Limit::Log);
    all.extend(hits.map(|limit| Trouble {
        word: limit.trouble(),
        detail: format!("within the last minute: {}", limit.detail()),
    }));
    all
}
