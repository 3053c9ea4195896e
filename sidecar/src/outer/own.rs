//! The addresses of the machine that the proxy runs on: never dialled, whatever a name resolves to.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use closedbook_kernel::addresses::Addresses;

/// How long the list is good for. An address that a machine gets later is kept out after this at the latest.
const FRESH: Duration = Duration::from_secs(2);

/// Addresses that are assigned to an interface. What is merely routed here (`ip route add local`) is not among them:
/// a whole made-up internet can live on such a route.
///
/// The kernel is asked over one socket, opened before the process gives up opening any.
#[derive(Debug)]
pub(crate) struct Own(Mutex<Seen>);

#[derive(Debug)]
struct Seen {
    addresses: Addresses,
    list: Option<(Instant, HashSet<IpAddr>)>,
}

impl Own {
    /// Of the network namespace that the calling thread is in.
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(Mutex::new(Seen { addresses: Addresses::open()?, list: None })))
    }

    /// Whether the address is one of them; an error if that can't be told, which is no permission.
    pub(crate) fn has(&self, address: IpAddr) -> io::Result<bool> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &seen.list {
            Some((when, list)) if when.elapsed() < FRESH => Ok(list.contains(&address)),
            _ => {
                let list = seen.addresses.list()?;
                let found = list.contains(&address);
                seen.list = Some((Instant::now(), list));
                Ok(found)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G9: the machine's own addresses are known; what is not assigned is not taken for one.
    #[test]
    fn loopback_is_own() {
        let own = Own::open().unwrap();
        assert!(own.has("127.0.0.1".parse().unwrap()).unwrap());
        assert!(!own.has("127.0.0.2".parse().unwrap()).unwrap(), "in the block, but not assigned");
        assert!(!own.has("203.0.113.77".parse().unwrap()).unwrap());
    }
}
