//! The made-up addresses: one per name, for the life of the namespace.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use closedbook_policy::Name;

use crate::journal::Journal;

/// 198.18.0.0/15 is set aside for measurements of network devices (RFC 2544) and routed nowhere.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 1]);

/// Names that get an address. A wildcard permits any number of them, so the table needs an end (G16).
const MOST: usize = 100_000;

/// Which name has which address. A name keeps its address, and no address ever changes its name, also when a proxy dies
/// and another takes its place: a client may hold on to what it was told for as long as it likes, and two names never
/// share an address, so that no HTTP/2 client takes two hosts for one.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    table: Mutex<Table>,
    journal: Option<Arc<Journal>>,
}

#[derive(Debug, Default)]
struct Table {
    addresses: HashMap<Name, Ipv4Addr>,
    names: Vec<Name>,
}

impl Leases {
    /// Those that former proxies gave, in their order, and further ones that are noted down for the next.
    pub(crate) fn new(former: Vec<Name>, journal: Option<Arc<Journal>>) -> Self {
        let mut table = Table::default();
        for name in former {
            let next = table.next();
            table.enter(name, next);
        }
        Self { table: Mutex::new(table), journal }
    }

    /// The address of a name; none if the table is full.
    pub(crate) fn address(&self, name: &Name) -> Option<Ipv4Addr> {
        let mut table = self.table();
        if let Some(address) = table.addresses.get(name) {
            return Some(*address);
        }
        let next = table.next()?;
        // Before anybody is told.
        if let Some(Err(error)) = self.journal.as_ref().map(|journal| journal.lease(name)) {
            tracing::error!(%error, "an address can't be noted down, so it is not given");
            return None;
        }
        table.enter(name.clone(), Some(next));
        Some(next)
    }

    /// The name that an address was handed out for.
    pub(crate) fn name(&self, address: IpAddr) -> Option<Name> {
        let IpAddr::V4(address) = address else { return None };
        let place = address.to_bits().checked_sub(FIRST)?;
        self.table().names.get(usize::try_from(place).ok()?).cloned()
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic between the two insertions can't leave an address with two names.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn next(&self) -> Option<Ipv4Addr> {
        let next = u32::try_from(self.names.len()).ok().filter(|_| self.names.len() < MOST)?;
        Some(Ipv4Addr::from_bits(FIRST.checked_add(next)?))
    }

    fn enter(&mut self, name: Name, address: Option<Ipv4Addr>) {
        if let Some(address) = address {
            self.names.push(name.clone());
            self.addresses.insert(name, address);
        }
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

    /// G6: a proxy that takes another's place gives no address a second meaning.
    #[test]
    fn the_same_after_a_restart() {
        let file = Journal::blank().unwrap();
        let again = || {
            let (journal, past) = Journal::open(file.try_clone().unwrap()).unwrap();
            Leases::new(past.leases, Some(Arc::new(journal)))
        };
        let first = again();
        let address = |leases: &Leases, text: &str| leases.address(&name(text)).unwrap();
        let (b, a) = (address(&first, "b.example"), address(&first, "a.example"));
        drop(first);
        let second = again();
        assert_eq!(second.name(b.into()), Some(name("b.example")));
        let c = address(&second, "c.example");
        assert!(c != a && c != b);
        drop(second);
        let third = again();
        assert_eq!(
            (address(&third, "a.example"), address(&third, "b.example"), address(&third, "c.example")),
            (a, b, c)
        );
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
