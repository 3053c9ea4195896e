//! Capabilities: their names, what each engine gives by default, and how it counts additions and removals.

use std::collections::BTreeMap;

use super::facts::{At, Spot};

/// All that Linux has, in the order of their numbers (capabilities(7)).
pub(super) const ALL: [&str; 41] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
];

/// What Docker and containerd give when nothing is told.
const DOCKER: [&str; 14] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "NET_RAW",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// What Podman gives since version 4.
const PODMAN: [&str; 11] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Whose rules of addition and removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// All added wins over all dropped; what is added by name wins over what is dropped by name.
    Docker,
    /// All dropped leaves what is added by name; what is dropped by name wins.
    Podman,
    /// What runs pods does all additions of all first, then removals of all, then names: added, dropped. The names are used
    /// as they stand after `CAP_`, so a name with that prefix drops nothing.
    Cri,
}

/// Why a capability is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// The engine gives it.
    Default,
    /// It was asked for, here.
    Added(Spot),
    /// The container is privileged, here.
    Privileged(Spot),
}

/// What a container can hold at most: its bounding set.
#[derive(Debug, Clone, Default)]
pub(super) struct Capabilities {
    pub(super) held: BTreeMap<&'static str, Origin>,
    /// Names that Linux does not have, where they would be added or dropped.
    pub(super) unknown: Vec<At<String>>,
    /// Names that the engine does not drop although it was told to.
    pub(super) unheeded: Vec<At<String>>,
}

impl Capabilities {
    /// By an engine's rules.
    pub(super) fn by(rules: Rules, add: &[At<String>], drop: &[At<String>]) -> Self {
        let mut set = Self::default();
        let add = set.named(add);
        let drop = set.named_drops(rules, drop);
        let all = |list: &[At<Name>]| {
            list.iter().find(|name| name.value == Name::All).map(|name| name.spot.clone())
        };
        let (all_added, all_dropped) = (all(&add), all(&drop));
        let names = |list: &[At<Name>]| -> BTreeMap<&'static str, Spot> {
            let one = |name: &At<Name>| match name.value {
                Name::One(one) => Some((one, name.spot.clone())),
                Name::All => None,
            };
            list.iter().filter_map(one).collect()
        };
        let (added, dropped) = (names(&add), names(&drop));
        set.held = match (rules, all_added, all_dropped.is_some()) {
            (Rules::Docker, Some(spot), _) | (Rules::Podman | Rules::Cri, Some(spot), false) => {
                ALL.iter().map(|name| (*name, Origin::Added(spot.clone()))).collect()
            }
            (_, _, true) => BTreeMap::new(),
            (rules, None, false) => rules.defaults().iter().map(|name| (*name, Origin::Default)).collect(),
        };
        let adds = added.into_iter().map(|(name, spot)| (name, Origin::Added(spot)));
        // Only Docker without "all" lets an addition win over a removal of the same name.
        let is_drop_first = rules == Rules::Docker && !add.iter().any(|name| name.value == Name::All);
        if is_drop_first {
            set.held.retain(|name, _| !dropped.contains_key(name));
            set.held.extend(adds);
        } else {
            set.held.extend(adds);
            set.held.retain(|name, _| !dropped.contains_key(name));
        }
        set
    }

    /// As the input lists what is held.
    pub(super) fn listed(held: &[At<String>]) -> Self {
        let mut set = Self::default();
        for name in set.named(held) {
            let held: &[&'static str] = match &name.value {
                Name::One(one) => &[*one],
                Name::All => &ALL,
            };
            set.held.extend(held.iter().map(|one| (*one, Origin::Added(name.spot.clone()))));
        }
        set
    }

    /// Of a privileged container: everything.
    pub(super) fn privileged(spot: &Spot) -> Self {
        let held = ALL.iter().map(|name| (*name, Origin::Privileged(spot.clone()))).collect();
        Self { held, ..Self::default() }
    }

    fn named(&mut self, list: &[At<String>]) -> Vec<At<Name>> {
        let mut known = Vec::new();
        for item in list {
            match Name::of(&item.value) {
                Some(name) => known.push(At::new(name, item.spot.clone())),
                None => self.unknown.push(item.clone()),
            }
        }
        known
    }

    fn named_drops(&mut self, rules: Rules, list: &[At<String>]) -> Vec<At<Name>> {
        let is_prefixed = |item: &&At<String>| item.value.trim().to_ascii_uppercase().starts_with("CAP_");
        if rules != Rules::Cri {
            return self.named(list);
        }
        self.unheeded.extend(list.iter().filter(is_prefixed).cloned());
        let heeded: Vec<At<String>> = list.iter().filter(|item| !is_prefixed(item)).cloned().collect();
        self.named(&heeded)
    }
}

impl Rules {
    fn defaults(self) -> &'static [&'static str] {
        match self {
            // Of the engines under Kubernetes containerd gives the most.
            Rules::Docker | Rules::Cri => &DOCKER,
            Rules::Podman => &PODMAN,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    All,
    One(&'static str),
}

impl Name {
    fn of(text: &str) -> Option<Self> {
        let upper = text.trim().to_ascii_uppercase();
        if upper == "ALL" || upper == "CAP_ALL" {
            return Some(Name::All);
        }
        let bare = upper.strip_prefix("CAP_").unwrap_or(&upper);
        ALL.iter().find(|name| **name == bare).map(|name| Name::One(name))
    }
}

#[cfg(test)]
mod tests;
