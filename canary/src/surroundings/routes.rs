//! The default gateway: `/proc/net/route`.

use std::fs;
use std::net::Ipv4Addr;

/// The IPv4 gateways of default routes. A route to a device alone has none.
pub(crate) fn gateways() -> Vec<Ipv4Addr> {
    parse(&fs::read_to_string("/proc/net/route").unwrap_or_default())
}

/// `Iface Destination Gateway Flags ... Mask`; addresses are words in the machine's own order.
fn parse(text: &str) -> Vec<Ipv4Addr> {
    let word = |hex: &str| u32::from_str_radix(hex, 16).ok().map(|word| Ipv4Addr::from(word.to_ne_bytes()));
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (to, gateway, mask) = (columns.get(1)?, columns.get(2)?, columns.get(7)?);
            let is_default = word(to)?.is_unspecified() && word(mask)?.is_unspecified();
            word(gateway).filter(|gateway| is_default && !gateway.is_unspecified())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn default_routes_alone_have_a_gateway() {
        let text = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n\
            eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
            eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n\
            lo\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0\n";
        assert_eq!(parse(text), [Ipv4Addr::new(172, 17, 0, 1)]);
    }
}
