//! Who enforces, and who shares whose network.

use std::collections::{BTreeMap, BTreeSet};

use super::Sidecars;
use super::facts::{Container, Network};
use super::path::file_name;
use super::report::Role;

mod names;
mod sidecar_mounts;

use names::Names;
pub(super) use sidecar_mounts::SidecarMounts;

/// Names that enforcing containers and their images have.
const KNOWN: [&str; 4] = ["closedbook", "closedbook-sidecar", "closedbook-inner", "closedbook-outer"];

/// Part of the names of what Harbor starts.
const HARBOR: &str = "harbor-docker-egress-control-sidecar";

/// Whose network namespace it is in the end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Root {
    Container(usize),
    /// The pod of this scope.
    Pod(usize),
    /// One that is not in the input.
    Outside(String),
    /// They share each other's in a circle.
    Circle,
}

/// The way out of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Egress {
    /// Through a sidecar. Which one; `None` if it is not in the input.
    Behind(Option<usize>, Topology),
    /// No network at all.
    Sealed,
    /// The machine's network.
    Host,
    /// A network of its own, by name.
    Own(String),
    /// One without a way out, by name.
    Internal(String),
    Unknown(String),
}

/// Whether the sidecar's namespace has an uplink beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topology {
    Sealed,
    Shared,
}

pub(super) struct World {
    pub(super) roles: Vec<Role>,
    roots: Vec<Root>,
    sidecars: BTreeMap<Root, usize>,
    /// Sidecars whose namespace somebody else is in.
    pub(super) joined: BTreeSet<usize>,
    /// Names that were given and that nothing has.
    pub(super) missing: Vec<String>,
    /// Names that were given, of namespaces outside of the input.
    outside: BTreeSet<String>,
    names: Names,
    /// The first sidecar of each scope.
    firsts: BTreeMap<usize, usize>,
    /// What the sidecars of each scope mount.
    mounts: BTreeMap<usize, SidecarMounts>,
}

impl World {
    pub(super) fn new(all: &[Container], told: &Sidecars) -> Self {
        let names = Names::of(all);
        let roots = roots(all, &names);
        let roles = roles(all, &roots, told);
        let mut world = Self {
            sidecars: BTreeMap::new(),
            joined: BTreeSet::new(),
            missing: Vec::new(),
            outside: BTreeSet::new(),
            firsts: BTreeMap::new(),
            mounts: BTreeMap::new(),
            names,
            roots,
            roles,
        };
        world.find_groups();
        for (index, one) in
            all.iter().enumerate().filter(|(index, _)| world.roles.get(*index) == Some(&Role::Sidecar))
        {
            world.firsts.entry(one.scope).or_insert(index);
            world.mounts.entry(one.scope).or_default().add(one);
        }
        if let Sidecars::Named(given) = told {
            world.find_missing(all, given);
        }
        world
    }

    pub(super) fn egress(&self, all: &[Container], index: usize) -> Egress {
        let root = self.roots.get(index).unwrap_or(&Root::Circle);
        let network = match root {
            Root::Container(root) => all.get(*root).map(|container| &container.network.value),
            Root::Pod(_) => Some(&Network::Pod),
            Root::Outside(name) if self.outside.contains(name) => {
                return Egress::Behind(None, Topology::Shared);
            }
            Root::Outside(name) => {
                return Egress::Unknown(format!(
                    "it shares the network of {name}, which is not in the input"
                ));
            }
            Root::Circle => None,
        };
        let sidecar = self.sidecars.get(root).copied();
        match (network, sidecar) {
            (Some(Network::Host), _) => Egress::Host,
            (Some(Network::None), Some(sidecar)) => Egress::Behind(Some(sidecar), Topology::Sealed),
            (Some(_), Some(sidecar)) => Egress::Behind(Some(sidecar), Topology::Shared),
            (Some(Network::None), None) => Egress::Sealed,
            (Some(Network::Own(name)), None) => Egress::Own(name.clone()),
            (Some(Network::Internal(name)), None) => Egress::Internal(name.clone()),
            (Some(Network::Pod), None) => Egress::Own("the pod's network".into()),
            (Some(Network::Unknown(what)), None) => Egress::Unknown(what.clone()),
            (Some(Network::Of(_)) | None, _) => {
                Egress::Unknown("containers share each other's network in a circle".into())
            }
        }
    }

    /// The container of this name among those that this one knows.
    pub(super) fn find(&self, from: &Container, name: &str) -> Option<usize> {
        self.names.find(from.scope, name)
    }

    /// The first sidecar among those that know each other.
    pub(super) fn first_sidecar(&self, scope: usize) -> Option<usize> {
        self.firsts.get(&scope).copied()
    }

