//! Which probes are tried, and why the others are not. Pure.

use super::Harness;
use crate::probe::{Level, Moment, Need, Probe};
use crate::surroundings::Surroundings;
use crate::targets::Targets;

/// A probe of the catalogue in this place.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The probe.
    pub probe: &'static Probe,
    /// What is missing for it; `None` if it will be tried.
    pub missing: Option<String>,
}

/// All probes of this moment and level, each with what is missing for it.
pub fn plan(
    moment: Moment,
    level: Level,
    targets: &Targets,
    around: &Surroundings,
    harness: Harness,
) -> Vec<Planned> {
    crate::catalogue()
        .filter(|probe| probe.moment == moment && probe.levels.contains(&level))
        .map(|probe| {
            let missing = probe.needs.iter().find(|need| !is_there(**need, targets, around, harness));
            Planned { probe, missing: missing.map(|need| need.missing().to_owned()) }
        })
        .collect()
}

fn is_there(need: Need, targets: &Targets, around: &Surroundings, harness: Harness) -> bool {
    match need {
        Need::PermittedTls => targets.https().is_some(),
        Need::PermittedHttp => targets.http().is_some(),
        Need::TwoPermittedHttp => targets.permitted.iter().filter(|host| host.http).count() > 1,
        Need::OwnHosts => targets.own_hosts,
        Need::Witness => targets.witness.is_some(),
        Need::WitnessZone => targets.zone().is_some(),
        Need::Ipv6 => around.ipv6_kernel && around.ipv6,
        Need::Ipv6Kernel => around.ipv6_kernel,
        Need::SetupOnlyHost => !targets.setup_only.is_empty(),
        Need::SetupOnlyHttp => !targets.setup_only_http.is_empty(),
        Need::NothingPermitted => targets.permitted.is_empty() && targets.wildcards.is_empty(),
        Need::Switches => harness.switches,
        Need::Kills => harness.kills,
        Need::Wildcard => !targets.wildcards.is_empty(),
        Need::Curl => around.curl.is_some(),
        Need::Python => around.python.is_some(),
    }
}
