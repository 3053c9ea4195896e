//! The addresses of the machine, asked for over a socket that was opened before the process gave up opening any.

use std::collections::HashSet;
use std::io;
use std::net::IpAddr;

use netlink_packet_core::{Emitable, Parseable};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::libc;

use crate::netlink::{self, Channel};

/// How often a list is read again that changed while it was read.
const ATTEMPTS: usize = 4;

/// A conversation with the kernel about the addresses of one network namespace.
#[derive(Debug)]
pub struct Addresses {
    channel: Channel,
    sequence: u32,
}

impl Addresses {
    /// Of the calling thread's network namespace. Needs no privilege.
    pub fn open() -> io::Result<Self> {
        Ok(Self { channel: Channel::open(NETLINK_ROUTE)?, sequence: 0 })
    }

    /// Those that are assigned to an interface now. What is merely routed here (`ip route add local`) is not among them.
    ///
    /// # Errors
    /// `Interrupted` when the list did not hold still.
    pub fn list(&mut self) -> io::Result<HashSet<IpAddr>> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.list_once() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted && attempts < ATTEMPTS => {}
                result => return result,
            }
        }
    }

    fn list_once(&mut self) -> io::Result<HashSet<IpAddr>> {
        // Of both families.
        let every = AddressMessage::default();
        let mut body = vec![0; every.buffer_len()];
        every.emit(&mut body);
        self.sequence = self.sequence.wrapping_add(1);
        let request = netlink::request(libc::RTM_GETADDR, libc::NLM_F_DUMP, self.sequence, &body);
        let mut found = HashSet::new();
        let mut unreadable = false;
        self.channel.dump(&request, self.sequence, |answer| match assigned(answer.body()) {
            Some(addresses) => found.extend(addresses),
            None => unreadable = true,
        })?;
        if unreadable { Err(io::ErrorKind::InvalidData.into()) } else { Ok(found) }
    }
}

/// On a link to a single peer the local address is apart from the other, elsewhere they are the same.
fn assigned(body: &[u8]) -> Option<Vec<IpAddr>> {
    let message = AddressMessage::parse(body).ok()?;
    let local = message.attributes.iter().filter_map(|attribute| match attribute {
        AddressAttribute::Local(address) => Some(*address),
        _ => None,
    });
    let local: Vec<IpAddr> = local.collect();
    if !local.is_empty() {
        return Some(local);
    }
    let address = message.attributes.iter().filter_map(|attribute| match attribute {
        AddressAttribute::Address(address) => Some(*address),
        _ => None,
    });
    Some(address.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// G9: the machine's own addresses are known, of both families; what is not assigned is not taken for one.
    #[test]
    fn loopback_is_listed() {
        let mut addresses = Addresses::open().unwrap();
        for _ in 0..2 {
            let list = addresses.list().unwrap();
            assert!(list.contains(&"127.0.0.1".parse().unwrap()), "{list:?}");
            assert!(!list.contains(&"127.0.0.2".parse().unwrap()), "in the block, but not assigned");
            let v6 = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
            assert_eq!(
                list.contains(&"::1".parse().unwrap()),
                v6.contains("00000000000000000000000000000001")
            );
        }
    }
}
