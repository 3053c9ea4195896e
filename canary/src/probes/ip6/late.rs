//! IPv6 that comes later than the rules.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use crate::nonce::Nonce;
use crate::probe::{BOTH, Group, Moment, Need, Probe, USUAL};
use crate::seen::Seen;
use crate::targets::Foreign;
use crate::trial::{Attempt, Trial, Want};
use crate::wire::tcp;

const SWITCH: &str = "/proc/sys/net/ipv6/conf/all/disable_ipv6";

pub(super) const PROBES: &[Probe] = &[Probe {
    id: "ip6-late-enable",
    group: Group::Ip6,
    leak: "IPv6 that was off when the rules were made, and is switched on afterwards",
    how: "if the namespace has IPv6 switched off, switch it on; then a nonce to the witness's IPv6 address",
    expected: "it can't be switched on, or is refused as well; nothing arrives",
    sources: &["CVE-2024-32473", "CVE-2020-13401"],
    needs: &[Need::Ipv6Kernel],
    moment: Moment::Phase,
    levels: BOTH,
    within: USUAL,
    run: late,
}];

fn late(trial: &mut Trial<'_>) {
    let foreign = trial.targets().foreign_v6();
    let send = move |nonce: &Nonce| switched_on(foreign, nonce);
    let to = foreign.port(8443);
    trial.attempt(Attempt::new("switched on, then TCP", to, Want::Stopped, send).nowhere(foreign.nowhere));
}

fn switched_on(foreign: Foreign, nonce: &Nonce) -> Seen {
    let is_off = fs::read_to_string(SWITCH).is_ok_and(|value| value.trim() == "1");
    if is_off {
        let written = OpenOptions::new().write(true).open(SWITCH).and_then(|mut file| file.write_all(b"0"));
        if let Err(error) = written {
            return Seen::of_error("write(disable_ipv6)", &error);
        }
    }
    let seen = tcp::exchange(foreign.port(8443), format!("{nonce}\r\n").as_bytes(), nonce);
    if is_off {
        // As it was. If that fails, the namespace has IPv6, which the next probes will find.
        let _ = fs::write(SWITCH, "1");
    }
    seen
}
