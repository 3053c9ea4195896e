//! What of the machine is mounted.

use super::{Case, host_paths, say};
use crate::container::facts::{At, Flag, Mount, Source};
use crate::container::finding::{Level, Remark};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    for mount in &case.container.mounts {
        found.extend(judged(case, mount));
    }
}

fn judged(case: &Case<'_>, mount: &At<Mount>) -> Option<Remark> {
    let Mount { source, target, writable } = &mount.value;
    let how = if *writable { "" } else { ", read-only" };
    let (level, id, what, allows) = match source {
        Source::Host(path) => {
            let (level, id, allows) = host_paths::judged(path, target, *writable)?;
            (level, id, format!("{path} of the machine is mounted at {target}{how}"), allows)
        }
        // A volume may hold a socket by its name alone.
        Source::Volume(name) => {
            let (level, id, allows) = host_paths::judged(&format!("./{name}"), target, *writable)?;
            (level, id, format!("volume {name} is mounted at {target}"), allows)
        }
        Source::Kernel(kind) => of_kernel(case, kind, target, *writable)?,
        Source::Remote(server) => (
            Level::Weakens,
            "network-volume",
            format!("{server} is mounted at {target} by the machine{how}"),
            "What is written there leaves the machine without the sidecar, and what others write comes in.",
        ),
        Source::Unknown(what) => {
            let level = match host_paths::judged(what, target, *writable) {
                Some((level, "engine-socket", _)) => level,
                _ => Level::Unknown,
            };
            (
                level,
                "mount",
                format!("{what} is mounted at {target}{how}"),
                "What it is can't be told, so it may be anything of the machine.",
            )
        }
    };
    let level = if case.is_sidecar() { eased(level) } else { level };
    let remedy = match source {
        Source::Unknown(what) if what.contains('$') => {
            "give the output of `docker compose config`, in which no variables are left"
        }
        _ => "leave the mount out; or copy what the task needs into its image",
    };
    Some(say(level, id, &mount.spot, what).allows(allows).remedy(remedy))
}

/// What the sidecar mounts the task does not have.
fn eased(level: Level) -> Level {
    match level {
        Level::Breaks => Level::Weakens,
        Level::Weakens => Level::Note,
        other => other,
    }
}

/// File systems of the kernel that are mounted anew. Those of every container are so, read-only.
fn of_kernel(
    case: &Case<'_>,
    kind: &str,
    target: &str,
    writable: bool,
) -> Option<(Level, &'static str, String, &'static str)> {
    let what = format!("{kind} is mounted at {target}, writable");
    match kind {
        "proc" => None,
        "cgroup" | "cgroup2" if writable && case.container.privileged.value != Flag::On => Some((
            Level::Breaks,
            "cgroupfs",
            what,
            "It moves itself into the control group by which the sidecar is known, where that is in sight.",
        )),
        "sysfs" if writable => Some((
            Level::Breaks,
            "host-sys",
            what,
            "Settings of the machine's kernel and devices are in it, and of the shared network.",
        )),
        "cgroup" | "cgroup2" | "sysfs" => None,
        _ => Some((
            Level::Breaks,
            "host-sys",
            format!("{kind} is mounted at {target}"),
            "It reads the state of the machine's kernel, and may change it.",
        )),
    }
}
