//! What the kernel's tables say of the way out, and of who listens here. Read without a packet.

use std::fs::read_to_string;
use std::net::Ipv4Addr;

/// The default route of IPv4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultRoute {
    /// The device it leaves by.
    pub device: String,
    /// The next hop, if the route names one.
    pub gateway: Option<Ipv4Addr>,
}

/// The default route, if there is one.
pub fn default_route() -> Option<DefaultRoute> {
    default_in(&read_to_string("/proc/net/route").ok()?)
}

/// The device by which packets leave: the default route's; else any but loopback; else loopback.
pub fn way_out() -> String {
    let other = || devices().into_iter().find(|device| device != "lo");
    default_route().map(|route| route.device).or_else(other).unwrap_or_else(|| "lo".to_owned())
}

/// All network devices.
pub fn devices() -> Vec<String> {
    let listed = read_to_string("/proc/net/dev").unwrap_or_default();
    listed.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim().to_owned()).collect()
}

/// Ports that somebody of this namespace holds at this address: UDP, and TCP that listens.
pub fn ports_at(ip: Ipv4Addr) -> (Vec<u16>, Vec<u16>) {
    let held = |table: &str, state: &str| {
        let text = read_to_string(table).unwrap_or_default();
        text.lines().filter_map(|line| port_in(line, ip, state)).collect()
    };
    // 07 is a UDP socket without a peer, 0A a TCP socket that listens.
    (held("/proc/net/udp", "07"), held("/proc/net/tcp", "0A"))
}

/// Columns: device, destination, gateway, flags, references, uses, metric, mask. Addresses are the octets in the order of
/// the wire, printed as a number of this machine.
fn default_in(table: &str) -> Option<DefaultRoute> {
    table.lines().skip(1).find_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [device, "00000000", gateway, _, _, _, _, "00000000", ..] = *columns.as_slice() else {
            return None;
        };
        let gateway = address(gateway).filter(|gateway| !gateway.is_unspecified());
        Some(DefaultRoute { device: device.to_owned(), gateway })
    })
}

/// Columns: number, local address and port, remote, state.
fn port_in(line: &str, ip: Ipv4Addr, wanted: &str) -> Option<u16> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let [_, local, _, state, ..] = *columns.as_slice() else { return None };
    let (local, port) = local.split_once(':')?;
    let here = address(local) == Some(ip) && state == wanted;
    here.then(|| u16::from_str_radix(port, 16).ok()).flatten()
}

fn address(hex: &str) -> Option<Ipv4Addr> {
    u32::from_str_radix(hex, 16).ok().map(|number| Ipv4Addr::from(number.to_ne_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_route_is_the_one_without_a_mask() {
        let gateway = u32::from_ne_bytes([172, 17, 0, 1]);
        let table = format!(
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
             eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n\
             eth0\t00000000\t{gateway:08X}\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
        );
        let found = default_in(&table);
        let expected = DefaultRoute { device: "eth0".into(), gateway: Some(Ipv4Addr::new(172, 17, 0, 1)) };
        assert_eq!(found, Some(expected));
        let by_device = table.replace(&format!("{gateway:08X}"), "00000000");
        assert_eq!(default_in(&by_device).map(|route| route.gateway), Some(None));
        assert_eq!(default_in(table.lines().next().unwrap()), None);
    }

    #[test]
    fn the_engines_ports_are_found() {
        let ip = Ipv4Addr::new(127, 0, 0, 11);
        let number = u32::from_ne_bytes(ip.octets());
        let line =
            format!("  12: {number:08X}:A1B2 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 1");
        assert_eq!(port_in(&line, ip, "07"), Some(0xa1b2));
        assert_eq!(port_in(&line, ip, "0A"), None);
        assert_eq!(port_in(&line, Ipv4Addr::LOCALHOST, "07"), None);
    }
}
