//! `config.json` of an OCI bundle, as runc and its like take it; also inside of what `crictl inspect` prints.

use std::collections::BTreeMap;

use super::{Scene, mounts, options};
use crate::container::capability::Capabilities;
use crate::container::facts::{At, Container, Engine, Flag, Mount, Namespace, Network, Source, Unconfined};
use crate::container::finding::{Level, Remark};
use crate::container::path::clean;
use crate::container::view::{Reader, View};

pub(super) fn read(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, root: &View<'_>) {
    let root = root.path(&["info", "runtimeSpec"]).unwrap_or_else(|| root.clone());
    let scope = scene.scope();
    let name = reader.text(&root, "hostname").map(|name| name.value).filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "container".into());
    let mut container = Container::bare(Engine::Oci, file, scope, name, root.spot());
    process(reader, &root, &mut container);
    if let Some(folder) = reader.table(&root, "root") {
        container.read_only = reader.flag(&folder, "readonly");
    }
    container.mounts = all_mounts(reader, &root);
    match reader.table(&root, "linux") {
        Some(linux) => {
            namespaces(reader, &linux, &mut container);
            confinement(reader, &linux, &mut container);
            devices(reader, &linux, &mut container);
        }
        None => reader.wrong(root.node.at, "it has no table `linux`: no Linux container"),
    }
    hooks(reader, &root, &mut container);
    container.remarks.append(&mut reader.remarks);
    scene.containers.push(container);
}

fn process(reader: &mut Reader<'_>, root: &View<'_>, container: &mut Container) {
    let Some(process) = reader.table(root, "process") else {
        reader.wrong(root.node.at, "it has no table `process`: what the container may do is not told");
        return;
    };
    container.no_new_privileges = reader.flag(&process, "noNewPrivileges");
    let user = reader.table(&process, "user").and_then(|user| reader.text(&user, "uid"));
    container.user = options::user(user, process.missing("user.uid"));
    container.environment = reader.pairs(&process, "env");
    let mut held = Vec::new();
    if let Some(sets) = reader.table(&process, "capabilities") {
        for set in ["bounding", "effective", "permitted", "inheritable", "ambient"] {
            held.extend(reader.texts(&sets, set));
        }
    }
    container.capabilities = Capabilities::listed(&held);
    match reader.text(&process, "apparmorProfile") {
        Some(profile) if profile.value == "unconfined" => {
            container.unconfined.push(At::new(Unconfined::AppArmor, profile.spot));
        }
        _ => {}
    }
}

/// A namespace that is not listed is that of whoever starts the container.
fn namespaces(reader: &mut Reader<'_>, linux: &View<'_>, container: &mut Container) {
    let mut told = BTreeMap::new();
    for item in reader.list(linux, "namespaces") {
        let path = reader.text(&item, "path").filter(|path| !path.value.is_empty());
        match reader.text(&item, "type") {
            Some(kind) => {
                let at = path.as_ref().unwrap_or(&kind).spot.clone();
                told.insert(kind.value, At::new(path.map(|path| path.value), at));
            }
            None => reader.wrong(item.node.at, format!("{} has no type", item.field)),
        }
    }
    let missing = linux.missing("namespaces");
    let of = |kind: &str| match told.get(kind) {
        None => At::new(Namespace::Host, missing.clone()),
        Some(At { value: None, spot }) => At::new(Namespace::Own, spot.clone()),
        Some(At { value: Some(path), spot }) => At::new(Namespace::Of(path.clone()), spot.clone()),
    };
    container.pid = of("pid");
    container.ipc = of("ipc");
    container.uts = of("uts");
    container.cgroup = of("cgroup");
    container.user_namespace = match told.contains_key("user") {
        true => of("user"),
        // No user namespace is the rule, and not the same as leaving one.
        false => At::new(Namespace::Own, linux.missing("uidMappings")),
    };
    let network = of("network");
    let value = match network.value {
        Namespace::Host => Network::Host,
        Namespace::Of(path) => Network::Of(path),
        _ => Network::Unknown(
            "a new namespace, which whoever starts the container may connect to anything".into(),
        ),
    };
    container.network = At::new(value, network.spot);
}

