//! TCP listeners of this network namespace, whoever has them: `/proc/net/tcp` and `tcp6`.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    /// Where it listens.
    pub(crate) at: SocketAddr,
    /// The socket's number, by which its owner is found.
    pub(crate) inode: u64,
}

impl Listener {
    /// Where it is reached from here: a wildcard address is reached on loopback.
    pub(crate) fn near(&self) -> SocketAddr {
        let ip = match self.at.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            ip => ip.to_canonical(),
        };
        SocketAddr::new(ip, self.at.port())
    }
}

/// All of them; an error if the kernel's list can't be read.
pub(crate) fn listeners() -> std::io::Result<Vec<Listener>> {
    let mut found = parse(&fs::read_to_string("/proc/net/tcp")?);
    // A kernel without IPv6 has no such file.
    found.extend(parse(&fs::read_to_string("/proc/net/tcp6").unwrap_or_default()));
    Ok(found)
}

/// Listeners that belong to no process which can be seen from here: those of a sidecar, or of another user. A process
/// that can be seen is the task's own, and what it serves is its own business.
pub(crate) fn foreign() -> std::io::Result<Vec<Listener>> {
    let owned = owned_sockets();
    Ok(listeners()?.into_iter().filter(|listener| !owned.contains(&listener.inode)).collect())
}

/// Numbers of sockets that visible processes hold.
pub(crate) fn owned_sockets() -> HashSet<u64> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let descriptors =
        processes.filter_map(|process| fs::read_dir(process.path().join("fd")).ok()).flatten().flatten();
    descriptors
        .filter_map(|descriptor| socket_number(&fs::read_link(descriptor.path()).ok()?.to_string_lossy()))
        .collect()
}

fn socket_number(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Lines of `/proc/net/tcp` in state LISTEN (0A); addresses are words in the machine's own order.
fn parse(text: &str) -> Vec<Listener> {
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            if *columns.get(3)? != "0A" {
                return None;
            }
            let (ip, port) = columns.get(1)?.split_once(':')?;
            let at = SocketAddr::new(address(ip)?, u16::from_str_radix(port, 16).ok()?);
            Some(Listener { at, inode: columns.get(9)?.parse().ok()? })
        })
        .collect()
}

fn address(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hex.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?).into()),
        32 => {
            let octets: Vec<u8> = [word(0)?, word(8)?, word(16)?, word(24)?].concat();
            Some(Ipv6Addr::from(<[u8; 16]>::try_from(octets).ok()?).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn lines_of_the_kernel_are_read() {
        let text = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
                    0: 0100007F:3ACD 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 508107 1 0 100 0 0 10 0\n   \
                    1: 0100007F:3039 0100C80A:BDB9 06 00000000:00000000 03:0000176D 00000000     0        0 0 3 0\n   \
                    2: 00000000000000000000000000000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 9 1 0 100 0 0 10 0\n";
        let found = parse(text);
        assert_eq!(found[0], Listener { at: "127.0.0.1:15053".parse().unwrap(), inode: 508107 });
        assert_eq!((found.len(), found[1].near()), (2, "[::1]:80".parse().unwrap()));
        assert!(parse("header\n 0: zz:1 0 0A\n\n").is_empty());
    }

    #[test]
    fn links_to_sockets_have_a_number() {
        assert_eq!(socket_number("socket:[508107]"), Some(508107));
        assert_eq!(socket_number("pipe:[508107]"), None);
    }

    #[test]
    fn an_own_listener_is_seen_and_owned() {
        let own = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = own.local_addr().unwrap();
        assert!(listeners().unwrap().iter().any(|listener| listener.at == at));
        assert!(!foreign().unwrap().iter().any(|listener| listener.at == at));
    }
}
