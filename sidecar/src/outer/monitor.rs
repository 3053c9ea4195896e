//! A look at the running proxy from outside.

use std::sync::Weak;

use closedbook_policy::Epoch;
use serde::Serialize;

use super::Outer;
use super::metrics::Now;

#[cfg(test)]
mod tests;

/// Looks at a proxy without keeping it alive.
#[derive(Debug, Clone)]
pub struct Monitor(pub(super) Weak<Outer>);

/// Whether the proxy does all that it should. What it does not do, it refuses: degraded is never more open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Health {
    /// It does.
    Ok,
    /// It does not.
    Degraded {
        /// What is wrong, a line each.
        why: Vec<String>,
    },
}

impl Monitor {
    /// Whether all is well. None when the proxy has ended.
    pub fn health(&self) -> Option<Health> {
        Some(health(&*self.0.upgrade()?))
    }

    /// The metrics, as OpenMetrics text. None when the proxy has ended.
    pub fn metrics(&self) -> Option<String> {
        let outer = self.0.upgrade()?;
        let Epoch(epoch) = outer.ruling.now().epoch();
        Some(outer.metrics.text(Now {
            flows: outer.limits.flows.saturating_sub(outer.flows.available_permits()),
            hellos: outer.hellos.taken(),
            dns_connections: outer.dns_connections.taken(),
            dials: outer.dialler.under_way(),
            degraded: health(&outer) != Health::Ok,
            epoch,
        }))
    }
}

fn health(outer: &Outer) -> Health {
    let mut why = outer.log.complaints();
    why.extend(outer.dialler.resolver().complaint());
    why.extend(
        outer.metrics.recent_hits().iter().map(|limit| format!("within the last minute: {}", limit.detail())),
    );
    if why.is_empty() { Health::Ok } else { Health::Degraded { why } }
}
