//! What the containers of a pod mount.

use crate::container::facts::{At, Container, Flag, Mount, Source};
use crate::container::finding::{Level, Remark};
use crate::container::read::mounts;
use crate::container::view::{Reader, View};

pub(super) fn read(reader: &mut Reader<'_>, spec: &View<'_>, view: &View<'_>) -> Vec<At<Mount>> {
    let volumes = reader.list(spec, "volumes");
    let mut found = Vec::new();
    for item in reader.list(view, "volumeMounts") {
        let text = |key: &str| item.get(key).and_then(|value| value.scalar());
        let name = text("name").unwrap_or_default();
        let read_only = reader.flag(&item, "readOnly").value == Flag::On;
        let is_it =
            |volume: &&View<'_>| volume.get("name").and_then(|own| own.scalar()).as_deref() == Some(&name);
        let source = match volumes.iter().find(is_it) {
            Some(volume) => source(reader, volume, &name, text("subPath").or_else(|| text("subPathExpr"))),
            None => Some((Source::Unknown(format!("volume {name:?} (the pod has none)")), true)),
        };
        let Some((source, is_writable)) = source else { continue };
        let target = text("mountPath").unwrap_or_default();
        let mount = Mount { source, target, writable: is_writable && !read_only };
        found.push(At::new(mount, item.spot()));
    }
    found
}

/// What a volume is, and whether it can be written at all. `None` if it holds nothing that anybody else has.
fn source(
    reader: &mut Reader<'_>,
    volume: &View<'_>,
    name: &str,
    below: Option<String>,
) -> Option<(Source, bool)> {
    let text = |keys: &[&str]| volume.path(keys).and_then(|value| value.scalar());
    if volume.get("hostPath").is_some() {
        let path = text(&["hostPath", "path"]).unwrap_or_default();
        let path = below.map_or(path.clone(), |below| format!("{path}/{below}"));
        return Some((mounts::host(&path), true));
    }
    if let Some(projected) = volume.get("projected") {
        for part in reader.list(&projected, "sources") {
            if let Some(token) = part.get("serviceAccountToken") {
                reader.remarks.push(
                    Remark::new(
                        Level::Weakens,
                        "service-account-token",
                        &token.spot(),
                        "a token of the cluster is mounted",
                    )
                    .allows("Whoever reaches the server that takes it acts as the pod's service account.")
                    .remedy("leave the serviceAccountToken source out"),
                );
            }
        }
        return None;
    }
    if let Some(server) = text(&["nfs", "server"]) {
        return Some((Source::Remote(server), true));
    }
    if let Some(claim) = text(&["persistentVolumeClaim", "claimName"]) {
        return Some((Source::Volume(format!("claim {claim}")), true));
    }
    if volume.get("emptyDir").is_some() || volume.get("ephemeral").is_some() {
        return Some((Source::Volume(name.to_owned()), true));
    }
    if ["configMap", "secret", "downwardAPI", "image"].iter().any(|kind| volume.get(kind).is_some()) {
        return None;
    }
    let kind = volume.fields().map(|(key, _)| key).find(|key| *key != "name");
    Some(match kind {
        // Nothing but a name is an empty folder.
        None => (Source::Volume(name.to_owned()), true),
        Some("cephfs" | "glusterfs" | "iscsi" | "rbd" | "azureFile" | "csi" | "fc") => {
            (Source::Remote(name.to_owned()), true)
        }
        Some(kind) => (Source::Unknown(format!("a volume of type {kind}")), true),
    })
}

/// Raw volumes, and what a device plugin gives.
pub(super) fn devices(reader: &mut Reader<'_>, view: &View<'_>, container: &mut Container) {
    for device in reader.list(view, "volumeDevices") {
        container.devices.extend(reader.text(&device, "devicePath"));
    }
    for kind in ["limits", "requests"] {
        let Some(resources) = view.path(&["resources", kind]) else { continue };
        let plugin =
            resources.fields().find(|(name, _)| name.contains('/') && !name.starts_with("hugepages"));
        if let Some((_, field)) = plugin {
            container.gpus.push(field.spot());
            break;
        }
    }
}
