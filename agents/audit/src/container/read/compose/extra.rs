//! What only compose files say: devices in several spellings, hooks, settings from other files.

use closedbook_document::Value;

use crate::container::facts::{At, Container, Flag, Spot};
use crate::container::finding::{Level, Remark};
use crate::container::view::{Reader, View};

pub(super) fn devices(reader: &mut Reader<'_>, view: &View<'_>, service: &mut Container) {
    for item in reader.list(view, "devices") {
        let device = match &item.node.value {
            Value::Table(_) => item.get("source").and_then(|source| source.scalar()),
            _ => item.scalar(),
        };
        match device {
            // A name of the Container Device Interface: `vendor/class=name`.
            Some(device) if device.contains('=') && !device.starts_with('/') => {
                service.gpus.push(item.spot())
            }
            Some(device) => {
                let path = device.split(':').next().unwrap_or_default().to_owned();
                service.devices.push(At::new(path, item.spot()));
            }
            None => reader.expected(&item, "a device"),
        }
    }
    service.device_rules = reader.texts(view, "device_cgroup_rules");
    service.gpus.extend(view.get("gpus").map(|gpus| gpus.spot()));
    let reserved = view.path(&["deploy", "resources", "reservations", "devices"]);
    service.gpus.extend(reserved.map(|devices| devices.spot()));
}

pub(super) fn read(reader: &mut Reader<'_>, view: &View<'_>) {
    let socket = reader.flag(view, "use_api_socket");
    if matches!(socket.value, Flag::On | Flag::Unknown(_)) {
        reader.remarks.push(
            Remark::new(Level::Breaks, "engine-socket", &socket.spot, "the engine's socket is given to it")
                .allows(
                    "It can start a container of its own beside the sidecar, with any network and any right.",
                )
                .remedy("leave use_api_socket out"),
        );
    }
    if let Some(extends) = view.get("extends") {
        reader.remarks.push(elsewhere(&extends.spot(), "extends"));
    }
    for stage in ["post_start", "pre_stop"] {
        for hook in reader.list(view, stage) {
            let privileged = reader.flag(&hook, "privileged");
            if matches!(privileged.value, Flag::On | Flag::Unknown(_)) {
                reader.remarks.push(
                    Remark::new(Level::Breaks, "privileged-exec", &privileged.spot, format!("{stage} runs privileged"))
                        .allows("A file that the task has replaced is run with every capability, and can remove the rules.")
                        .remedy("leave privileged out of the hook"),
                );
            }
        }
    }
    build(reader, view);
    groups(reader, view);
}

fn build(reader: &mut Reader<'_>, view: &View<'_>) {
    let Some(build) = view.get("build") else { return };
    if matches!(reader.flag(&build, "privileged").value, Flag::On | Flag::Unknown(_))
        || build.get("entitlements").is_some_and(|list| !list.node.items().is_empty())
    {
        reader.remarks.push(
            Remark::new(
                Level::Note,
                "build",
                &build.spot(),
                "the image is built with more rights than usual",
            )
            .allows("What the image's build does is outside of every phase; it is not the task that does it.")
            .remedy("build the image beforehand, and name it"),
        );
    }
}

fn groups(reader: &mut Reader<'_>, view: &View<'_>) {
    for group in reader.texts(view, "group_add") {
        if group.value == "docker" {
            reader.remarks.push(
                Remark::new(Level::Note, "group", &group.spot, "it is in the group docker")
                    .allows("With the engine's socket in sight it may use it without being root.")
                    .remedy("leave the group out"),
            );
        }
    }
}

/// Settings that are in another file.
pub(super) fn elsewhere(spot: &Spot, key: &str) -> Remark {
    Remark::new(Level::Unknown, "elsewhere", spot, format!("{key}: more is said in another file"))
        .allows("What stands there is not seen, and may be anything.")
        .remedy("give the output of `docker compose config`, in which it is all together")
}
