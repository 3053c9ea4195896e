//! Namespaces beside the network's: whose processes, memory and control groups it sees.

use super::{Case, say};
use crate::container::facts::{At, Engine, Namespace};
use crate::container::finding::{Level, Remark};
use crate::container::remedy::Setting;

/// One kind of namespace, and what sharing it with the machine or the sidecar would allow.
struct Kind {
    id: &'static str,
    /// As flags and compose files call it, as Kubernetes does, and as OCI does.
    keys: [&'static str; 3],
    host: (Level, &'static str),
    sidecar: (Level, &'static str),
}

const PID: Kind = Kind {
    id: "pid-namespace",
    keys: ["pid", "hostPID and shareProcessNamespace", "pid"],
    host: (
        Level::Breaks,
        "It sees every process of the machine: it may stop the sidecar, read its memory and enter its namespaces.",
    ),
    sidecar: (
        Level::Breaks,
        "It sees the sidecar's processes: it may stop them, read their memory and their files through /proc.",
    ),
};

const IPC: Kind = Kind {
    id: "ipc-namespace",
    keys: ["ipc", "hostIPC", "ipc"],
    host: (
        Level::Weakens,
        "It shares memory and message queues with every process of the machine, which may carry its data out.",
    ),
    sidecar: (Level::Weakens, "It shares memory and message queues with the sidecar."),
};

const UTS: Kind = Kind {
    id: "uts-namespace",
    keys: ["uts", "hostNetwork", "uts"],
    host: (Level::Note, "It has the machine's name, and with SYS_ADMIN changes it."),
    sidecar: (Level::Note, "It has the sidecar's host name."),
};

const CGROUP: Kind = Kind {
    id: "cgroup-namespace",
    keys: ["cgroupns", "cgroup", "cgroup"],
    host: (
        Level::Weakens,
        "It sees the machine's whole tree of control groups, the sidecar's among them; where that is writable it can move there.",
    ),
    sidecar: (
        Level::Weakens,
        "It sees the sidecar's control group; where that is writable it can move there.",
    ),
};

const USER: Kind = Kind {
    id: "user-namespace",
    keys: ["userns", "hostUsers", "user"],
    host: (
        Level::Note,
        "Its root is the machine's root, where the engine would have mapped it to another user.",
    ),
    sidecar: (Level::Weakens, "It shares the sidecar's user namespace by a path."),
};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    let one = case.container;
    for (kind, namespace) in [
        (&PID, &one.pid),
        (&IPC, &one.ipc),
        (&UTS, &one.uts),
        (&CGROUP, &one.cgroup),
        (&USER, &one.user_namespace),
    ] {
        found.extend(judged(case, kind, namespace));
    }
}

fn judged(case: &Case<'_>, kind: &Kind, namespace: &At<Namespace>) -> Option<Remark> {
    let [flag, pod, oci] = kind.keys;
    let key = match case.container.engine {
        Engine::Kubernetes => pod,
        Engine::Oci => oci,
        Engine::Compose if kind.id == CGROUP.id => "cgroup",
        Engine::Compose if kind.id == USER.id => "userns_mode",
        _ => flag,
    };
    let (level, what, allows) = match &namespace.value {
        Namespace::Own => return None,
        Namespace::Host if case.is_sidecar() => (
            kind.host.0.max(Level::Weakens),
            format!("the sidecar is in the machine's {oci} namespace"),
            "A fault in what reads the task's bytes would reach further than the container.",
        ),
        Namespace::Host => (kind.host.0, format!("it is in the machine's {oci} namespace"), kind.host.1),
        Namespace::Pod if case.is_sidecar() => return None,
        Namespace::Pod => {
            (kind.sidecar.0, format!("all containers of the pod share a {oci} namespace"), kind.sidecar.1)
        }
        Namespace::Of(name) => match case.world.find(case.container, name) {
            // Its own, under another name.
            Some(other) if other == case.index => return None,
            Some(other) if case.world.is_sidecar(other) != case.is_sidecar() => {
                (kind.sidecar.0, format!("it shares the {oci} namespace of {name}"), kind.sidecar.1)
            }
            Some(_) => (
                Level::Note,
                format!("it shares the {oci} namespace of {name}"),
                "What one of the two may do, the other may.",
            ),
            None => (
                Level::Unknown,
                format!("it shares the {oci} namespace of {name}, which is not in the input"),
                "It may be the sidecar's or the machine's.",
            ),
        },
        Namespace::Unknown(mode) => (
            Level::Unknown,
            format!("{mode:?} is no known mode of namespaces ({oci})"),
            "It may be the sidecar's or the machine's.",
        ),
    };
    let remedy = case.container.engine.say(Setting::Own(key));
    Some(say(level, kind.id, &namespace.spot, what).allows(allows).remedy(remedy))
}
