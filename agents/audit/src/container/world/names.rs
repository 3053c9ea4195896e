//! Containers by what they are called, among those that know each other.

use std::collections::BTreeMap;

use crate::container::facts::Container;

/// The length of an id, and how short people cut it.
const ID: usize = 64;
const SHORTEST: usize = 8;

/// Names and ids by scope.
pub(super) struct Names(BTreeMap<(usize, String), usize>);

impl Names {
    pub(super) fn of(all: &[Container]) -> Self {
        let mut names = BTreeMap::new();
        // Later ones first, so that the first of a name stays; a name before an alias.
        for (index, one) in all.iter().enumerate().rev() {
            names.extend(one.aliases.iter().map(|alias| ((one.scope, alias.clone()), index)));
        }
        for (index, one) in all.iter().enumerate().rev() {
            names.insert((one.scope, one.name.clone()), index);
        }
        Self(names)
    }

    pub(super) fn find(&self, scope: usize, name: &str) -> Option<usize> {
        let key = (scope, name.trim_start_matches('/').to_owned());
        self.0.get(&key).copied().or_else(|| self.by_start(&key))
    }

    /// By an id that was cut short, if only one begins like it.
    fn by_start(&self, key: &(usize, String)) -> Option<usize> {
        let (scope, start) = key;
        if start.len() < SHORTEST || !start.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut fitting = self
            .0
            .range(key..)
            .take_while(|((its, name), _)| its == scope && name.starts_with(start))
            .filter(|((_, name), _)| name.len() == ID);
        match (fitting.next(), fitting.next()) {
            (Some((_, index)), None) => Some(*index),
            _ => None,
        }
    }
}
