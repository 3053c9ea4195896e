//! The part that prepares the task's namespace: addresses, routes, rules, listeners.
//!
//! It needs CAP_NET_ADMIN over the namespace and nothing else, for a few milliseconds, before any process of the task
//! exists (G6). It never reads a byte that the task sends.

use closedbook_kernel::lo::{self, Family, LoError};
use closedbook_kernel::nft::{self, ApplyError, SealedPorts, VerifyError};
use thiserror::Error;

use crate::listeners::{DNS_PORT, Families, ListenError, Listeners, PROXY_PORT};

/// Why the namespace is not ready. The task must not start.
#[derive(Debug, Error)]
pub enum InnerError {
    /// The namespace has an uplink, or its loopback could not be set up.
    #[error("the namespace's loopback interface could not be prepared")]
    Loopback(#[from] LoError),
    /// The kernel refused the rules.
    #[error("the ruleset could not be loaded")]
    Ruleset(#[from] ApplyError),
    /// What the kernel holds is not what was sent.
    #[error("the ruleset could not be confirmed")]
    Verify(#[from] VerifyError),
    /// The listeners could not be bound.
    #[error(transparent)]
    Listen(#[from] ListenError),
}

/// The ports of the listeners, as the rules need them.
pub const PORTS: SealedPorts = SealedPorts { proxy: PROXY_PORT, dns: DNS_PORT };

/// Closes the current network namespace and opens its only way out, the listeners.
///
/// The order is the safety: nothing but `lo` may be there; rules next, read back and compared; only then is `lo`
/// brought up, and something bound to be redirected to. The task comes after that.
pub fn set_up() -> Result<Listeners, InnerError> {
    lo::assert_only_loopback()?;
    let ruleset = nft::sealed(&PORTS);
    nft::apply(&ruleset)?;
    nft::verify(&ruleset)?;
    let families = match lo::seal()?.family {
        Family::V4Only => Families::V4,
        Family::Dual => Families::V4AndV6,
    };
    Ok(Listeners::bind(families)?)
}

impl InnerError {
    /// What the user can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Loopback(LoError::OtherDevices(_)) => {
                "start it in a namespace without uplink (Docker: network_mode: none)"
            }
            Self::Loopback(LoError::NotPermitted) | Self::Ruleset(ApplyError::NotPermitted) => {
                "give the inner part CAP_NET_ADMIN over its network namespace (Docker: cap_add: [NET_ADMIN])"
            }
            Self::Ruleset(ApplyError::Lacks { .. }) => {
                "use a kernel with nftables (5.2 or newer), or load the modules that are named on the host"
            }
            Self::Loopback(_) | Self::Ruleset(_) => "use a kernel with nftables (5.2 or newer)",
            Self::Verify(_) => "something else writes nftables rules into this namespace; stop it",
            Self::Listen(_) => "stop what holds the port in this namespace",
        }
    }
}
