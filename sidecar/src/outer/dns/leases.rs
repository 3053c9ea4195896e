//! The made-up addresses: one per name, for the life of the proxy.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use closedbook_policy::Name;

/// 198.18.0.0/15 is set aside for measurements of network devices (RFC 2544) and routed nowhere.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 1]);

/// Names that get an address. A wildcard permits any number of them, so the table needs an end (G16).
const MOST: usize = 100_000;

/// Which name has which address. A name keeps its address, and no address ever changes its name: a client may hold on
/// to what it was told for as long as it likes, and two names never share an address, so that no HTTP/2 client takes
/// two hosts for one.
#[derive(Debug, Default)]
pub(crate) struct Leases(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    addresses: HashMap<Name, Ipv4Addr>,
    names: Vec<Name>,
}

impl Leases {
    /// The address of a name; none if the table is full.
    pub(crate) fn address(&self, name: &Name) -> Option<Ipv4Addr> {
        let mut table = self.table();
        if let Some(address) = table.addresses.get(name) {
            return Some(*address);
        }
        let next = table.names.len();
        if next >= MOST {
            return None;
        }
        let address = Ipv4Addr::from_bits(FIRST.checked_add(u32::try_from(next).ok()?)?);
        table.names.push(name.clone());
        table.addresses.insert(name.clone(), address);
        Some(address)
    }

    /// The name that an address was handed out for.
    pub(crate) fn name(&self, address: IpAddr) -> Option<Name> {
        let IpAddr::V4(address) = address else { return None };
        let place = address.to_bits().checked_sub(FIRST)?;
        self.table().names.get(usize::try_from(place).ok()?).cloned()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic between the two insertions can't leave an address with two names.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    /// Each name has its own address, and each address tells its name.
    #[test]
    fn one_address_per_name() {
        let leases = Leases::default();
        let a = leases.address(&name("a.example")).unwrap();
        let b = leases.address(&name("b.example")).unwrap();
        assert_ne!(a, b);
        assert_eq!(leases.address(&name("a.example")), Some(a));
        assert_eq!(leases.name(a.into()), Some(name("a.example")));
        assert_eq!(leases.name(b.into()), Some(name("b.example")));
        for unknown in ["198.18.0.0", "198.18.0.3", "0.0.0.0", "255.255.255.255", "::1"] {
            assert_eq!(leases.name(unknown.parse().unwrap()), None, "{unknown}");
        }
    }

    /// G16: a wildcard and a client with imagination do not grow the table without bound, and what was handed out
    /// stays.
    #[test]
    fn bounded() {
        let leases = Leases::default();
        for number in 0..MOST {
            let address = leases.address(&name(&format!("n{number}.example"))).unwrap();
            let [198, 18 | 19, ..] = address.octets() else { panic!("{address} is outside the block") };
        }
        assert_eq!(leases.address(&name("one-more.example")), None);
        assert!(leases.address(&name("n0.example")).is_some());
    }
}
