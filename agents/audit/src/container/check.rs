//! The checks: facts to findings.

use super::Sidecars;
use super::facts::{Container, Flag, Network, Spot, User};
use super::finding::{Level, Remark};
use super::report::Role;
use super::world::{Egress, Topology, World};

mod capabilities;
mod confinement;
mod devices;
mod environment;
mod host_paths;
mod mounts;
mod namespaces;
mod network;
mod order;
mod shared;
mod sidecar;
mod sysctls;

/// One container, and what is round it.
struct Case<'a> {
    world: &'a World,
    all: &'a [Container],
    index: usize,
    container: &'a Container,
    role: Role,
    egress: Egress,
}

/// What is said of one container.
pub(super) fn container(world: &World, all: &[Container], index: usize) -> Vec<Remark> {
    let Some(container) = all.get(index) else { return Vec::new() };
    let role = world.roles.get(index).copied().unwrap_or(Role::Task);
    let egress = world.egress(all, index);
    let case = Case { world, all, index, container, role, egress };
    let mut found = container.remarks.clone();
    capabilities::check(&case, &mut found);
    namespaces::check(&case, &mut found);
    network::check(&case, &mut found);
    mounts::check(&case, &mut found);
    shared::check(&case, &mut found);
    devices::check(&case, &mut found);
    sysctls::check(&case, &mut found);
    confinement::check(&case, &mut found);
    environment::check(&case, &mut found);
    order::check(&case, &mut found);
    sidecar::check(&case, &mut found);
    found
}

/// What is said of all together, with the file that it is about.
pub(super) fn general(world: &World, all: &[Container], told: &Sidecars) -> Vec<(usize, Remark)> {
    if *told == Sidecars::Absent {
        return Vec::new();
    }
    // The first of each scope that needs somebody who enforces: those without any network need nobody.
    let mut open = std::collections::BTreeMap::new();
    for (index, one) in all.iter().enumerate() {
        if matches!(world.egress(all, index), Egress::Own(_) | Egress::Internal(_) | Egress::Host) {
            open.entry(one.scope).or_insert(one);
        }
    }
    let alone = open.into_iter().filter(|(scope, _)| world.first_sidecar(*scope).is_none());
    let remark = |(_, one): (usize, &Container)| {
        let what = format!("nothing stands between {} and its network", one.name);
        let remark = say(Level::Breaks, "no-sidecar", &one.spot, what)
            .allows("The task reaches whatever its network reaches.")
            .remedy(
                "add closedbook and let the tasks share its network; --sidecar NAME if it has another name; \
                 --no-sidecar if they have no network",
            );
        (one.file, remark)
    };
    alone.map(remark).collect()
}

impl Case<'_> {
    fn is_sidecar(&self) -> bool {
        self.role == Role::Sidecar
    }

    /// Whether there is no way out that rules would have to guard.
    fn is_sealed(&self) -> bool {
        match self.role {
            Role::Task => matches!(self.egress, Egress::Sealed | Egress::Behind(_, Topology::Sealed)),
            Role::Sidecar => self.container.network.value == Network::None,
        }
    }

    /// Whether the first process is surely not root, and can't become it.
    fn stays_unprivileged(&self) -> bool {
        self.container.user.value == User::Number && self.container.no_new_privileges.value == Flag::On
    }

    /// The name of the sidecar that enforces, or that should.
    fn sidecar_name(&self) -> &str {
        let by_egress = match self.egress {
            Egress::Behind(Some(index), _) => Some(index),
            _ => self.world.first_sidecar(self.container.scope),
        };
        by_egress.and_then(|index| self.all.get(index)).map_or("closedbook", |one| one.name.as_str())
    }

    /// A level for a task, and another for what enforces.
    fn by_role(&self, task: Level, sidecar: Level) -> Level {
        if self.is_sidecar() { sidecar } else { task }
    }
}

fn say(level: Level, id: &'static str, spot: &Spot, what: impl Into<String>) -> Remark {
    Remark::new(level, id, spot, what)
}
