//! Names, ports and recorded bytes that both sides know.

use std::net::{SocketAddr, SocketAddrV4, ToSocketAddrs};

use crate::Result;
use crate::job::Carrier;

/// The host that is allowed. The lab knows it, and every address of the lab is the server's.
pub(crate) const ALLOWED: &str = "api.anthropic.com";
/// As long as the allowed one, so that it fits into the recorded hello.
pub(crate) const REFUSED: &str = "www.notallowed.io";
/// Where the lab's resolver is asked.
pub(crate) const RESOLVER: &str = "192.0.2.53";

/// None of them is a port of the lab's own servers.
pub(crate) const TLS: u16 = 7443;
pub(crate) const HTTP: u16 = 7080;
pub(crate) const TCP: u16 = 7001;
/// Connections here are kept and never answered again.
pub(crate) const IDLE: u16 = 7444;
/// Answers every datagram with a DNS answer that was made beforehand.
pub(crate) const DATAGRAMS: u16 = 7053;
/// Neither served nor permitted.
pub(crate) const CLOSED: u16 = 7999;

/// The hello of a real client: rustls with a post-quantum key share, 1.5 KB in one record.
pub(crate) const HELLO: &[u8] = include_bytes!("../../sidecar/tests/hellos/rustls.bin");

/// The port for a carrier.
pub(crate) fn port(carrier: Carrier) -> u16 {
    match carrier {
        Carrier::Tls => TLS,
        Carrier::Http => HTTP,
        Carrier::Tcp => TCP,
    }
}

/// The same hello with another name in it.
pub(crate) fn refused_hello() -> Result<Vec<u8>> {
    let name = ALLOWED.as_bytes();
    let at = HELLO.windows(name.len()).position(|window| window == name).ok_or("no name in the hello")?;
    let mut hello = HELLO.to_vec();
    let place = hello.get_mut(at..at + name.len()).ok_or("no name in the hello")?;
    place.iter_mut().zip(REFUSED.bytes()).for_each(|(old, new)| *old = new);
    Ok(hello)
}

/// The allowed host as this client's resolver has it, IPv4: sealed, there is no other.
pub(crate) fn address(port: u16) -> Result<SocketAddrV4> {
    let found = (ALLOWED, port).to_socket_addrs()?.find_map(|address| match address {
        SocketAddr::V4(address) => Some(address),
        SocketAddr::V6(_) => None,
    });
    found.ok_or_else(|| format!("{ALLOWED} has no IPv4 address").into())
}

/// A question for the A record of a name (RFC 1035 section 4.1).
pub(crate) fn question(name: &str, id: u16) -> Vec<u8> {
    let mut message = id.to_be_bytes().to_vec();
    message.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap_or(0));
        message.extend(label.bytes());
    }
    message.extend([0, 0, 1, 0, 1]);
    message
}
