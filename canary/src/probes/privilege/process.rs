//! The sidecar's process: if it can be seen and signalled, it can be stopped, traced and read.

use nix::sys::signal::kill;
use nix::unistd::Pid;

use crate::probe::{BOTH, Group, Moment, Probe, USUAL};
use crate::seen::Seen;
use crate::surroundings::processes::{Process, others, processes};
use crate::trial::{Attempt, Trial, Want};

/// Programs that filter traffic, as the kernel names their processes.
const SIDECARS: [&str; 24] = [
    "closedbook",
    "dnsmasq",
    "envoy",
    "gost",
    "haproxy",
    "linkerd2-proxy",
    "mitmdump",
    "mitmproxy",
    "mitmweb",
    "network-policy",
    "nginx",
    "pilot-agent",
    "privoxy",
    "redsocks",
    "sing-box",
    "smokescreen",
    "sniproxy",
    "squid",
    "tinyproxy",
    "trafficserver",
    "unbound",
    "v2ray",
    "wireproxy",
    "xray",
];

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "priv-ptrace-proxy",
    group: Group::Priv,
    leak: "a sidecar in the same pid namespace: it can be killed, traced, and its memory and files read",
    how: "processes are listed; a known filter that is not above this process is asked whether it could be signalled",
    expected: "none is visible, or none may be signalled",
    sources: &["ptrace(2)", "https://docs.docker.com/reference/compose-file/services/#pid"],
    needs: &[],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run,
}];

fn run(trial: &mut Trial<'_>) {
    trial.attempt(Attempt::new("the sidecar's process", "/proc", Want::Absent, |_| {
        let own = nix::unistd::getpid().as_raw();
        let all = match processes() {
            Ok(all) if all.iter().any(|process| process.pid == own) => all,
            Ok(_) => return Seen::failed("/proc does not show this process"),
            Err(error) => return Seen::failed(format!("/proc can't be read: {error}")),
        };
        let mut refused = None;
        for process in others(all, own).iter().filter(|process| is_sidecar(process)) {
            // Signal 0 is none: it asks for the right (kill(2)).
            match kill(Pid::from_raw(process.pid), None) {
                Ok(()) => {
                    return Seen::found(format!(
                        "{} as process {} can be signalled",
                        process.name, process.pid
                    ));
                }
                Err(errno) => refused = Some(errno),
            }
        }
        match refused {
            Some(errno) => Seen::of_error("kill", &errno.into()),
            None => Seen::NotFound,
        }
    }));
}

/// A canary may be a part of the program that it tries: that is no sidecar.
fn is_sidecar(process: &Process) -> bool {
    let is_canary =
        process.words.iter().skip(1).any(|word| ["canary", "worker", "helper"].contains(&word.as_str()));
    !is_canary && SIDECARS.contains(&process.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_told_from_the_canary_and_from_others() {
        let process = |name: &str, words: &[&str]| Process {
            pid: 7,
            parent: 1,
            name: name.to_owned(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        assert!(is_sidecar(&process("gost", &["gost", "-C", "/etc/gost.yaml"])));
        assert!(is_sidecar(&process("closedbook", &["closedbook", "sidecar", "outer"])));
        assert!(!is_sidecar(&process("closedbook", &["closedbook", "canary", "worker"])));
        assert!(!is_sidecar(&process("python3", &["python3", "gost"])));
    }
}
