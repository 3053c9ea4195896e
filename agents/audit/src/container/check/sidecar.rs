//! What enforces should be able to, and hold nothing more.

use super::{Case, say};
use crate::container::capability::{ALL, Origin};
use crate::container::facts::{Flag, Network};
use crate::container::finding::{Level, Remark};
use crate::container::remedy::Setting;

/// What it may need: rules, and the marks of a shared namespace.
const NEEDED: [&str; 2] = ["NET_ADMIN", "NET_RAW"];

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    if !case.is_sidecar() {
        return;
    }
    let one = case.container;
    let held = &one.capabilities.held;
    let is_joined = case.world.joined.contains(&case.index);
    if is_joined && !held.contains_key("NET_ADMIN") {
        found.push(
            say(Level::Breaks, "sidecar-powerless", &one.spot, "it does not hold CAP_NET_ADMIN")
                .allows("It can't have set any rule in the network that the task shares with it.")
                .remedy("give it CAP_NET_ADMIN; or name the container that enforces with --sidecar"),
        );
    }
    // Of one that holds all of them that is said already.
    if one.privileged.value != Flag::On && held.len() < ALL.len() {
        let (mut asked, mut default) = (Vec::new(), 0);
        for (name, origin) in held.iter().filter(|(name, _)| !NEEDED.contains(name)) {
            match origin {
                Origin::Default => default += 1,
                Origin::Added(spot) | Origin::Privileged(spot) => asked.push((*name, spot)),
            }
        }
        for (name, spot) in asked {
            found.push(
                say(
                    Level::Note,
                    "sidecar-capability",
                    spot,
                    format!("it is given CAP_{name}, which it does not need"),
                )
                .allows("A fault in the sidecar would be worth more to whoever finds it.")
                .remedy(one.engine.say(Setting::NotAdded(name))),
            );
        }
        if default > 0 {
            found.push(
                say(
                    Level::Note,
                    "sidecar-capability",
                    &one.spot,
                    format!("it holds {default} default capabilities that it does not need"),
                )
                .allows("A fault in the sidecar would be worth more to whoever finds it.")
                .remedy(one.engine.say(Setting::Drop("ALL"))),
            );
        }
    }
    if let Some(restart) = &one.restart
        && restart.value != "no"
        && !restart.value.is_empty()
        && is_joined
    {
        found.push(
            say(Level::Note, "sidecar-restart", &restart.spot, format!("it is started again: {}", restart.value))
                .allows("Started again it has a new namespace; a task that stays in the old one has no network from then on.")
                .remedy("let the trial end when the sidecar ends"),
        );
    }
    if is_joined && one.network.value == Network::None && one.capabilities.held.contains_key("NET_RAW") {
        found.push(
            say(
                Level::Note,
                "sidecar-capability",
                &one.spot,
                "it holds CAP_NET_RAW, which a sealed namespace does not need",
            )
            .allows("A fault in the sidecar would be worth more to whoever finds it.")
            .remedy(one.engine.say(Setting::Drop("NET_RAW"))),
        );
    }
    opens(case, found);
}

/// Harbor's sidecar begins as it is told.
fn opens(case: &Case<'_>, found: &mut Vec<Remark>) {
    for variable in &case.container.environment {
        let (name, value) = &variable.value;
        if name != "EGRESS_CONTROL_INITIAL_NETWORK_MODE" {
            continue;
        }
        let remark = match value.as_deref() {
            Some("no-network" | "allowlist") => continue,
            Some("public") => say(Level::Weakens, "starts-open", &variable.spot, "it begins with an open network")
                .allows("Until the first switch of the phase the task reaches everything, and what it opens may stay open."),
            Some(other) => say(Level::Unknown, "starts-open", &variable.spot, format!("how it begins can't be told: {other}"))
                .allows("It may begin with an open network."),
            None => say(Level::Unknown, "starts-open", &variable.spot, "how it begins is told elsewhere")
                .allows("It may begin with an open network."),
        };
        found.push(remark.remedy("no-network or allowlist"));
    }
}
