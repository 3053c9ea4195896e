//! Compose files, and what `docker compose config` makes of them.

use std::collections::{BTreeMap, BTreeSet};

use closedbook_document::Value;

use super::{Scene, options};
use crate::container::capability::{Capabilities, Rules};
use crate::container::facts::{After, At, Container, Engine, Flag, Namespace, Network, Source, Spot};
use crate::container::finding::{Level, Remark};
use crate::container::view::{Reader, View};

mod extra;
mod keys;
mod network;
mod variable;
mod volumes;

/// What stands at the top beside the services.
pub(super) struct Project {
    /// Volumes that are something else than a named volume.
    volumes: BTreeMap<String, Source>,
    networks: BTreeMap<String, Kind>,
    /// Names that services give their containers.
    containers: BTreeSet<String>,
    /// Secrets and configs that are files of the machine.
    files: BTreeMap<(&'static str, String), String>,
}

/// Whether a network has a way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    Internal,
    Unknown,
}

impl Project {
    /// `container:NAME` means a container of this name, not the service of this name: that has another one, unless it is
    /// told. Written out, it is the name of one that is not in the file.
    fn known_as(&self, name: &str, mode: Option<At<String>>) -> String {
        let is_container = mode.is_some_and(|mode| mode.value.trim().starts_with("container:"));
        match is_container && !self.containers.contains(name) {
            true => format!("container:{name}"),
            false => name.to_owned(),
        }
    }
}

pub(super) fn read(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, root: &View<'_>) {
    let scope = scene.scope();
    let project = project(reader, root);
    let Some(services) = reader.table(root, "services") else {
        if root.get("services").is_none() {
            reader.wrong(root.node.at, "no compose file: it has no table `services`");
        }
        return;
    };
    let included = root.get("include");
    for (name, view) in services.fields() {
        let Value::Table(_) = view.node.value else {
            reader.expected(&view, "a service (a table)");
            reader.remarks.clear();
            continue;
        };
        let mut container = service(
            reader,
            &project,
            &view,
            Container::bare(Engine::Compose, file, scope, name.to_owned(), view.spot()),
        );
        if let Some(included) = &included {
            container.remarks.push(extra::elsewhere(&included.spot(), "include"));
        }
        scene.containers.push(container);
    }
}

fn project(reader: &mut Reader<'_>, root: &View<'_>) -> Project {
    let mut project = Project {
        volumes: BTreeMap::new(),
        networks: BTreeMap::new(),
        containers: BTreeSet::new(),
        files: BTreeMap::new(),
    };
    if let Some(services) = root.get("services") {
        let name = |service: View<'_>| service.get("container_name").and_then(|name| name.scalar());
        project.containers = services.fields().filter_map(|(_, service)| name(service)).collect();
    }
    if let Some(volumes) = reader.table(root, "volumes") {
        for (name, view) in volumes.fields() {
            project.volumes.extend(volumes::defined(&view).map(|source| (name.to_owned(), source)));
        }
    }
    if let Some(networks) = reader.table(root, "networks") {
        for (name, view) in networks.fields() {
            project.networks.insert(name.to_owned(), network::kind(reader, &view));
        }
    }
    for kind in ["secrets", "configs"] {
        let Some(table) = reader.table(root, kind) else { continue };
        for (name, view) in table.fields() {
            let file = view.get("file").and_then(|file| file.scalar());
            project.files.extend(file.map(|file| ((kind, name.to_owned()), file)));
        }
    }
    project
}

