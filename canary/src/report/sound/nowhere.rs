//! Where nobody lives: the addresses that documents are written with.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::trial::Try;

/// A try that says that nobody lives where it was aimed, and is wrong: an answer from there would be taken for a filter's.
pub(super) fn fault(attempt: &Try) -> Option<String> {
    let ip = attempt.aimed.filter(|ip| attempt.nowhere && !is_nowhere(*ip))?;
    Some(format!("it takes {ip} for an address where nobody lives"))
}

/// RFC 5737, RFC 3849, RFC 9637, and what maps the first of them into IPv6.
fn is_nowhere(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_documentation(ip),
        IpAddr::V6(ip) => {
            let [first, second, third, ..] = ip.segments();
            let of_its_own = (first == 0x2001 && second == 0xdb8) || (first == 0x3fff && second < 0x1000);
            // 6to4 (RFC 3056) has the IPv4 address behind its prefix; all others have it at the end: mapped, NAT64 (RFC
            // 6052, RFC 8215). Teredo (RFC 4380) has the client's there, with every bit turned.
            let carried = match (first, second) {
                (0x2002, _) => Some(join(second, third)),
                (0x2001, 0) => Some(Ipv4Addr::from(!u32::from(last(ip)))),
                (0, 0) | (0x64, 0xff9b) => Some(last(ip)),
                _ => None,
            };
            of_its_own || carried.is_some_and(is_documentation)
        }
    }
}

fn last(ip: Ipv6Addr) -> Ipv4Addr {
    let [.., high, low] = ip.segments();
    join(high, low)
}

fn join(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

fn is_documentation(ip: Ipv4Addr) -> bool {
    matches!(ip.octets(), [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documentation_addresses_are_nobodys() {
        let nobody = [
            "203.0.113.77",
            "192.0.2.1",
            "2001:db8::77:77",
            "3fff::1",
            "::ffff:203.0.113.77",
            "::203.0.113.77",
            "64:ff9b::203.0.113.77",
            "2002:cb00:714d::1",
        ];
        let somebody = [
            "8.8.8.8",
            "203.0.114.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "::1",
        ];
        for ip in nobody {
            assert!(is_nowhere(ip.parse().unwrap()), "{ip}");
        }
        for ip in somebody {
            assert!(!is_nowhere(ip.parse().unwrap()), "{ip}");
        }
    }
}
