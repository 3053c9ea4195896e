//! A network device that comes later: rules that name a device do not apply to it.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::engine::Event;
use crate::probe::{BOTH, Group, Moment, Need, Probe};
use crate::seen::Seen;
use crate::surroundings::Surroundings;
use crate::trial::{Attempt, Trial, Want};

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "life-netns-attach-second",
    group: Group::Life,
    leak: "a second network that is attached later: its device is not in the rules, its route is another",
    how: "devices are listed in both phases",
    expected: "the same in both",
    sources: &["https://docs.docker.com/reference/cli/docker/network/connect/"],
    needs: &[Need::Switches],
    moment: Moment::Switch,
    levels: BOTH,
    within: Duration::from_secs(15),
    run,
}];

fn run(trial: &mut Trial<'_>) {
    let before = trial.around().devices.clone();
    let switched = trial.until(Event::Switched);
    trial.attempt(Attempt::new("a device that was not there before", "/proc/net/dev", Want::Absent, |_| {
        match switched {
            true => compared(&before, &Surroundings::look().devices),
            false => Seen::failed("the phase was never switched"),
        }
    }));
}

fn compared(before: &[String], now: &[String]) -> Seen {
    // Loopback is always there; a list without it was not read.
    if !before.iter().any(|device| device == "lo") || !now.iter().any(|device| device == "lo") {
        return Seen::failed("devices can't be listed");
    }
    let before: BTreeSet<&String> = before.iter().collect();
    let new: Vec<&str> = now.iter().filter(|device| !before.contains(device)).map(String::as_str).collect();
    if new.is_empty() { Seen::NotFound } else { Seen::found(new.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_device_is_noticed() {
        let devices = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(compared(&devices(&["lo", "eth0"]), &devices(&["eth0", "lo"])), Seen::NotFound);
        assert_eq!(compared(&devices(&["lo"]), &devices(&["lo", "eth1"])), Seen::found("eth1"));
        assert!(matches!(compared(&devices(&["lo"]), &[]), Seen::Failed { .. }));
    }
}
