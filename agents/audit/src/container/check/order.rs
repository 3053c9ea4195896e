//! Whether the rules stand before the task begins. In a sealed namespace nothing can leave before.

use super::{Case, say};
use crate::container::facts::{Engine, Stage, Waits};
use crate::container::finding::{Level, Remark};
use crate::container::world::{Egress, Topology};

const ALLOWS: &str =
    "Until the rules stand the task has an open network, and what it has opened by then may stay open.";

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    if let Stage::Debug = case.container.stage {
        found.push(
            say(Level::Note, "debug-container", &case.container.spot, "it was put into the running pod")
                .allows("Whoever debugs there acts inside the trial, and the record does not tell one from the other.")
                .remedy("do not count a trial with it"),
        );
    }
    let Egress::Behind(Some(sidecar), Topology::Shared) = case.egress else { return };
    if case.is_sidecar() {
        return;
    }
    match case.container.engine {
        Engine::Compose => of_service(case, sidecar, found),
        Engine::Kubernetes => of_pod(case, sidecar, found),
        // Who was started when is not in there.
        Engine::Docker | Engine::Podman | Engine::Oci => {}
    }
}

fn of_service(case: &Case<'_>, sidecar: usize, found: &mut Vec<Remark>) {
    let Some(sidecar) = case.all.get(sidecar) else { return };
    let after = case.container.after.iter().flatten().find(|after| after.value.service == sidecar.name);
    let (spot, what) = match after {
        Some(after) if after.value.healthy => return,
        Some(after) => {
            (&after.spot, format!("it waits until {} is started, not until it is healthy", sidecar.name))
        }
        None => (&case.container.spot, format!("it does not wait for {}", sidecar.name)),
    };
    found.push(say(Level::Weakens, "start-order", spot, what).allows(ALLOWS).remedy(format!(
        "depends_on: {{{}: {{condition: service_healthy}}}}, with a healthcheck that says when the rules stand",
        sidecar.name
    )));
}

fn of_pod(case: &Case<'_>, sidecar: usize, found: &mut Vec<Remark>) {
    let Some(sidecar) = case.all.get(sidecar) else { return };
    let what = match (sidecar.stage, case.container.stage) {
        (_, Stage::Debug) => return,
        (
            Stage::Beside(first, Waits::Yes) | Stage::Init(first),
            Stage::Init(then) | Stage::Beside(then, _),
        ) if first < then => {
            return;
        }
        (Stage::Beside(_, Waits::Yes) | Stage::Init(_), Stage::Main(..)) => return,
        (Stage::Main(first, Waits::Yes), Stage::Main(then, _)) if first < then => return,
        (_, Stage::Init(_)) => "it is an init container that runs before the sidecar enforces",
        (Stage::Beside(_, Waits::No), _) => {
            "the sidecar has no startupProbe, so that nobody waits until it enforces"
        }
        _ => "the sidecar is a container like the others, and starts together with them",
    };
    found.push(say(Level::Weakens, "start-order", &case.container.spot, what).allows(ALLOWS).remedy(
        "make the sidecar the first init container, with restartPolicy: Always and a startupProbe that says when the rules stand",
    ));
}
