//! What else keeps a process in its container: filters, covered paths, users, and who runs it.

use super::{Case, say};
use crate::container::facts::{Engine, Flag, Network, Unconfined, User};
use crate::container::finding::{Level, Remark};
use crate::container::remedy::Setting;
use crate::container::report::may_be_on;

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    let one = case.container;
    if one.privileged.value != Flag::On {
        for unconfined in &one.unconfined {
            let (level, id, what, allows) = of(case, &unconfined.value);
            found.push(
                say(level, id, &unconfined.spot, what)
                    .allows(allows)
                    .remedy(one.engine.say(Setting::Confined)),
            );
        }
    }
    privileges(case, found);
    if !may_be_on(&one.read_only.value) {
        found.push(
            say(Level::Note, "writable-root", &one.read_only.spot, "its root file system is writable")
                .allows("It may change its own programs, and what is run in it later runs the changed ones.")
                .remedy(one.engine.say(Setting::ReadOnlyRoot)),
        );
    }
    runtime(case, found);
    if let Some(parent) = &one.cgroup_parent {
        found.push(
            say(Level::Weakens, "cgroup-parent", &parent.spot, format!("its control group lies in {}", parent.value))
                .allows("Rules that know the sidecar by its control group take it for the sidecar if that is the same.")
                .remedy("leave cgroup_parent out"),
        );
    }
    if let Some(restart) = &one.restart
        && matches!(restart.value.as_str(), "always" | "unless-stopped")
        && !case.is_sidecar()
        && matches!(one.network.value, Network::Of(_))
    {
        found.push(
            say(Level::Note, "restart", &restart.spot, format!("it is started again: {}", restart.value))
                .allows("It runs anew in whatever phase is in force by then.")
                .remedy("restart: \"no\""),
        );
    }
}

fn of(case: &Case<'_>, unconfined: &Unconfined) -> (Level, &'static str, String, &'static str) {
    let note = |level| case.by_role(level, Level::Note);
    match unconfined {
        Unconfined::Seccomp => (
            note(Level::Weakens),
            "seccomp",
            "no system call is filtered".into(),
            "It makes user namespaces, io_uring, BPF and sockets of other families, where the rules do not reach or the kernel has more faults.",
        ),
        Unconfined::SeccompUnset => (
            note(Level::Weakens),
            "seccomp",
            "no seccomp profile is told, and the node's default is none".into(),
            "It makes user namespaces, io_uring, BPF and sockets of other families, where the rules do not reach or the kernel has more faults.",
        ),
        Unconfined::AppArmor => (
            note(Level::Weakens),
            "apparmor",
            "it is not confined by AppArmor".into(),
            "Mounting and writing below /proc and /sys is left to the other fences.",
        ),
        Unconfined::Label => (
            note(Level::Weakens),
            "label",
            "it is not confined by SELinux".into(),
            "Files and sockets of the machine that come into sight are left to the other fences.",
        ),
        Unconfined::SystemPaths => (
            case.by_role(
                if case.stays_unprivileged() { Level::Weakens } else { Level::Breaks },
                Level::Weakens,
            ),
            "system-paths",
            "/proc/sys and other paths of the kernel are not covered as usual".into(),
            "Root in it changes the settings of the shared network, and names a program that the machine's kernel runs as root (core_pattern).",
        ),
        Unconfined::Unknown(what) => (
            Level::Unknown,
            "security-option",
            format!("what {what:?} takes away can't be told"),
            "It may leave less of the confinement than the engine's default.",
        ),
    }
}

fn privileges(case: &Case<'_>, found: &mut Vec<Remark>) {
    let one = case.container;
    let flag = &one.no_new_privileges;
    if flag.value != Flag::On {
        let what = match &flag.value {
            Flag::Off => "it may gain privileges: that is asked for".to_owned(),
            Flag::Unknown(what) => format!("whether it may gain privileges can't be told: {what}"),
            Flag::Unset | Flag::On => "it may gain privileges: nothing refuses them".to_owned(),
        };
        let level = if matches!(flag.value, Flag::Unknown(_)) { Level::Unknown } else { Level::Note };
        found.push(
            say(level, "new-privileges", &flag.spot, what)
                .allows("A set-user-id program gives every user what its root may hold.")
                .remedy(one.engine.say(Setting::NoNewPrivileges)),
        );
    }
    if one.user.value == User::Root && !case.is_sidecar() {
        let what = match one.user.spot.at {
            Some(_) => "its first process is root".to_owned(),
            None => "no user is told: its first process is root unless the image says otherwise".to_owned(),
        };
        found.push(
            say(Level::Note, "root", &one.user.spot, what)
                .allows("It uses the capabilities that are listed from the beginning.")
                .remedy(one.engine.say(Setting::NotRoot)),
        );
    }
}

/// Another runtime means another kernel, or another way to the network.
fn runtime(case: &Case<'_>, found: &mut Vec<Remark>) {
    let Some(runtime) = &case.container.runtime else { return };
    let name = runtime.value.as_str();
    let base = crate::container::path::file_name(name);
    let plain = ["", "runc", "crun", "youki", "io.containerd.runc.v2", "nvidia", "nvidia-container-runtime"];
    if plain.contains(&base) {
        return;
    }
    let has_own_kernel =
        ["runsc", "gvisor", "kata", "firecracker", "krun"].iter().any(|word| base.contains(word));
    let (level, allows) = match has_own_kernel {
        true => (
            Level::Weakens,
            "It has a network stack of its own, in which the sidecar's rules are not; what of them holds depends on how it leaves that.",
        ),
        false => {
            (Level::Note, "Whether it sets the container up as the standard runtime does is not known here.")
        }
    };
    let remedy = match case.container.engine {
        Engine::Kubernetes => "leave runtimeClassName out, or run the canary under it",
        _ => "leave the runtime out, or run the canary under it",
    };
    found.push(
        say(level, "runtime", &runtime.spot, format!("it is run by {name}")).allows(allows).remedy(remedy),
    );
}
