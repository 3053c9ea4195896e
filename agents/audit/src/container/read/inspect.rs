//! `docker inspect` and `podman inspect`.

use closedbook_document::Value;

use super::{INSPECTED, Scene, mounts, options};
use crate::container::capability::{Capabilities, Rules};
use crate::container::facts::{At, Container, Engine, Flag, Mount, Network, Source, Unconfined};
use crate::container::finding::{Level, Remark};
use crate::container::format::Format;
use crate::container::view::{Reader, View};

pub(super) fn read(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, root: &View<'_>, format: Format) {
    let engine = if format == Format::Podman { Engine::Podman } else { Engine::Docker };
    match root.node.value {
        Value::List(_) => {
            for item in root.items() {
                one(scene, reader, file, &item, engine);
            }
        }
        _ => one(scene, reader, file, root, engine),
    }
}

fn one(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, root: &View<'_>, engine: Engine) {
    let Some(host) = reader.table(root, "HostConfig") else {
        if root.get("HostConfig").is_none() {
            reader.wrong(
                root.node.at,
                "no container: it has no HostConfig; images, networks and volumes have none",
            );
        }
        return;
    };
    let name = reader.text(root, "Name").map(|name| name.value.trim_start_matches('/').to_owned());
    let id = reader.text(root, "Id").map(|id| id.value);
    let name = name.filter(|name| !name.is_empty()).or_else(|| id.clone());
    let name = name.unwrap_or_else(|| format!("container {}", scene.containers.len() + 1));
    let mut container = Container::bare(engine, file, INSPECTED, name, root.spot());
    container.aliases.extend(id);
    let config = reader.table(root, "Config");
    if let Some(config) = &config {
        container.image = reader.text(config, "Image").map(|image| image.value);
        // Compose writes the service's name there, and it is what people know.
        let service = config.path(&["Labels", "com.docker.compose.service"]).and_then(|label| label.scalar());
        container.aliases.extend(service);
        container.environment = reader.pairs(config, "Env");
    }
    let user = config.as_ref().and_then(|config| reader.text(config, "User"));
    container.user = options::user(user, root.missing("Config.User"));
    namespaces(reader, &host, &mut container);
    network(reader, root, &host, &mut container);
    confinement(reader, root, &host, &mut container);
    container.mounts = all_mounts(reader, root, &host);
    devices(reader, &host, &mut container);
    container.ports = ports(reader, root, &host);
    container.hosts = reader.texts(&host, "ExtraHosts");
    container.links = reader.texts(&host, "Links");
    container.dns = reader.texts(&host, "Dns");
    container.volumes_from = reader.texts(&host, "VolumesFrom");
    container.restart = reader.table(&host, "RestartPolicy").and_then(|policy| reader.text(&policy, "Name"));
    container.runtime = reader.text(root, "OCIRuntime").or_else(|| reader.text(&host, "Runtime"));
    container.cgroup_parent = reader.text(&host, "CgroupParent").filter(|parent| !parent.value.is_empty());
    container.remarks.append(&mut reader.remarks);
    scene.containers.push(container);
}

fn namespaces(reader: &mut Reader<'_>, host: &View<'_>, container: &mut Container) {
    let mut mode = |key: &str| options::namespace(reader.text(host, key), host.missing(key));
    container.pid = mode("PidMode");
    container.ipc = mode("IpcMode");
    container.uts = mode("UTSMode");
    container.user_namespace = mode("UsernsMode");
    container.cgroup = mode(if container.engine == Engine::Podman { "CgroupMode" } else { "CgroupnsMode" });
}

fn network(reader: &mut Reader<'_>, root: &View<'_>, host: &View<'_>, container: &mut Container) {
    let joined: Vec<At<String>> = match root.path(&["NetworkSettings", "Networks"]) {
        Some(networks) => {
            networks.fields().map(|(name, view)| At::new(name.to_owned(), view.spot())).collect()
        }
        None => Vec::new(),
    };
    let Some(mode) = reader.text(host, "NetworkMode") else {
        container.network =
            At::new(Network::Unknown("no NetworkMode is told".into()), host.missing("NetworkMode"));
        container.networks = joined;
        return;
    };
    // Any other word is a network's name.
    let network = options::network(&mode.value).unwrap_or_else(|| Network::Own(mode.value.clone()));
    container.networks = beside(container.engine, &network, joined);
    container.network = At::new(network, mode.spot);
}

/// The networks that it is on beside the one that its mode names. A mode may name it by its id, or by its kind.
fn beside(engine: Engine, mode: &Network, joined: Vec<At<String>>) -> Vec<At<String>> {
    let named = match mode {
        Network::None => joined.iter().position(|name| name.value == "none"),
        Network::Host => joined.iter().position(|name| name.value == "host"),
        Network::Own(own) => joined.iter().position(|name| name.value == *own).or(Some(0)),
        // Podman lists those of whose namespace it is.
        Network::Of(_) if engine == Engine::Podman => return Vec::new(),
        _ => None,
    };
    joined.into_iter().enumerate().filter(|(place, _)| Some(*place) != named).map(|(_, name)| name).collect()
}

