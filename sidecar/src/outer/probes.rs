//! closedbook's own attempts: those of the self-test, which are no attempts of the task and not recorded as such.

use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::evidence::packet::Packet;
use crate::inner::self_test::{NOWHERE_V4, NOWHERE_V6};

/// The addresses that the self-test comes from. Its sockets are bound by the part that holds the namespace, so while the
/// test lasts nobody else has them.
#[derive(Debug, Default)]
pub struct Probes {
    sources: OnceLock<Vec<SocketAddr>>,
    over: AtomicBool,
}

impl Probes {
    /// From now on what comes from these addresses is the self-test's. Only the first call counts.
    pub fn expect(&self, sources: Vec<SocketAddr>) {
        // A proxy is handed its listeners once.
        let _ = self.sources.set(sources);
    }

    /// The test is over: the addresses may be anybody's again.
    pub fn over(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Whether a client is the self-test; what is aimed elsewhere than the self-test's one address is somebody else's.
    pub(crate) fn has(&self, client: Option<SocketAddr>, aimed_at: Option<&SocketAddr>) -> bool {
        client.is_some_and(|client| self.are(client))
            && aimed_at.is_none_or(nowhere)
            && !self.over.load(Ordering::Acquire)
    }

    /// Whether a refused packet was the self-test's. Copies of packets may come late, so this holds on; what else is sent
    /// from there to that one address, which stands for nothing, is not missed.
    pub(crate) fn sent(&self, packet: &Packet) -> bool {
        packet.destination().as_ref().is_some_and(nowhere)
            && packet.source().is_some_and(|source| self.are(source))
    }

    fn are(&self, client: SocketAddr) -> bool {
        self.sources.get().is_some_and(|sources| sources.contains(&client))
    }
}

fn nowhere(to: &SocketAddr) -> bool {
    [IpAddr::from(NOWHERE_V4), IpAddr::from(NOWHERE_V6)].contains(&to.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G13: only the self-test goes unrecorded, and only while it lasts.
    #[test]
    fn nobody_else_and_no_longer() {
        let probes = Probes::default();
        let own: SocketAddr = "10.200.0.1:40000".parse().unwrap();
        let other = "10.200.0.1:40001".parse().unwrap();
        assert!(!probes.has(Some(own), None));
        probes.expect(vec![own]);
        assert!(probes.has(Some(own), None) && !probes.has(Some(other), None) && !probes.has(None, None));
        let (nowhere, elsewhere) = ("198.19.255.254:443".parse().unwrap(), "192.0.2.1:443".parse().unwrap());
        assert!(probes.has(Some(own), Some(&nowhere)) && !probes.has(Some(own), Some(&elsewhere)));
        probes.expect(vec![other]);
        assert!(!probes.has(Some(other), None));
        probes.over();
        assert!(!probes.has(Some(own), None) && !probes.has(Some(own), Some(&nowhere)));
    }
}
