//! The way out: through the sidecar, beside it, or none.

use super::{Case, say};
use crate::container::facts::Network;
use crate::container::finding::{Level, Remark};
use crate::container::remedy::Setting;
use crate::container::world::{Egress, Topology};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    match case.is_sidecar() {
        true => of_sidecar(case, found),
        false => of_task(case, found),
    }
    // With a way out of its own all is said.
    let is_open = !case.is_sidecar() && matches!(case.egress, Egress::Own(_));
    for network in case.container.networks.iter().filter(|_| !is_open) {
        let what = format!("it is on the network {:?} beside {}", network.value, mode(case));
        let (level, allows) = match case.is_sidecar() {
            true => (
                Level::Weakens,
                "A second device in the shared namespace is a second way out, and containers on it can be reached.",
            ),
            false => (Level::Breaks, "It has a device of its own that no rule of the sidecar is about."),
        };
        found.push(
            say(level, "extra-network", &network.spot, what).allows(allows).remedy("leave the network out"),
        );
    }
    reachable(case, found);
}

fn mode(case: &Case<'_>) -> String {
    match &case.container.network.value {
        Network::Of(name) => format!("the network of {name}"),
        Network::None => "none".into(),
        Network::Host => "the machine's".into(),
        Network::Own(name) | Network::Internal(name) | Network::Unknown(name) => format!("{name:?}"),
        Network::Pod => "the pod's".into(),
    }
}

fn of_task(case: &Case<'_>, found: &mut Vec<Remark>) {
    let spot = &case.container.network.spot;
    let join = case.container.engine.say(Setting::Join(case.sidecar_name()));
    let remark = match &case.egress {
        Egress::Behind(Some(_), _) => return,
        Egress::Behind(None, _) => say(Level::Unknown, "sidecar-unseen", spot, "its sidecar is not in the input")
            .allows("Whether the sidecar itself is set up as it should be is not checked.")
            .remedy("give the sidecar's container too"),
        Egress::Sealed => say(Level::Note, "no-network", spot, "it has no network at all")
            .allows("It reaches nothing, its model neither.")
            .remedy("nothing to do where it needs no network"),
        Egress::Host => say(Level::Breaks, "host-network", spot, "it is in the machine's network")
            .allows("It reaches all that the machine reaches, its local services included; no sidecar is between.")
            .remedy(join),
        Egress::Own(name) => {
            say(Level::Breaks, "own-network", spot, format!("it has a way out of its own, {name:?}, past the sidecar"))
                .allows("What it sends there is neither refused nor recorded; it can also carry data for others that reach it.")
                .remedy(join)
        }
        Egress::Internal(name) => {
            say(Level::Weakens, "internal-network", spot, format!("it is on {name:?}, which has no way out, and not behind the sidecar"))
                .allows("It reaches the other containers there and the machine's address on it, and older engines resolve any name for it.")
                .remedy(join)
        }
        Egress::Unknown(why) => say(Level::Unknown, "network", spot, format!("how it comes to its network can't be told: {why}"))
            .allows("It may have a way out past the sidecar.")
            .remedy(join),
    };
    found.push(remark);
}

/// The namespace of a sidecar is the one that the task has.
fn of_sidecar(case: &Case<'_>, found: &mut Vec<Remark>) {
    let spot = &case.container.network.spot;
    match &case.egress {
        Egress::Host => found.push(
            say(Level::Breaks, "host-network", spot, "the sidecar is in the machine's network")
                .allows("A task that shares it is in the machine's network, and the rules are the machine's.")
                .remedy("give the sidecar a network of its own"),
        ),
        Egress::Unknown(why) => found.push(
            say(
                Level::Unknown,
                "network",
                spot,
                format!("how the sidecar comes to its network can't be told: {why}"),
            )
            .allows("The task may be in a namespace that is not guarded.")
            .remedy("give the container whose network it is, too"),
        ),
        Egress::Behind(_, Topology::Sealed | Topology::Shared)
        | Egress::Sealed
        | Egress::Own(_)
        | Egress::Internal(_) => {}
    }
}

/// Who can reach it, and what it is told of others.
fn reachable(case: &Case<'_>, found: &mut Vec<Remark>) {
    let one = case.container;
    for port in &one.ports {
        found.push(
            say(Level::Weakens, "published-port", &port.spot, format!("published: {}", port.value))
                .allows("Whoever reaches the machine there can connect in, and carry data both ways past every rule.")
                .remedy("leave the port out"),
        );
    }
    for host in &one.hosts {
        let is_gateway = host.value.contains("host-gateway") || host.value.contains("host.docker.internal");
        let level = match (is_gateway, &case.egress) {
            (true, Egress::Behind(..)) if !case.is_sidecar() => Level::Note,
            (true, _) => Level::Weakens,
            (false, _) => Level::Note,
        };
        let what = format!("{} is written into its hosts file", host.value);
        let allows = match is_gateway {
            true => {
                "It knows the machine's address, where services may answer that the sidecar does not guard."
            }
            false => {
                "A name leads to this address without being asked for; the sidecar goes by the name and resolves it itself."
            }
        };
        found.push(say(level, "extra-hosts", &host.spot, what).allows(allows).remedy("leave the entry out"));
    }
    for link in &one.links {
        found.push(
            say(Level::Weakens, "links", &link.spot, format!("it is linked to {}", link.value))
                .allows("The other container can carry its data on, unless it is behind the sidecar too.")
                .remedy("leave the link out"),
        );
    }
    for server in &one.dns {
        found.push(
            say(Level::Note, "dns", &server.spot, format!("its name server is {}", server.value))
                .allows("Behind the sidecar every question is answered by the sidecar, whatever server it is for.")
                .remedy("leave it out"),
        );
    }
}
