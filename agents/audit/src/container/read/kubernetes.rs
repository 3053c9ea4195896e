//! Pods, and what makes pods.

use closedbook_document::Value;

use super::{Scene, options};
use crate::container::capability::{Capabilities, Rules};
use crate::container::facts::{
    At, Container, Engine, Flag, Namespace, Network, Spot, Stage, Unconfined, User, Waits,
};
use crate::container::finding::{Level, Remark};
use crate::container::view::{Reader, View};

mod pod;
mod volumes;

pub(super) fn read(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, root: &View<'_>) {
    let Value::Table(_) = root.node.value else {
        reader.expected(root, "a Kubernetes object (a table)");
        reader.remarks.clear();
        return;
    };
    // A list of objects, `v1` List or one of a kind.
    if root.get("spec").is_none() && root.get("items").is_some() {
        for item in reader.list(root, "items") {
            object(scene, reader, file, &item);
        }
        return;
    }
    object(scene, reader, file, root);
}

/// Objects that are no pods and make none have nothing to say.
fn object(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, object: &View<'_>) {
    const PATHS: [&[&str]; 4] =
        [&["spec", "jobTemplate", "spec", "template"], &["spec", "template"], &["template"], &[]];
    let has_containers = |view: &View<'_>| {
        ["containers", "initContainers"].iter().any(|key| view.path(&["spec", key]).is_some())
    };
    let found = PATHS.iter().filter_map(|path| object.path(path)).find(has_containers);
    if let Some(template) = found {
        let kind = object.get("kind").and_then(|kind| kind.scalar()).unwrap_or_else(|| "Pod".into());
        let name = [object, &template]
            .iter()
            .find_map(|view| {
                let name = |key| view.path(&["metadata", key]).and_then(|name| name.scalar());
                name("name").or_else(|| name("generateName"))
            })
            .unwrap_or_else(|| "nameless".into());
        read_pod(scene, reader, file, &template, &format!("{}/{name}", kind.to_lowercase()));
    }
}

