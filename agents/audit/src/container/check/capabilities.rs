//! Capabilities that undo the enforcement, each with what it would allow.

use super::{Case, say};
use crate::container::capability::{ALL, Origin};
use crate::container::facts::{Flag, Namespace};
use crate::container::finding::{Level, Remark};
use crate::container::remedy::Setting;

/// Those that matter to a task. Not here: those whose reach ends at the container's own files and processes.
const MATTER: &[(&str, Level, &str)] = &[
    (
        "NET_ADMIN",
        Level::Breaks,
        "Root in the container removes or rewrites the rules of the shared network namespace, and adds devices and routes.",
    ),
    (
        "NET_RAW",
        Level::Breaks,
        "Root in the container sends packets past the rules (packet and AF_XDP sockets), and may mark them as the sidecar's own.",
    ),
    (
        "SYS_ADMIN",
        Level::Breaks,
        "It mounts file systems of the kernel anew, enters other namespaces and moves itself into the sidecar's cgroup.",
    ),
    (
        "BPF",
        Level::Breaks,
        "It loads programs into the kernel that send or change packets where no rule sees them.",
    ),
    (
        "PERFMON",
        Level::Breaks,
        "It reads the kernel's memory, and with it the mark by which the sidecar's own packets are known.",
    ),
    ("SYS_MODULE", Level::Breaks, "It loads code into the kernel."),
    ("SYS_RAWIO", Level::Breaks, "It reads and writes the machine's memory and disks."),
    (
        "DAC_READ_SEARCH",
        Level::Breaks,
        "It opens any file of the machine's file system by its handle, sockets' folders and keys too.",
    ),
    (
        "SYS_PTRACE",
        Level::Weakens,
        "It takes over every process that it sees; the sidecar's too, once a process namespace is shared.",
    ),
    ("SYS_TIME", Level::Weakens, "It sets the machine's clock, and the times in the decision log are wrong."),
    ("SYS_BOOT", Level::Weakens, "It restarts the machine, or loads another kernel."),
    (
        "SYSLOG",
        Level::Weakens,
        "It reads the kernel's messages and addresses, which attacks on the kernel need.",
    ),
    ("MAC_ADMIN", Level::Weakens, "It changes the machine's mandatory access rules."),
    ("MAC_OVERRIDE", Level::Weakens, "It passes over the machine's mandatory access rules."),
    (
        "CHECKPOINT_RESTORE",
        Level::Weakens,
        "It recreates processes with states that they could not come to themselves.",
    ),
    ("AUDIT_CONTROL", Level::Weakens, "It turns the machine's audit off."),
    ("AUDIT_READ", Level::Note, "It reads the machine's audit."),
    ("SYS_RESOURCE", Level::Note, "It passes over limits and quotas, and can starve the sidecar."),
];

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    let set = &case.container.capabilities;
    for name in &set.unknown {
        found.push(
            say(Level::Unknown, "capability-name", &name.spot, format!("{:?} is no capability", name.value))
                .allows("The engine refuses it or passes over it; what was meant is not done.")
                .remedy("write a name of capabilities(7), such as NET_RAW"),
        );
    }
    for name in &set.unheeded {
        found.push(
            say(
                Level::Unknown,
                "capability-name",
                &name.spot,
                format!("{:?} drops nothing: Kubernetes wants it without CAP_", name.value),
            )
            .allows("The capability is counted here as held.")
            .remedy("write the name without CAP_, or drop [\"ALL\"]"),
        );
    }
    if privileged(case, found) || everything(case, found) || case.is_sidecar() {
        return;
    }
    for (name, level, allows) in MATTER {
        let Some(origin) = set.held.get(name) else { continue };
        let (spot, what, remedy) = match origin {
            Origin::Default => (
                &case.container.spot,
                format!("CAP_{name} is held: the engine gives it unless it is dropped"),
                Setting::Drop(name),
            ),
            Origin::Added(spot) | Origin::Privileged(spot) => {
                (spot, format!("CAP_{name} is given"), Setting::NotAdded(name))
            }
        };
        let (level, allows) = eased(case, name, *level, allows);
        found.push(
            say(level, "capability", spot, what).allows(allows).remedy(case.container.engine.say(remedy)),
        );
    }
}

fn privileged(case: &Case<'_>, found: &mut Vec<Remark>) -> bool {
    let flag = &case.container.privileged;
    let (level, what) = match &flag.value {
        Flag::On => (case.by_role(Level::Breaks, Level::Weakens), "it is privileged".to_owned()),
        Flag::Unknown(what) => (Level::Unknown, format!("privileged is {what}")),
        Flag::Off | Flag::Unset => return false,
    };
    let allows = match case.is_sidecar() {
        true => "A fault in what reads the task's bytes would be one of the whole machine.",
        false => {
            "It holds every capability and sees every device: it can remove the rules, and take over the machine."
        }
    };
    found.push(
        say(level, "privileged", &flag.spot, what)
            .allows(allows)
            .remedy(case.container.engine.say(Setting::Unprivileged)),
    );
    flag.value == Flag::On
}

/// All of them, said once.
fn everything(case: &Case<'_>, found: &mut Vec<Remark>) -> bool {
    let held = &case.container.capabilities.held;
    let asked = held.values().find_map(|origin| match origin {
        Origin::Added(spot) if held.len() == ALL.len() => Some(spot),
        _ => None,
    });
    let Some(spot) = asked else { return false };
    found.push(
        say(case.by_role(Level::Breaks, Level::Weakens), "all-capabilities", spot, "every capability is given")
            .allows("Root in the container may do whatever root on the machine may: remove the rules, and take over the machine.")
            .remedy(case.container.engine.say(Setting::NotAdded("ALL"))),
    );
    true
}

/// What a capability is worth here: nothing leaves a namespace without an uplink, and who can't become root can't use it.
fn eased(case: &Case<'_>, name: &str, level: Level, allows: &'static str) -> (Level, &'static str) {
    match name {
        "NET_ADMIN" if case.is_sealed() => (
            Level::Weakens,
            "Nothing leaves a namespace without an uplink, but what was refused is no longer seen and recorded.",
        ),
        "NET_RAW" if case.is_sealed() => {
            (Level::Note, "It makes packets of any kind; nothing leaves a namespace without an uplink.")
        }
        "SYS_PTRACE" if !matches!(case.container.pid.value, Namespace::Own) => {
            (Level::Breaks, "It takes over processes of others that it sees, the sidecar's or the machine's.")
        }
        _ if level == Level::Breaks && case.stays_unprivileged() => (
            Level::Weakens,
            "The task's user can't use it; whatever is started in the container as root (docker exec -u root) can.",
        ),
        _ => (level, allows),
    }
}
