//! Where a redirected connection was aimed at.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use closedbook_policy::{Reason, Refusal};
use nix::sys::socket::sockopt::{Ip6tOriginalDst, OriginalDst as Ip4tOriginalDst};
use nix::sys::socket::{SockaddrIn, SockaddrIn6, getsockopt};
use tokio::net::TcpStream;

/// Tells the destination that a connection had before it was redirected.
pub(crate) type OriginalDst = Arc<dyn Fn(&TcpStream) -> io::Result<SocketAddr> + Send + Sync>;

/// Asks connection tracking. It answers at the level of the listener's family, and for a connection that was not
/// redirected with the listener's own address.
pub(crate) fn from_kernel(stream: &TcpStream) -> io::Result<SocketAddr> {
    match stream.local_addr()? {
        SocketAddr::V4(_) => {
            let address = SockaddrIn::from(getsockopt(stream, Ip4tOriginalDst)?);
            Ok(SocketAddr::from((address.ip(), address.port())))
        }
        SocketAddr::V6(_) => {
            let address = SockaddrIn6::from(getsockopt(stream, Ip6tOriginalDst)?);
            Ok(SocketAddr::from((address.ip(), address.port())))
        }
    }
}

/// The destination in its one form (IPv4-mapped IPv6 addresses are IPv4), or why there can't be one: a connection
/// aimed at this proxy itself, or at the task's own loopback, is never passed on.
pub(crate) fn judge(
    original: io::Result<SocketAddr>,
    listener: io::Result<SocketAddr>,
) -> Result<SocketAddr, Refusal> {
    let unknown = |error| Refusal::new(Reason::Loop, format!("where it was aimed at can't be told: {error}"));
    let (original, listener) = (canonical(original.map_err(unknown)?), canonical(listener.map_err(unknown)?));
    if original == listener {
        return Err(Refusal::new(Reason::Loop, "the connection was aimed at closedbook's own listener"));
    }
    let address = original.ip();
    if address.is_loopback() || address.is_unspecified() {
        return Err(Refusal::new(Reason::Loop, format!("{address} is the task's own address")));
    }
    Ok(original)
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(original: &str) -> Result<SocketAddr, Reason> {
        let listener = "127.0.0.1:12345".parse().unwrap();
        judge(Ok(original.parse().unwrap()), Ok(listener)).map_err(|refusal| refusal.reason)
    }

    /// G9: the proxy's own port and the task's loopback are a loop in every spelling.
    #[test]
    fn loops() {
        for original in [
            "127.0.0.1:12345",
            "[::ffff:127.0.0.1]:12345",
            "127.0.0.1:443",
            "127.8.8.8:443",
            "[::1]:443",
            "0.0.0.0:443",
            "[::]:443",
            "[::ffff:0.0.0.0]:443",
        ] {
            assert_eq!(judged(original), Err(Reason::Loop), "{original}");
        }
    }

    /// G3: an address has one form.
    #[test]
    fn canonical_form() {
        assert_eq!(judged("203.0.113.5:443").unwrap().to_string(), "203.0.113.5:443");
        assert_eq!(judged("[::ffff:203.0.113.5]:443").unwrap().to_string(), "203.0.113.5:443");
        assert_eq!(judged("[2001:db8::5]:443").unwrap().to_string(), "[2001:db8::5]:443");
    }

    /// G4: a destination that can't be told refuses; nothing else takes its place.
    #[test]
    fn unknown_is_refused() {
        let listener = || Ok("127.0.0.1:12345".parse().unwrap());
        let nowhere = judge(Err(io::ErrorKind::NotFound.into()), listener());
        assert_eq!(nowhere.unwrap_err().reason, Reason::Loop);
    }
}
