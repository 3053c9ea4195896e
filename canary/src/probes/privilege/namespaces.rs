//! Other network namespaces: a new one, and those that are there already.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::WayOut;
use crate::helper::{Environment, Helper, Step};
use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::series::Series;

/// Where namespaces are kept by name.
const KEPT: [&str; 3] = ["/run/netns", "/run/docker/netns", "/var/run/netns"];
/// Namespaces that are tried.
const MOST: usize = 16;

pub(super) const PROBES: &[Probe] = &[
    Probe {
        id: "priv-new-netns-userns",
        group: Group::Priv,
        leak: "a network namespace of one's own, to which the filter's rules do not apply",
        how: "a child makes a user and a network namespace, enters them, and tries a request and a datagram",
        expected: "it can't make them, or nothing leads out of them",
        sources: &[
            "https://github.com/seznam/jailoc/issues/143",
            "https://github.com/github/copilot-cli/issues/4853",
        ],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: new,
    },
    Probe {
        id: "priv-host-netns",
        group: Group::Priv,
        leak: "another network namespace that can be entered: the host's, through /proc or a file that stands for it",
        how: "a child enters each one that can be seen and is not its own, and tries a request and a datagram",
        expected: "none can be seen, or none can be entered",
        sources: &["https://github.com/moby/moby/issues/41888", "setns(2)"],
        needs: &[],
        moment: Moment::Phase,
        levels: BOTH,
        within: USUAL,
        run: others,
    },
];

fn new(trial: &mut Trial<'_>) {
    let way = WayOut::of(trial.targets());
    trial.attempt(Attempt::new("from new namespaces", way.web, Want::Absent, |nonce| {
        from_there(&Step::NewNamespaces, &way, nonce).led_nowhere()
    }));
}

fn others(trial: &mut Trial<'_>) {
    let way = WayOut::of(trial.targets());
    trial.attempt(Attempt::new("from other namespaces", way.web, Want::Absent, |nonce| {
        let Ok(own) = fs::read_link("/proc/self/ns/net") else {
            return Seen::failed("the own namespace can't be told: /proc/self/ns/net");
        };
        let mut series = Series::new();
        series.go_on(|| Seen::NotFound);
        for file in visible(&own) {
            let go_on = series.go_on(|| match from_there(&Step::EnterNetwork(file.clone()), &way, nonce) {
                seen @ (Seen::Proof { .. } | Seen::Denied { .. }) => seen,
                // A name that is kept, and no namespace any more (EINVAL), or a process that has gone.
                Seen::Failed { why } if why.starts_with("setns") => Seen::NotFound,
                seen => Seen::found(format!("{} was entered, and there: {seen}", file.display())),
            });
            if !go_on {
                break;
            }
        }
        series.seen()
    }));
}

/// A child goes there, so that this process stays where it is.
fn from_there(there: &Step, way: &WayOut, nonce: &Nonce) -> Seen {
    let attempt = || -> Result<Seen, Seen> {
        let mut helper = Helper::start(Environment::Same)?;
        helper.enter(there)?;
        let mut series = Series::new();
        if series.go_on(|| helper.attempt(&Step::Ask(way.web, way.name.clone(), nonce.clone()))) {
            series.go_on(|| helper.attempt(&Step::Send(way.datagram, nonce.clone())));
        }
        Ok(series.seen())
    };
    attempt().unwrap_or_else(|seen| seen)
}

/// A file for each namespace that is not `own`. One that may not even be told apart is tried: entering it decides.
fn visible(own: &Path) -> Vec<PathBuf> {
    let mut known = BTreeSet::from([own.to_owned()]);
    let listed =
        |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let of_processes = listed("/proc").map(|process| process.join("ns/net"));
    let mut files: Vec<PathBuf> = of_processes
        .filter(|file| match fs::read_link(file) {
            Ok(namespace) => known.insert(namespace),
            Err(_) => false,
        })
        .collect();
    files.push("/proc/1/ns/net".into());
    files.extend(KEPT.iter().flat_map(|folder| listed(folder)));
    let is_own = |file: &PathBuf| fs::read_link(file).is_ok_and(|namespace| namespace == own);
    files.retain(|file| !is_own(file));
    files.truncate(MOST);
    files
}
