//! Which names exist, and where they point. Deterministic: the same names in the same order give the same world.

mod special;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use closedbook_policy::Name;
use serde::Serialize;

pub use special::{Answer, DEAD, Dead, DeadRoute};

/// Everything below this name, and the name itself, belongs to the witness.
pub const WITNESS_ZONE: &str = "leak.test";
/// The witness under a plain name.
pub const WITNESS: &str = "witness.test";
/// Where the witness lives (RFC 5737, TEST-NET-3).
pub const WITNESS_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 200);
/// Where the witness lives (RFC 3849).
pub const WITNESS_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 2, 200);
/// Another address of the witness, at which nobody aims without meaning it: whatever arrives there is telling.
pub const QUIET_V4: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 202);
/// Where the lab's resolver is asked. It answers at every other address too.
pub const RESOLVER_V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 53);
/// The resolver's other address.
pub const RESOLVER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x53);

/// The names of a lab, and where its witness writes.
#[derive(Debug, Clone)]
pub struct World {
    hosts: Vec<Host>,
    index: HashMap<Name, usize>,
    log: Option<PathBuf>,
}

/// A name that points at the lab's servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Host {
    /// The name.
    #[serde(serialize_with = "as_text")]
    pub name: Name,
    /// What it is for.
    pub role: Role,
    /// Its A record.
    pub v4: Ipv4Addr,
    /// Its AAAA record.
    pub v6: Ipv6Addr,
}

/// What a host is for. It changes nothing in how the host behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Serves a model.
    Model,
    /// Where an agent logs in.
    Login,
    /// Where things are installed from.
    Setup,
    /// Where an agent reports to.
    Telemetry,
    /// A search or fetch service.
    Tool,
    /// A host that a closed-book run has no business with.
    Blocked,
    /// The witness.
    Witness,
    /// Named by the caller.
    Added,
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl World {
    /// The hosts of the built-in table.
    pub fn new() -> Self {
        let mut world = Self { hosts: Vec::new(), index: HashMap::new(), log: None };
        for (role, names) in table::HOSTS {
            // A test holds that every row is a name.
            names.iter().filter_map(|text| Name::parse(text).ok()).for_each(|name| world.add(name, *role));
        }
        world
    }

    /// The same world with one more host. A name that is there already keeps its address.
    pub fn with_host(mut self, name: Name) -> Self {
        self.add(name, Role::Added);
        self
    }

    /// The same world, its witness writing JSON lines to `path`.
    pub fn with_log(mut self, path: PathBuf) -> Self {
        self.log = Some(path);
        self
    }

    /// Where the witness writes.
    pub(crate) fn log(&self) -> Option<&PathBuf> {
        self.log.as_ref()
    }

    /// The hosts, the witness last. Special names (`timeout.test` and the like) are not hosts.
    pub fn hosts(&self) -> Vec<Host> {
        let witness = [WITNESS, WITNESS_ZONE].into_iter().filter_map(|name| Name::parse(name).ok());
        let witness = witness.map(|name| Host { name, role: Role::Witness, v4: WITNESS_V4, v6: WITNESS_V6 });
        self.hosts.iter().cloned().chain(witness).collect()
    }

    /// What the resolver says about a name.
    pub fn answer(&self, name: &Name) -> Answer {
        if let Some(answer) = special::answer(name) {
            return answer;
        }
        if name.as_str() == WITNESS || special::in_witness_zone(name) {
            return Answer::at(WITNESS_V4, WITNESS_V6);
        }
        match self.index.get(name).and_then(|position| self.hosts.get(*position)) {
            Some(host) => Answer::at(host.v4, host.v6),
            None => Answer::NoSuchName,
        }
    }

    fn add(&mut self, name: Name, role: Role) {
        if self.index.contains_key(&name) {
            return;
        }
        let position = self.hosts.len();
        let (v4, v6) = addresses(position);
        self.index.insert(name.clone(), position);
        self.hosts.push(Host { name, role, v4, v6 });
    }
}

/// TEST-NET-2 first, then the lower part of TEST-NET-3, then round again: servers tell hosts apart by name.
fn addresses(position: usize) -> (Ipv4Addr, Ipv6Addr) {
    const FIRST: u32 = 254;
    const SECOND: u32 = 199;
    let position = u32::try_from(position).unwrap_or(u32::MAX);
    let round = position % (FIRST + SECOND);
    let v4 = match round.checked_sub(FIRST) {
        None => u32::from(Ipv4Addr::new(198, 51, 100, 1)) + round,
        Some(rest) => u32::from(Ipv4Addr::new(203, 0, 113, 1)) + rest,
    };
    let v6 = u128::from(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 1, 0)) + 1 + u128::from(position);
    (Ipv4Addr::from(v4), Ipv6Addr::from(v6))
}

fn as_text<S: serde::Serializer>(name: &Name, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(name.as_str())
}

/// Sorts addresses into what A and AAAA records carry.
pub(crate) fn split(addresses: &[IpAddr]) -> (Vec<Ipv4Addr>, Vec<Ipv6Addr>) {
    let mut v4 = Vec::new();
    let mut v6 = Vec::new();
    for address in addresses {
        match address {
            IpAddr::V4(address) => v4.push(*address),
            IpAddr::V6(address) => v6.push(*address),
        }
    }
    (v4, v6)
}