fn read_pod(scene: &mut Scene, reader: &mut Reader<'_>, file: usize, template: &View<'_>, name: &str) {
    let Some(spec) = reader.table(template, "spec") else { return };
    let scope = scene.scope();
    reader.remarks.clear();
    let pod = pod::Pod::read(reader, template, &spec);
    let mut number = 0;
    for (key, kind) in
        [("initContainers", Kind::Init), ("containers", Kind::Main), ("ephemeralContainers", Kind::Debug)]
    {
        for (place, view) in reader.list(&spec, key).into_iter().enumerate() {
            let Value::Table(_) = view.node.value else {
                reader.expected(&view, "a container (a table)");
                continue;
            };
            let own = reader.text(&view, "name").map(|name| name.value);
            let own = own.unwrap_or_else(|| format!("{key}[{place}]"));
            let full = format!("{name}/{own}");
            let mut container = Container::bare(Engine::Kubernetes, file, scope, full, view.spot());
            container.aliases.push(own);
            container.stage = kind.stage(&view, number, place);
            one(reader, &pod, &spec, &view, &mut container);
            // What is said of the pod is said once, of its first container.
            if number == 0 {
                container.remarks.extend(pod.remarks.iter().cloned());
            }
            number += 1;
            scene.containers.push(container);
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Init,
    Main,
    Debug,
}

impl Kind {
    fn stage(self, view: &View<'_>, number: usize, place: usize) -> Stage {
        let has = |key: &str| view.get(key).is_some();
        let stays =
            view.get("restartPolicy").and_then(|policy| policy.scalar()).is_some_and(|word| word == "Always");
        match self {
            Kind::Init if stays => {
                let waits = has("startupProbe") || view.path(&["lifecycle", "postStart"]).is_some();
                Stage::Beside(number, if waits { Waits::Yes } else { Waits::No })
            }
            Kind::Init => Stage::Init(number),
            // The kubelet starts the next one when the first one's hook is done.
            Kind::Main => {
                let waits = place == 0 && view.path(&["lifecycle", "postStart"]).is_some();
                Stage::Main(number, if waits { Waits::Yes } else { Waits::No })
            }
            Kind::Debug => Stage::Debug,
        }
    }
}

fn one(reader: &mut Reader<'_>, pod: &pod::Pod, spec: &View<'_>, view: &View<'_>, container: &mut Container) {
    reader.remarks.clear();
    container.image = reader.text(view, "image").map(|image| image.value);
    container.environment = pod::environment(reader, view);
    container.network = pod.network.clone();
    container.pid = pod.pid.clone();
    container.ipc = pod.ipc.clone();
    container.user_namespace = pod.user_namespace.clone();
    container.sysctls = pod.sysctls.clone();
    container.hosts = pod.hosts.clone();
    container.dns = pod.dns.clone();
    container.runtime = pod.runtime.clone();
    container.mounts = volumes::read(reader, spec, view);
    volumes::devices(reader, view, container);
    container.ports = ports(reader, view);
    security(reader, pod, view, container);
    if let Some(target) = reader.text(view, "targetContainerName") {
        container.pid = At::new(Namespace::Of(target.value), target.spot);
    }
    container.remarks.append(&mut reader.remarks);
}

fn security(reader: &mut Reader<'_>, pod: &pod::Pod, view: &View<'_>, container: &mut Container) {
    let context = reader.table(view, "securityContext");
    let missing = |key: &str| view.missing(&format!("securityContext.{key}"));
    let Some(context) = context else {
        container.capabilities = Capabilities::by(Rules::Cri, &[], &[]);
        container.user = pod.user.clone().unwrap_or_else(|| At::new(User::Root, missing("runAsUser")));
        container.no_new_privileges.spot = missing("allowPrivilegeEscalation");
        container.read_only.spot = missing("readOnlyRootFilesystem");
        container.privileged.spot = missing("privileged");
        container.unconfined.extend(pod.unconfined(None, missing("seccompProfile")));
        return;
    };
    container.privileged = reader.flag(&context, "privileged");
    let capabilities = reader.table(&context, "capabilities");
    let mut list = |key: &str| capabilities.as_ref().map(|view| reader.texts(view, key)).unwrap_or_default();
    let (add, drop) = (list("add"), list("drop"));
    container.capabilities = match container.privileged.value {
        Flag::On => Capabilities::privileged(&container.privileged.spot),
        _ => Capabilities::by(Rules::Cri, &add, &drop),
    };
    let escalation = reader.flag(&context, "allowPrivilegeEscalation");
    container.no_new_privileges = At::new(
        match escalation.value {
            Flag::Off => Flag::On,
            Flag::On => Flag::Off,
            other => other,
        },
        escalation.spot,
    );
    container.read_only = reader.flag(&context, "readOnlyRootFilesystem");
    let own_user = pod::user(reader, &context);
    container.user = own_user
        .or_else(|| pod.user.clone())
        .unwrap_or_else(|| At::new(User::Root, context.missing("runAsUser")));
    container.unconfined.extend(pod.unconfined(Some(&context), context.missing("seccompProfile")));
    if let Some(mount) = reader.text(&context, "procMount")
        && mount.value != "Default"
    {
        container.unconfined.push(At::new(Unconfined::SystemPaths, mount.spot));
    }
    keys(&context, reader);
}

/// What the API server drops without a word from most clients.
fn keys(context: &View<'_>, reader: &mut Reader<'_>) {
    const KNOWN: [&str; 12] = [
        "allowPrivilegeEscalation",
        "appArmorProfile",
        "capabilities",
        "privileged",
        "procMount",
        "readOnlyRootFilesystem",
        "runAsGroup",
        "runAsNonRoot",
        "runAsUser",
        "seLinuxOptions",
        "seccompProfile",
        "windowsOptions",
    ];
    for (key, field) in context.fields().filter(|(key, _)| !KNOWN.contains(key)) {
        reader.remarks.push(
            Remark::new(
                Level::Unknown,
                "unknown-key",
                &field.spot(),
                format!("{key:?} is no key of a security context"),
            )
            .allows("The server drops it, and what it was meant to say is not said.")
            .remedy("write the key as the Kubernetes API does"),
        );
    }
}

/// Ports of the node: those without hostPort are only named.
fn ports(reader: &mut Reader<'_>, view: &View<'_>) -> Vec<At<String>> {
    let mut ports = Vec::new();
    for port in reader.list(view, "ports") {
        ports.extend(reader.text(&port, "hostPort").filter(|port| port.value != "0"));
    }
    ports
}

/// A pod's namespace that is its own or the machine's.
fn shared(flag: At<Flag>, otherwise: Namespace) -> At<Namespace> {
    let namespace = match flag.value {
        Flag::On => Namespace::Host,
        Flag::Unknown(what) => Namespace::Unknown(what),
        Flag::Off | Flag::Unset => otherwise,
    };
    At::new(namespace, flag.spot)
}

fn network(flag: At<Flag>) -> At<Network> {
    let network = match flag.value {
        Flag::On => Network::Host,
        Flag::Unknown(what) => Network::Unknown(format!("hostNetwork {what:?}")),
        Flag::Off | Flag::Unset => Network::Pod,
    };
    At::new(network, flag.spot)
}

/// What was told of a user: a number counts, a promise not to be root too.
fn told(number: Option<At<String>>, not_root: At<Flag>, missing: Spot) -> Option<At<User>> {
    match (number, not_root.value) {
        (Some(number), _) => Some(options::user(Some(number), missing)),
        (None, Flag::On) => Some(At::new(User::Number, not_root.spot)),
        (None, _) => None,
    }
}