fn confinement(reader: &mut Reader<'_>, linux: &View<'_>, container: &mut Container) {
    container.sysctls = reader
        .pairs(linux, "sysctl")
        .into_iter()
        .map(|pair| At::new((pair.value.0, pair.value.1.unwrap_or_default()), pair.spot))
        .collect();
    match reader.table(linux, "seccomp") {
        None => container.unconfined.push(At::new(Unconfined::Seccomp, linux.missing("seccomp"))),
        Some(seccomp) => {
            let action = reader.text(&seccomp, "defaultAction");
            let is_open = action.as_ref().is_none_or(|action| action.value == "SCMP_ACT_ALLOW");
            if is_open {
                container.unconfined.push(At::new(Unconfined::Seccomp, seccomp.spot()));
            }
        }
    }
    let read_only = reader.texts(linux, "readonlyPaths");
    let covers = |path: &str| {
        read_only.iter().any(|covered| ["/proc", path].contains(&clean(&covered.value).as_str()))
    };
    if !covers("/proc/sys") {
        container.unconfined.push(At::new(Unconfined::SystemPaths, linux.missing("readonlyPaths")));
    }
    container.cgroup_parent = None;
}

fn all_mounts(reader: &mut Reader<'_>, root: &View<'_>) -> Vec<At<Mount>> {
    let mut found = Vec::new();
    for item in reader.list(root, "mounts") {
        let text = |key: &str| item.get(key).and_then(|value| value.scalar());
        let options: Vec<String> =
            reader.texts(&item, "options").into_iter().map(|option| option.value).collect();
        let has = |option: &str| options.iter().any(|known| known == option);
        let kind = text("type").unwrap_or_default();
        let path = text("source").unwrap_or_default();
        let target = clean(&text("destination").unwrap_or_default());
        let source = match kind.as_str() {
            _ if has("bind") || has("rbind") || kind == "bind" => mounts::host(&path),
            "cgroup" | "cgroup2" | "sysfs" | "proc" | "debugfs" | "tracefs" | "bpf" | "securityfs" => {
                Source::Kernel(kind)
            }
            "nfs" | "nfs4" | "cifs" | "9p" | "virtiofs" => Source::Remote(path),
            "tmpfs" | "devpts" | "mqueue" | "overlay" | "ramfs" => continue,
            _ if path.starts_with('/') => mounts::host(&path),
            _ => Source::Unknown(format!("a mount of type {kind:?}")),
        };
        // The engine's own: names and addresses of the container.
        if matches!(target.as_str(), "/etc/hosts" | "/etc/hostname" | "/etc/resolv.conf" | "/dev/shm") {
            continue;
        }
        found.push(At::new(Mount { source, target, writable: !has("ro") }, item.spot()));
    }
    found
}

fn devices(reader: &mut Reader<'_>, linux: &View<'_>, container: &mut Container) {
    for device in reader.list(linux, "devices") {
        container.devices.extend(reader.text(&device, "path"));
    }
    let Some(resources) = reader.table(linux, "resources") else { return };
    for rule in reader.list(&resources, "devices") {
        if reader.flag(&rule, "allow").value != Flag::On {
            continue;
        }
        let text = |key: &str| rule.get(key).and_then(|value| value.scalar());
        let part = |key: &str| text(key).filter(|text| text != "-1").unwrap_or_else(|| "*".into());
        let kind = text("type").unwrap_or_else(|| "a".into());
        let access = text("access").unwrap_or_else(|| "rwm".into());
        let rule_text = format!("{kind} {}:{} {access}", part("major"), part("minor"));
        container.device_rules.push(At::new(rule_text, rule.spot()));
    }
}

/// Programs that the runtime starts on the machine.
fn hooks(reader: &mut Reader<'_>, root: &View<'_>, container: &mut Container) {
    let Some(hooks) = reader.table(root, "hooks") else { return };
    for (stage, _) in hooks.fields() {
        for hook in reader.list(&hooks, stage) {
            let path = hook.get("path").and_then(|path| path.scalar()).unwrap_or_else(|| "a program".into());
            container.remarks.push(
                Remark::new(
                    Level::Note,
                    "hook",
                    &hook.spot(),
                    format!("{stage} starts {path} on the machine"),
                )
                .allows("It runs outside of the container, and may change its network after the rules stand.")
                .remedy("make sure that the program is yours, and that it adds no device and no route"),
            );
        }
    }
}
