//! The part that prepares the task's namespace: addresses, routes, rules, listeners.
//!
//! It needs CAP_NET_ADMIN over the namespace and nothing else, for a few milliseconds, before any process of the task
//! exists (G6). It never reads a byte that the task sends.

use closedbook_kernel::lo::{self, LoError};
use closedbook_kernel::nft::{self, ApplyError, VerifyError};
use thiserror::Error;

use crate::listeners::{DNS_PORT, Families, ListenError, Listeners, PROXY_PORT};

/// Why the namespace is not ready. The task must not start.
#[derive(Debug, Error)]
pub enum InnerError {
    /// The namespace has an uplink, or its loopback could not be set up.
    #[error("the namespace's loopback interface could not be prepared")]
    Loopback(#[source] LoError),
    /// The kernel refused the rules.
    #[error("the kernel refused the ruleset")]
    Ruleset(#[source] ApplyError),
    /// What the kernel holds is not what was sent.
    #[error("the ruleset that the kernel holds is not the one that was sent")]
    Verify(#[source] VerifyError),
    /// The listeners could not be bound.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// Closes the current network namespace and opens its only way out, the listeners.
///
/// The order is the safety: rules first, checked; then something to redirect to; the task comes after that.
pub fn set_up() -> Result<Listeners, InnerError> {
    lo::only_loopback().map_err(InnerError::Loopback)?;
    let families = lo::prepare().map_err(InnerError::Loopback)?;
    let ruleset = ruleset();
    nft::apply(&ruleset).map_err(InnerError::Ruleset)?;
    nft::verify(&ruleset).map_err(InnerError::Verify)?;
    Ok(Listeners::bind(families)?)
}
