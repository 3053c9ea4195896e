//! The mounts of a service: short and long form, top-level volumes that are folders in truth, secrets and configs.

use closedbook_document::Value;

use super::{Project, variable};
use crate::container::facts::{At, Flag, Mount, Source};
use crate::container::read::mounts;
use crate::container::view::{Reader, View};

/// What a volume at the top of the file is, when it is more than a name of a volume of its own.
pub(super) fn defined(view: &View<'_>) -> Option<Source> {
    let text = |keys: &[&str]| view.path(keys).and_then(|value| value.scalar());
    let device = text(&["driver_opts", "device"]);
    let kind = text(&["driver_opts", "type"]).unwrap_or_default();
    let options = text(&["driver_opts", "o"]).unwrap_or_default();
    match device {
        Some(device) if options.split(',').any(|o| o == "bind" || o == "rbind") => {
            Some(mounts::host(&device))
        }
        Some(device) if kind.starts_with("nfs") || kind == "cifs" => Some(Source::Remote(device)),
        // In memory, and nobody's but the volume's.
        Some(_) if kind == "tmpfs" => text(&["name"]).map(Source::Volume),
        // A disk, or whatever else the machine can mount.
        Some(device) if device.starts_with('/') => Some(mounts::host(&device)),
        Some(device) if mounts::has_variable(&device) => Some(Source::Unknown(device)),
        _ => text(&["name"]).map(Source::Volume),
    }
}

pub(super) fn read(reader: &mut Reader<'_>, project: &Project, view: &View<'_>) -> Vec<At<Mount>> {
    let mut mounts = Vec::new();
    for item in reader.list(view, "volumes") {
        let mount = match &item.node.value {
            Value::Table(_) => long(reader, &item),
            _ => match item.scalar() {
                Some(text) => {
                    let settled = variable::settle(reader, At::new(text, item.spot()));
                    mounts::short(&settled.value)
                }
                None => {
                    reader.expected(&item, "a volume");
                    None
                }
            },
        };
        mounts.extend(mount.map(|mount| At::new(resolved(project, mount), item.spot())));
    }
    for kind in ["secrets", "configs"] {
        for item in reader.list(view, kind) {
            let name = item.scalar().or_else(|| item.get("source").and_then(|source| source.scalar()));
            let target = item.get("target").and_then(|target| target.scalar());
            if let Some(name) = name
                && let Some(file) = project.files.get(&(kind, name.clone()))
            {
                let target = target.unwrap_or_else(|| format!("/run/secrets/{name}"));
                let mount = Mount { source: mounts::host(file), target, writable: false };
                mounts.push(At::new(mount, item.spot()));
            }
        }
    }
    mounts
}

fn long(reader: &mut Reader<'_>, item: &View<'_>) -> Option<Mount> {
    let text = |key: &str| item.get(key).and_then(|value| value.scalar());
    let source = reader.text(item, "source").map(|source| variable::settle(reader, source).value);
    let writable = reader.flag(item, "read_only").value != Flag::On;
    let source = match (text("type").unwrap_or_default().as_str(), source) {
        ("tmpfs" | "image", _) | ("volume" | "", None) => return None,
        ("bind" | "npipe", Some(path)) => mounts::host(&path),
        ("volume", Some(name)) => Source::Volume(name),
        ("", Some(source)) => mounts::named_or_path(&source),
        (kind, _) => Source::Unknown(format!("a volume of type {kind:?}")),
    };
    Some(Mount { source, target: text("target").unwrap_or_default(), writable })
}

fn resolved(project: &Project, mount: Mount) -> Mount {
    match &mount.source {
        Source::Volume(name) => match project.volumes.get(name) {
            Some(source) => Mount { source: source.clone(), ..mount },
            None => mount,
        },
        _ => mount,
    }
}
