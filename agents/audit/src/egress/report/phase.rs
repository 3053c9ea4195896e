//! One phase of the log, beside the same phase of the list.

use std::collections::BTreeSet;

use closedbook_policy as policy;

use super::{Host, PhaseReport, Unused, Wildcard};
use crate::egress::allowed::{Allowed, Entry, is_wide, names};
use crate::egress::tally::Phase;

/// So many names are proposed for one wildcard.
const MOST_EXACT: usize = 50;

pub(super) fn report(name: &str, sums: &Phase, allowed: Option<&Allowed>) -> PhaseReport {
    let is_optional = |host: &Host| allowed.is_some_and(|allowed| allowed.is_optional(&host.host));
    let (intended, refused) = Host::all(&sums.refused).into_iter().partition(is_optional);
    let (used, mut asked): (Vec<Host>, Vec<Host>) =
        Host::all(&sums.used).into_iter().partition(Host::is_connected);
    let failed = Host::all(&sums.failed);
    // Whoever tried to connect did more than ask.
    asked.retain(|host| !sums.failed.hosts.contains_key(&host.host));
    let listed = allowed.map(|allowed| allowed.phase(name).unwrap_or_default());
    let mut report = PhaseReport {
        name: name.to_owned(),
        records: sums.records,
        refused,
        intended,
        used,
        asked,
        failed,
        packets: Host::all(&sums.packets),
        cut: sums.cut,
        unused: Vec::new(),
        wildcards: Vec::new(),
        unlisted: Vec::new(),
        more: sums.refused.more + sums.used.more + sums.failed.more + sums.packets.more,
    };
    match listed {
        Some(entries) => {
            report.unused = unused(&report, entries);
            report.wildcards = wildcards(&report, entries);
            report.unlisted = unlisted(&report, entries);
        }
        None => report.wildcards = wildcards(&report, &of_rules(&report)),
    }
    report
}

/// A phase of the list that the log has nothing of: nothing is known of the use of its entries.
pub(super) fn unseen(name: &str) -> PhaseReport {
    report(name, &Phase::default(), None)
}

/// Whether the entry permits what was done with this host.
fn permits(entry: &policy::Entry, host: &Host) -> bool {
    names(entry, &host.host) && (host.ports.is_empty() || host.ports.iter().any(|port| entry.opens(*port)))
}

/// The hosts that were connected to, or would have been: one that was tried and not reached is needed all the same.
fn tried(report: &PhaseReport) -> impl Iterator<Item = &Host> {
    report.used.iter().chain(&report.failed).filter(|host| host.is_connected())
}

/// The hosts that an entry has carried and that no narrower entry names: those it is there for.
fn carried(report: &PhaseReport, entry: &policy::Entry, exact: &[&policy::Entry]) -> BTreeSet<String> {
    let own = |host: &&Host| {
        permits(entry, host) && !(is_wide(entry) && exact.iter().any(|exact| permits(exact, host)))
    };
    tried(report).filter(own).map(|host| host.host.clone()).collect()
}

fn exact(entries: &[Entry]) -> Vec<&policy::Entry> {
    entries.iter().map(|entry| &entry.entry).filter(|entry| !is_wide(entry)).collect()
}

fn unused(report: &PhaseReport, entries: &[Entry]) -> Vec<Unused> {
    // Of hosts that found no place in the sums nothing is known.
    if report.more > 0 {
        return Vec::new();
    }
    let exact = exact(entries);
    let nobody = entries.iter().filter(|entry| carried(report, &entry.entry, &exact).is_empty());
    nobody
        .map(|entry| Unused {
            entry: entry.entry.as_str().to_owned(),
            origin: entry.origin.clone(),
            asked: report.asked.iter().any(|host| names(&entry.entry, &host.host)),
        })
        .collect()
}

fn wildcards(report: &PhaseReport, entries: &[Entry]) -> Vec<Wildcard> {
    let exact = exact(entries);
    let wide = entries.iter().filter(|entry| is_wide(&entry.entry));
    wide.map(|entry| {
        let carried = carried(report, &entry.entry, &exact);
        // Nobody wants a list of hundreds of names for one entry.
        let few = carried.iter().filter(|_| carried.len() <= MOST_EXACT);
        Wildcard {
            entry: entry.entry.as_str().to_owned(),
            origin: entry.origin.clone(),
            exact: few.filter_map(|host| instead(&entry.entry, host)).collect(),
            carried: carried.iter().cloned().collect(),
        }
    })
    .collect()
}

/// The same entry for one host alone.
fn instead(wide: &policy::Entry, host: &str) -> Option<String> {
    let text = wide.as_str().replacen(&wide.target().to_string(), host, 1);
    policy::Entry::parse(&text).ok().map(|entry| entry.as_str().to_owned())
}

/// The entries that the log itself names.
fn of_rules(report: &PhaseReport) -> Vec<Entry> {
    let rules: BTreeSet<&String> = report.used.iter().flat_map(|host| &host.rules).collect();
    let entry =
        |rule: &String| Some(Entry { entry: policy::Entry::parse(rule).ok()?, origin: "the log".into() });
    rules.into_iter().filter_map(entry).collect()
}

/// Hosts, each with the ports that no entry opens; alone where none names it.
fn unlisted(report: &PhaseReport, entries: &[Entry]) -> Vec<String> {
    let mut found = Vec::new();
    for host in report.used.iter().chain(&report.asked) {
        let naming: Vec<&Entry> = entries.iter().filter(|entry| names(&entry.entry, &host.host)).collect();
        let is_closed = |port: &&u16| !naming.iter().any(|entry| entry.entry.opens(**port));
        let closed: Vec<String> = host.ports.iter().filter(is_closed).map(u16::to_string).collect();
        match (naming.is_empty(), closed.is_empty()) {
            (true, true) => found.push(host.host.clone()),
            (_, false) => found.push(format!("{}:{}", host.host, closed.join(","))),
            (false, true) => {}
        }
    }
    found
}
