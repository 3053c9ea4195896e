//! Kernel settings. Those of the network are the shared namespace's, whoever sets them.

use super::{Case, say};
use crate::container::finding::{Level, Remark};

pub(super) fn check(case: &Case<'_>, found: &mut Vec<Remark>) {
    for sysctl in &case.container.sysctls {
        let (name, value) = &sysctl.value;
        // Both spellings are taken.
        let dotted = name.trim().replace('/', ".");
        if let Some((level, allows)) = judged(&dotted, value.trim()) {
            found.push(
                say(level, "sysctl", &sysctl.spot, format!("{dotted} = {value}"))
                    .allows(allows)
                    .remedy("leave it out"),
            );
        }
    }
}

fn judged(name: &str, value: &str) -> Option<(Level, &'static str)> {
    let is_off = value == "0";
    let last = name.rsplit('.').next().unwrap_or_default();
    if let Some(network) = name.strip_prefix("net.") {
        return of_network(network, last, value, is_off);
    }
    if ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."].iter().any(|own| name.starts_with(own)) {
        return None;
    }
    if matches!(name, "kernel.domainname" | "kernel.hostname") {
        return None;
    }
    if matches!(name, "kernel.core_pattern" | "kernel.modprobe" | "kernel.hotplug" | "kernel.poweroff_cmd") {
        return Some((Level::Breaks, "The machine's kernel runs the program that stands there, as root."));
    }
    Some((Level::Weakens, "It is a setting of the whole machine, which a container should not set."))
}

fn of_network(network: &str, last: &str, value: &str, is_off: bool) -> Option<(Level, &'static str)> {
    Some(match last {
        // IPv6 is answered by the same rules, and to have it switched off is no harm.
        "disable_ipv6" => return None,
        _ if value.contains('$') => (Level::Unknown, "What it comes to depends on who starts it."),
        "ip_forward" | "forwarding" | "ip_forward_use_pmtu" | "mc_forwarding" if !is_off => (
            Level::Weakens,
            "The namespace passes on packets of others, and the rules for what it sends itself do not see those.",
        ),
        "route_localnet" if !is_off => {
            (Level::Weakens, "From outside, the sidecar's own ports on loopback addresses can be reached.")
        }
        "accept_local"
        | "accept_source_route"
        | "accept_redirects"
        | "arp_accept"
        | "proxy_arp"
        | "proxy_ndp"
            if !is_off =>
        {
            (Level::Weakens, "Others on the network can change where its packets go.")
        }
        "rp_filter" | "src_valid_mark" if is_off => {
            (Level::Weakens, "Packets from addresses that can't be theirs are taken.")
        }
        "ping_group_range" => {
            (Level::Note, "It opens ICMP sockets to every user; the rules refuse what they send.")
        }
        "ip_unprivileged_port_start" => {
            (Level::Note, "Every user may listen on low ports; the sidecar's own are held by the sidecar.")
        }
        _ if network.starts_with("netfilter.") || last.starts_with("nf_") => {
            (Level::Weakens, "It changes how the kernel tracks connections, which the rules go by.")
        }
        _ if is_off
            && matches!(last, "ip_forward" | "forwarding" | "route_localnet" | "accept_redirects") =>
        {
            return None;
        }
        _ => (Level::Note, "It is a setting of the network that the task shares with the sidecar."),
    })
}