fn confinement(reader: &mut Reader<'_>, root: &View<'_>, host: &View<'_>, container: &mut Container) {
    container.privileged = reader.flag(host, "Privileged");
    container.capabilities = capabilities(reader, root, host, container);
    let security = reader.texts(host, "SecurityOpt");
    (container.unconfined, container.no_new_privileges) =
        options::security(&security, host.missing("SecurityOpt"));
    container.read_only = reader.flag(host, "ReadonlyRootfs");
    container.sysctls = reader
        .pairs(host, "Sysctls")
        .into_iter()
        .map(|pair| At::new((pair.value.0, pair.value.1.unwrap_or_default()), pair.spot))
        .collect();
    // Docker lists the covered paths; an empty list covers nothing. Privileged says so by itself.
    let lists = ["MaskedPaths", "ReadonlyPaths"].into_iter().filter_map(|key| host.get(key));
    let bare = lists.into_iter().find(|paths| paths.node.items().is_empty());
    if let Some(bare) = bare.filter(|_| container.privileged.value != Flag::On) {
        container.unconfined.push(At::new(Unconfined::SystemPaths, bare.spot()));
    }
}

fn capabilities(
    reader: &mut Reader<'_>,
    root: &View<'_>,
    host: &View<'_>,
    container: &Container,
) -> Capabilities {
    if container.privileged.value == Flag::On {
        return Capabilities::privileged(&container.privileged.spot);
    }
    // Podman says what came of it. An empty list is an answer, and null too: it held none.
    if container.engine == Engine::Podman && root.node.get("BoundingCaps").is_some() {
        let mut held = reader.texts(root, "BoundingCaps");
        held.extend(reader.texts(root, "EffectiveCaps"));
        return Capabilities::listed(&held);
    }
    let rules = if container.engine == Engine::Podman { Rules::Podman } else { Rules::Docker };
    let (add, drop) = (reader.texts(host, "CapAdd"), reader.texts(host, "CapDrop"));
    Capabilities::by(rules, &add, &drop)
}

/// What is mounted, and what was asked for: the first is missing before a container was ever started.
fn all_mounts(reader: &mut Reader<'_>, root: &View<'_>, host: &View<'_>) -> Vec<At<Mount>> {
    let mut mounts: Vec<At<Mount>> = Vec::new();
    for (view, key, [source, target, read_only]) in
        [(root, "Mounts", ["Source", "Destination", ""]), (host, "Mounts", ["Source", "Target", "ReadOnly"])]
    {
        for item in reader.list(view, key) {
            let text = |key: &str| item.get(key).and_then(|value| value.scalar());
            let is = |key: &str| item.get(key).and_then(|value| value.node.boolean());
            let writable = match read_only {
                "" => is("RW") != Some(false),
                key => is(key) != Some(true),
            };
            let kind = text("Type").unwrap_or_default().to_ascii_lowercase();
            let path = text(source).unwrap_or_default();
            let source = match (kind.as_str(), text("Name").filter(|name| !name.is_empty())) {
                ("tmpfs" | "devpts" | "image", _) => continue,
                ("volume", Some(name)) => Source::Volume(name),
                ("volume", None) if path.is_empty() => continue,
                ("bind" | "npipe" | "", _) => mounts::host(&path),
                ("volume", None) => mounts::named_or_path(&path),
                _ => Source::Unknown(format!("a mount of type {kind}")),
            };
            let target = text(target).unwrap_or_default();
            push(&mut mounts, At::new(Mount { source, target, writable }, item.spot()));
        }
    }
    for bind in reader.texts(host, "Binds") {
        if let Some(mount) = mounts::short(&bind.value) {
            push(&mut mounts, At::new(mount, bind.spot));
        }
    }
    mounts
}

/// The same mount stands in two places of an inspected container.
fn push(mounts: &mut Vec<At<Mount>>, mount: At<Mount>) {
    let is_same = |known: &At<Mount>| {
        known.value.target == mount.value.target && known.value.source == mount.value.source
    };
    // Only few containers have many, and those are not searched.
    if mounts.len() > 256 || !mounts.iter().any(is_same) {
        mounts.push(mount);
    }
}

fn devices(reader: &mut Reader<'_>, host: &View<'_>, container: &mut Container) {
    for device in reader.list(host, "Devices") {
        match reader.text(&device, "PathOnHost") {
            Some(path) => container.devices.push(path),
            None => container.devices.push(At::new("a device without a path".into(), device.spot())),
        }
    }
    container.device_rules = reader.texts(host, "DeviceCgroupRules");
    for request in reader.list(host, "DeviceRequests") {
        container.gpus.push(request.spot());
    }
}

/// Port bindings, and that all exposed ports are published.
fn ports(reader: &mut Reader<'_>, root: &View<'_>, host: &View<'_>) -> Vec<At<String>> {
    let mut ports: Vec<At<String>> = Vec::new();
    let published = [reader.table(host, "PortBindings"), root.path(&["NetworkSettings", "Ports"])];
    for table in published.into_iter().flatten() {
        for (port, bindings) in table.fields() {
            if !bindings.node.items().is_empty() && !ports.iter().any(|known| known.value == port) {
                ports.push(At::new(port.to_owned(), bindings.spot()));
            }
        }
    }
    let all = reader.flag(host, "PublishAllPorts");
    match all.value {
        Flag::On => ports.push(At::new("all exposed ports".into(), all.spot)),
        Flag::Unknown(what) => reader.remarks.push(
            Remark::new(Level::Unknown, "published-port", &all.spot, format!("PublishAllPorts is {what}"))
                .allows("Ports may be published or not.")
                .remedy("give the output of docker inspect as it is"),
        ),
        Flag::Off | Flag::Unset => {}
    }
    ports
}
