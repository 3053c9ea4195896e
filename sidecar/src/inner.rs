//! The part that prepares the task's namespace: addresses, routes, rules, and listeners for whoever serves it.
//!
//! It needs CAP_NET_ADMIN over the namespace and nothing else, for a few milliseconds, before any process of the task
//! exists (G6). It never reads a byte that the task sends.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use closedbook_kernel::lo::{self, Family, LoError};
use closedbook_kernel::nft::{self, ApplyError, PACKET_LOG, SealedPorts, VerifyError};
use closedbook_kernel::packet_log;
use thiserror::Error;

use crate::handoff;
use crate::journal::Journal;
use crate::listeners::{DNS_PORT, Families, ListenError, Listeners, PROXY_PORT};

pub(crate) mod self_test;

use self_test::SelfTest;
pub use self_test::{SelfTestError, Wrong};

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
    /// Nobody would learn of refused packets.
    #[error("the kernel's log of refused packets can't be read")]
    PacketLog(#[source] io::Error),
    /// There is nowhere to keep what outlives a proxy.
    #[error("the journal could not be made")]
    Journal(#[source] io::Error),
}

/// Why a proxy was not given its listeners. The namespace stays as closed as it is.
#[derive(Debug, Error)]
pub enum HandOverError {
    /// They could not be bound.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The self-test could not be prepared.
    #[error("the self-test could not be prepared")]
    Probes(#[source] io::Error),
    /// The proxy is gone.
    #[error("the proxy took no listeners")]
    Send(#[source] io::Error),
}

/// The ports of the listeners, as the rules need them.
pub const PORTS: SealedPorts = SealedPorts { proxy: PROXY_PORT, dns: DNS_PORT };

/// A closed namespace, and what each proxy that is to serve it is given.
#[derive(Debug)]
pub struct Anchor {
    families: Families,
    packet_log: OwnedFd,
    journal: File,
}

/// A proxy has its listeners; what remains is to try it.
#[derive(Debug)]
#[must_use = "the proxy waits for the verdict"]
pub struct Untested {
    proxy: UnixStream,
    test: SelfTest,
}

/// Closes the current network namespace.
///
/// The order is the safety: nothing but `lo` may be there; rules next, read back and compared; only then is `lo`
/// brought up. Listeners are bound when there is a proxy to serve them, and the task comes after that.
pub fn set_up() -> Result<Anchor, InnerError> {
    lo::assert_only_loopback()?;
    let ruleset = nft::sealed(&PORTS);
    nft::apply(&ruleset)?;
    nft::verify(&ruleset)?;
    let families = match lo::seal()?.family {
        Family::V4Only => Families::V4,
        Family::Dual => Families::V4AndV6,
    };
    let packet_log = packet_log::open(PACKET_LOG).map_err(InnerError::PacketLog)?;
    let journal = Journal::blank().map_err(InnerError::Journal)?;
    Ok(Anchor { families, packet_log, journal })
}

impl Anchor {
    /// Binds listeners and gives them to the proxy at the other end of this socket. Needs no privilege, so a proxy that
    /// was started anew is given the same as the first. No copy is kept: held here, they would let clients hang in their
    /// backlog while nobody serves; without them clients are refused.
    pub fn hand_over(&self, proxy: UnixStream) -> Result<Untested, HandOverError> {
        let packet_log = self.packet_log.try_clone().map_err(HandOverError::Send)?;
        let listeners = Listeners::bind(self.families)?.with_packet_log(packet_log);
        let test = SelfTest::prepare(self.families).map_err(HandOverError::Probes)?;
        let sources = test.sources().map_err(HandOverError::Probes)?;
        handoff::give(&proxy, &listeners, &self.journal, sources).map_err(HandOverError::Send)?;
        Ok(Untested { proxy, test })
    }
}

impl Untested {
    /// Tries whether rules, listeners and proxy work together, and tells the proxy, which announces itself only then.
    pub fn test(self) -> Result<(), SelfTestError> {
        let tested = self.test.run();
        // A proxy that is gone needs no telling; that it is gone is seen by those who watch it.
        let _ = handoff::tell(&self.proxy, tested.as_ref().copied().map_err(|error| describe(error)));
        tested
    }
}

/// An error and its sources, on one line.
fn describe(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
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
            Self::PacketLog(_) => {
                "load the module nfnetlink_log on the host, and stop what else reads group 77"
            }
            Self::Journal(_) => "use a kernel with memfd_create (CONFIG_MEMFD_CREATE)",
        }
    }
}

impl HandOverError {
    /// What the user can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Listen(_) => "stop what holds the port in this namespace",
            Self::Probes(_) | Self::Send(_) => "this is a fault of closedbook; please report it",
        }
    }
}