fn service(reader: &mut Reader<'_>, project: &Project, view: &View<'_>, bare: Container) -> Container {
    let mut service = bare;
    reader.remarks.clear();
    service.image = reader.text(view, "image").map(|image| image.value);
    service.aliases.extend(reader.text(view, "container_name").map(|name| name.value));
    service.after = Some(after(reader, view));
    service.privileged = reader.flag(view, "privileged");
    let add = variable::settled(reader, view, "cap_add");
    let drop = variable::settled(reader, view, "cap_drop");
    service.capabilities = match service.privileged.value {
        Flag::On => Capabilities::privileged(&service.privileged.spot),
        _ => Capabilities::by(Rules::Docker, &add, &drop),
    };
    network::read(reader, project, view, &mut service);
    let mut mode = |key: &str| {
        let text = reader.text(view, key);
        let text = text.map(|text| variable::settle(reader, text));
        let mut mode = options::namespace(text, view.missing(key));
        if let Namespace::Of(name) = &mut mode.value {
            *name = project.known_as(name, reader.text(view, key));
        }
        mode
    };
    service.pid = mode("pid");
    service.ipc = mode("ipc");
    service.uts = mode("uts");
    service.cgroup = mode("cgroup");
    service.user_namespace = mode("userns_mode");
    let security = variable::settled(reader, view, "security_opt");
    (service.unconfined, service.no_new_privileges) =
        options::security(&security, view.missing("security_opt"));
    service.read_only = reader.flag(view, "read_only");
    service.user = options::user(reader.text(view, "user"), view.missing("user"));
    service.mounts = volumes::read(reader, project, view);
    service.volumes_from = volumes_from(reader, view);
    extra::devices(reader, view, &mut service);
    service.sysctls = reader
        .pairs(view, "sysctls")
        .into_iter()
        .map(|pair| At::new((pair.value.0, pair.value.1.unwrap_or_default()), pair.spot))
        .collect();
    service.ports = ports(reader, view);
    service.hosts = hosts(reader, view);
    service.links = reader.texts(view, "links");
    service.links.extend(reader.texts(view, "external_links"));
    service.dns = reader.texts(view, "dns");
    service.environment = reader.pairs(view, "environment");
    service.restart = reader.text(view, "restart");
    service.runtime = reader.text(view, "runtime");
    service.cgroup_parent = reader.text(view, "cgroup_parent");
    extra::read(reader, view);
    keys::check(view, &mut service);
    service.remarks.append(&mut reader.remarks);
    service
}

/// What it waits for. What depends_on does not say, it does not wait for.
fn after(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<After>> {
    let Some(field) = view.get("depends_on") else { return Vec::new() };
    match field.node.value {
        Value::Table(_) => field
            .fields()
            .map(|(service, item)| {
                let condition = item.get("condition").and_then(|condition| condition.scalar());
                let healthy = condition.is_some_and(|word| {
                    ["service_healthy", "service_completed_successfully"].contains(&word.as_str())
                });
                At::new(After { service: service.to_owned(), healthy }, item.spot())
            })
            .collect(),
        _ => reader
            .texts(view, "depends_on")
            .into_iter()
            .map(|name| At::new(After { service: name.value, healthy: false }, name.spot))
            .collect(),
    }
}

/// `SERVICE[:ro]` or `container:NAME[:ro]`
fn volumes_from(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<String>> {
    let plain = |text: &str| {
        let text = text.strip_prefix("container:").unwrap_or(text);
        text.trim_end_matches(":ro").trim_end_matches(":rw").to_owned()
    };
    reader
        .texts(view, "volumes_from")
        .into_iter()
        .map(|from| At::new(plain(&from.value), from.spot))
        .collect()
}

/// Those that are published: the long form need not publish.
fn ports(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<String>> {
    let mut ports = Vec::new();
    for item in reader.list(view, "ports") {
        let text = match item.node.value {
            Value::Table(_) => {
                let part = |key: &str| item.get(key).and_then(|part| part.scalar());
                let target = part("target").unwrap_or_else(|| "a port".into());
                // Without `published` the engine takes a port of its choice.
                part("published").map_or(target.clone(), |published| format!("{published}:{target}"))
            }
            _ => match item.scalar() {
                Some(text) => text,
                None => {
                    reader.expected(&item, "a port");
                    continue;
                }
            },
        };
        ports.push(At::new(text, item.spot()));
    }
    ports
}

/// `NAME:ADDRESS` or `NAME=ADDRESS`, or a table of names.
fn hosts(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<String>> {
    let Some(field) = view.get("extra_hosts") else { return Vec::new() };
    let Value::Table(_) = field.node.value else { return reader.texts(view, "extra_hosts") };
    let mut hosts = Vec::new();
    for (name, _) in field.fields() {
        for address in reader.texts(&field, name) {
            hosts.push(At::new(format!("{name}:{}", address.value), address.spot));
        }
    }
    hosts
}

/// A network of a service that has none of its own to name.
fn implicit(project: &Project, spot: Spot) -> At<Network> {
    let network = match project.networks.get("default") {
        Some(Kind::Internal) => Network::Internal("default".into()),
        Some(Kind::Unknown) => Network::Unknown("default".into()),
        Some(Kind::Open) | None => Network::Own("default".into()),
    };
    At::new(network, spot)
}

/// A finding that something could not be told for a variable.
fn open(spot: &Spot, what: String) -> Remark {
    Remark::new(Level::Unknown, "variable", spot, what)
        .allows("What it comes to depends on who starts it, so it may be anything.")
        .remedy("give the output of `docker compose config`, in which no variables are left")
}
