//! What sidecars mount.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::container::facts::{Container, Source};
use crate::container::path::{ancestors, is_in};

/// A mount of a sidecar.
#[derive(Debug, Clone)]
pub(in crate::container) struct Held {
    pub(in crate::container) sidecar: String,
    pub(in crate::container) writable: bool,
}

/// The mounts of the sidecars that know each other.
#[derive(Debug, Default)]
pub(in crate::container) struct SidecarMounts {
    volumes: BTreeMap<String, Held>,
    paths: BTreeMap<String, Held>,
}

impl SidecarMounts {
    pub(super) fn add(&mut self, sidecar: &Container) {
        for mount in &sidecar.mounts {
            let (map, key) = match &mount.value.source {
                Source::Volume(name) => (&mut self.volumes, name),
                Source::Host(path) => (&mut self.paths, path),
                _ => continue,
            };
            let held = map
                .entry(key.clone())
                .or_insert_with(|| Held { sidecar: sidecar.name.clone(), writable: false });
            held.writable |= mount.value.writable;
        }
    }

    pub(in crate::container) fn volume(&self, name: &str) -> Option<&Held> {
        self.volumes.get(name)
    }

    /// The same path, one that it lies in, or one that lies in it.
    pub(in crate::container) fn path(&self, path: &str) -> Option<&Held> {
        let above = ancestors(path).find_map(|folder| self.paths.get(folder));
        above.or_else(|| {
            let from = (Bound::Included(path), Bound::Unbounded);
            let below = self.paths.range::<str, _>(from).take_while(|(known, _)| known.starts_with(path));
            below.filter(|(known, _)| is_in(known, path)).map(|(_, held)| held).next()
        })
    }
}
