//! A sound sidecar with one thing changed, and who must find it.

use std::collections::BTreeSet;

use closedbook_canary::report::Judgement;
use closedbook_canary::verdict::Verdict;
use serde_json::{Value, json};

use crate::rig::{self, baseline, judge, stages};
use crate::support::{Mode, modes, say};

/// A sidecar that leaks in one way.
pub(crate) struct Hole {
    name: &'static str,
    job: Value,
    also: BTreeSet<&'static str>,
}

impl Hole {
    /// The sound sidecar.
    pub(crate) fn named(name: &'static str) -> Self {
        let moments = stages(&["switch", "phase", "crash"]);
        Self { name, job: json!({"stages": moments}), also: BTreeSet::new() }
    }

    /// With this changed in its rules (programs/rules.py).
    pub(crate) fn rules(self, knobs: Value) -> Self {
        self.with("rules", knobs)
    }

    /// With this changed in its proxy (programs/proxy.py); null for none.
    pub(crate) fn proxy(self, knobs: Value) -> Self {
        self.with("proxy", knobs)
    }

    /// With anything else changed in the rig's job (programs/rig.py).
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.job[key] = value;
        self
    }

    /// A container whose root has CAP_NET_RAW, as Docker's has.
    pub(crate) fn with_raw_sockets(self) -> Self {
        self.with("capabilities", json!(["net_raw"]))
    }

    /// Probes that find it as well on some kernels, or in some runs, and may.
    pub(crate) fn which_may_be_found_by(mut self, probes: &[&'static str]) -> Self {
        self.also.extend(probes);
        self
    }

    /// Fails the test unless exactly these probes find it.
    #[track_caller]
    pub(crate) fn is_found_by(&self, probes: &[&str]) {
        let judgement = self.judgement(modes()[0]);
        let found = failed(&judgement);
        let missed: Vec<_> = probes.iter().filter(|id| !found.contains(**id)).collect();
        let expected = |id: &str| probes.contains(&id) || self.also.contains(id);
        let surprises: Vec<_> = found.iter().filter(|id| !expected(id)).collect();
        let reasons = judgement.reasons.join("\n");
        assert!(
            missed.is_empty() && surprises.is_empty(),
            "{}: missed by {missed:?}, and found by {surprises:?}:\n{reasons}",
            self.name
        );
    }

    /// What the canary says of it.
    pub(crate) fn judgement(&self, mode: Mode) -> Judgement {
        let open = baseline(mode);
        let sealed = rig::run(mode, &self.job);
        rig::keep(self.name, &sealed);
        let judgement = judge(open, &sealed);
        say(&format!("{}: {} ({} s)", self.name, judgement.overall.word(), sealed.times["all"]));
        judgement
    }
}

/// Probes that found a way out at any level, or can't exclude one.
pub(crate) fn failed(judgement: &Judgement) -> BTreeSet<String> {
    let leaks = |verdict| matches!(verdict, Verdict::Leak | Verdict::Suspect);
    judgement.probes.iter().filter(|probe| leaks(probe.verdict)).map(|probe| probe.id.clone()).collect()
}
