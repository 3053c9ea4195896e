//! What a task and its sidecar both mount: the way to the control socket, the policy and the log.

use super::{Case, say};
use crate::container::facts::{At, Container, Mount, Source};
use crate::container::finding::{Level, Remark};
use crate::container::world::SidecarMounts;

const ALLOWS: &str = "What the sidecar keeps there is the task's to use or change: a control socket, a policy, a log. That it is read-only keeps nobody from connecting to a socket.";

/// So many containers are followed by volumes_from.
const DEEPEST: usize = 8;

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    if case.is_sidecar() {
        return;
    }
    for from in &case.container.volumes_from {
        let name = from.value.split(':').next().unwrap_or_default();
        match case.world.find(case.container, name) {
            Some(other) if case.world.is_sidecar(other) => found.push(
                say(
                    Level::Breaks,
                    "shared-volume",
                    &from.spot,
                    format!("it has all volumes of the sidecar {name}"),
                )
                .allows(ALLOWS)
                .remedy("leave volumes_from out"),
            ),
            Some(_) => {}
            None => found.push(
                say(
                    Level::Unknown,
                    "shared-volume",
                    &from.spot,
                    format!("it has all volumes of {name}, which is not in the input"),
                )
                .allows("The sidecar's may be among them.")
                .remedy("leave volumes_from out"),
            ),
        }
    }
    let Some(sidecars) = case.world.sidecar_mounts(case.container.scope) else { return };
    for mount in own_and_taken(case) {
        found.extend(shared(sidecars, &mount));
    }
}

/// Its mounts, and those that it takes from other tasks.
fn own_and_taken(case: &Case<'_>) -> Vec<At<Mount>> {
    let mut mounts = case.container.mounts.clone();
    let mut from: Vec<(&Container, usize)> = vec![(case.container, 0)];
    while let Some((container, depth)) = from.pop() {
        for taken in
            container.volumes_from.iter().take(if depth < DEEPEST { usize::MAX } else { 0 }).take(DEEPEST)
        {
            let name = taken.value.split(':').next().unwrap_or_default();
            let Some(other) = case.world.find(container, name) else { continue };
            if let Some(other) = case.all.get(other).filter(|_| !case.world.is_sidecar(other)) {
                let spot = case.container.volumes_from.first().map_or(&taken.spot, |first| &first.spot);
                mounts.extend(other.mounts.iter().map(|mount| At::new(mount.value.clone(), spot.clone())));
                from.push((other, depth + 1));
            }
        }
        if from.len() > 64 {
            break;
        }
    }
    mounts
}

fn shared(sidecars: &SidecarMounts, mount: &At<Mount>) -> Option<Remark> {
    let (what, held) = match &mount.value.source {
        Source::Volume(name) => (format!("volume {name}"), sidecars.volume(name)?),
        Source::Host(path) => (path.clone(), sidecars.path(path)?),
        _ => return None,
    };
    // What neither can write is no channel between them.
    let level = if held.writable || mount.value.writable { Level::Breaks } else { Level::Note };
    Some(
        say(
            level,
            "shared-volume",
            &mount.spot,
            format!("{what} is mounted in the sidecar {} too", held.sidecar),
        )
        .allows(ALLOWS)
        .remedy("mount it in one of them alone"),
    )
}
