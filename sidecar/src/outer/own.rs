//! The addresses of the machine that the proxy runs on: never dialled, whatever a name resolves to.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::ifaddrs::getifaddrs;
use nix::sys::socket::SockaddrStorage;

/// How long the list is good for. An address that a machine gets later is kept out after this at the latest.
const FRESH: Duration = Duration::from_secs(2);

/// Addresses that are assigned to an interface. What is merely routed here (`ip route add local`) is not among them:
/// a whole made-up internet can live on such a route.
#[derive(Debug, Default)]
pub(crate) struct Own {
    seen: Mutex<Option<(Instant, Arc<HashSet<IpAddr>>)>>,
}

impl Own {
    /// Whether the address is one of them; an error if that can't be told, which is no permission.
    pub(crate) fn has(&self, address: IpAddr) -> io::Result<bool> {
        Ok(self.list()?.contains(&address))
    }

    fn list(&self) -> io::Result<Arc<HashSet<IpAddr>>> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match &*seen {
            Some((when, list)) if when.elapsed() < FRESH => Ok(Arc::clone(list)),
            _ => {
                let list = Arc::new(assigned()?);
                *seen = Some((Instant::now(), Arc::clone(&list)));
                Ok(list)
            }
        }
    }
}

fn assigned() -> io::Result<HashSet<IpAddr>> {
    Ok(getifaddrs()?.filter_map(|interface| interface.address.as_ref().and_then(ip)).collect())
}

fn ip(address: &SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| IpAddr::V4(address.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| IpAddr::V6(address.ip())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G9: the machine's own addresses are known; what is not assigned is not taken for one.
    #[test]
    fn loopback_is_own() {
        let own = Own::default();
        assert!(own.has("127.0.0.1".parse().unwrap()).unwrap());
        assert!(!own.has("127.0.0.2".parse().unwrap()).unwrap(), "in the block, but not assigned");
        assert!(!own.has("203.0.113.77".parse().unwrap()).unwrap());
    }
}