    /// What the sidecars mount that know this container.
    pub(super) fn sidecar_mounts(&self, scope: usize) -> Option<&SidecarMounts> {
        self.mounts.get(&scope)
    }

    pub(super) fn is_sidecar(&self, index: usize) -> bool {
        self.roles.get(index) == Some(&Role::Sidecar)
    }

    /// One for each namespace: the one whose namespace it is, before those that have joined it.
    fn find_groups(&mut self) {
        for (index, root) in self.roots.iter().enumerate() {
            if self.is_sidecar(index) {
                let is_owner = *root == Root::Container(index);
                match self.sidecars.get(root) {
                    Some(_) if !is_owner => {}
                    _ => {
                        self.sidecars.insert(root.clone(), index);
                    }
                }
            }
        }
        for (index, root) in self.roots.iter().enumerate() {
            if !self.is_sidecar(index) {
                self.joined.extend(self.sidecars.get(root));
            }
        }
    }

    fn find_missing(&mut self, all: &[Container], given: &[String]) {
        for name in given {
            let spellings = [name.clone(), format!("container:{name}")];
            let outside =
                spellings.into_iter().find(|name| self.roots.contains(&Root::Outside(name.clone())));
            if let Some(outside) = outside {
                self.outside.insert(outside);
            } else if !all.iter().any(|container| container.is_called(name)) {
                self.missing.push(name.clone());
            }
        }
    }
}

fn roles(all: &[Container], roots: &[Root], told: &Sidecars) -> Vec<Role> {
    let role = |is_sidecar: bool| if is_sidecar { Role::Sidecar } else { Role::Task };
    match told {
        Sidecars::Absent => vec![Role::Task; all.len()],
        Sidecars::Named(names) => {
            all.iter().map(|one| role(names.iter().any(|name| one.is_called(name)))).collect()
        }
        Sidecars::Found => {
            let with_known: BTreeSet<usize> =
                all.iter().filter(|one| is_known(one)).map(|one| one.scope).collect();
            let shared: BTreeSet<usize> = roots
                .iter()
                .enumerate()
                .filter_map(|(index, root)| match root {
                    Root::Container(owner) if *owner != index => Some(*owner),
                    _ => None,
                })
                .collect();
            let is_one = |(index, one): (usize, &Container)| match with_known.contains(&one.scope) {
                true => is_known(one),
                false => shared.contains(&index),
            };
            all.iter().enumerate().map(is_one).map(role).collect()
        }
    }
}

/// By its names or its image's. `canary` and other images of this program enforce nothing.
fn is_known(container: &Container) -> bool {
    let image = container.image.as_deref().unwrap_or_default();
    let repository = image.split('@').next().unwrap_or_default();
    let base = file_name(repository).split(':').next().unwrap_or_default();
    let has_name = |name: &str| {
        // Compose puts the project's name before a service's, and a number behind.
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = stem.strip_suffix(['-', '_']).filter(|_| stem.len() < name.len());
        let is_it = |stem: &str, known: &str| {
            stem.strip_suffix(known)
                .is_some_and(|project| project.is_empty() || project.ends_with(['-', '_']))
        };
        KNOWN.iter().any(|known| name == *known || numbered.is_some_and(|stem| is_it(stem, known)))
    };
    let names = || std::iter::once(&container.name).chain(&container.aliases);
    KNOWN.contains(&base)
        || image.contains(HARBOR)
        || names().any(|name| has_name(name) || name.contains(HARBOR))
}

/// Whose network namespace each one is in. What was found for one holds for all on the way to it, so that a long chain is
/// gone along once.
fn roots(all: &[Container], names: &Names) -> Vec<Root> {
    let mut found: Vec<Option<Root>> = vec![None; all.len()];
    for start in 0..all.len() {
        let mut way = Vec::new();
        let mut on_way = BTreeSet::new();
        let mut at = start;
        let root = loop {
            let Some(container) = all.get(at) else { break Root::Circle };
            if let Some(Some(known)) = found.get(at) {
                break known.clone();
            }
            let name = match &container.network.value {
                Network::Of(name) => name,
                Network::Pod => break Root::Pod(container.scope),
                _ => break Root::Container(at),
            };
            if !on_way.insert(at) {
                break Root::Circle;
            }
            way.push(at);
            match names.find(container.scope, name) {
                Some(next) => at = next,
                None => break Root::Outside(name.clone()),
            }
        };
        for passed in way.into_iter().chain([start]) {
            if let Some(slot) = found.get_mut(passed) {
                *slot = Some(root.clone());
            }
        }
    }
    found.into_iter().map(|root| root.unwrap_or(Root::Circle)).collect()
}
