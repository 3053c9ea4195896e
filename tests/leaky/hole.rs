//! A sound sidecar with one thing changed, and who must find it.

use std::collections::BTreeSet;

use closedbook_canary::report::Judgement;
use closedbook_canary::verdict::Verdict;
use serde_json::{Value, json};

use crate::rig::{self, LEVELS, baseline, judge, stages};
use crate::support::{Mode, modes, say};

/// A sidecar that leaks in one way.
pub(crate) struct Hole {
    name: &'static str,
    job: Value,
    moments: &'static [&'static str],
    levels: &'static [&'static str],
    also: Vec<&'static str>,
}

impl Hole {
    /// The sound sidecar, in the agent's phase, tried by the agent's user: what is wrong with a rule or a proxy is wrong for
    /// root as well.
    pub(crate) fn named(name: &'static str) -> Self {
        Self { name, job: json!({}), moments: &["phase"], levels: &["agent"], also: Vec::new() }
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

    /// Tried from the setup phase on, across the switch to the agent's, and after the proxy's death.
    pub(crate) fn through_its_life(self) -> Self {
        Self { moments: &["switch", "phase", "crash"], ..self }
    }

    /// Tried by root too.
    pub(crate) fn by_root_too(self) -> Self {
        Self { levels: &LEVELS, ..self }
    }

    /// A container whose root has CAP_NET_RAW, as Docker's has. That alone is a way past every rule of nftables, by AF_XDP,
    /// which one probe knows.
    pub(crate) fn with_raw_sockets(self) -> Self {
        self.with("capabilities", json!(["net_raw"]))
            .by_root_too()
            .which_may_be_found_by(&["priv-af-vsock-etc"])
    }

    /// Probes that are about other things, and go through this hole too; whole groups, where it ends with a hyphen.
    pub(crate) fn which_may_be_found_by(mut self, probes: &[&'static str]) -> Self {
        self.also.extend(probes);
        self
    }

    /// Fails the test unless these probes find it, and no other. On a machine that is busy with the holes beside, time runs out for
    /// one or the other: what differs is tried once more, and what differs twice is no accident.
    #[track_caller]
    pub(crate) fn is_found_by(&self, probes: &[&str]) {
        let first = self.judgement(modes()[0]);
        if self.differs(&first, probes).is_empty() {
            return;
        }
        let second = self.judgement(modes()[0]);
        let twice = &self.differs(&first, probes) & &self.differs(&second, probes);
        let reasons = second.reasons.join("\n");
        assert!(twice.is_empty(), "{}: {twice:?}:\n{reasons}", self.name);
    }

    /// Probes that missed it, and probes that found it and should not have.
    fn differs(&self, judgement: &Judgement, probes: &[&str]) -> BTreeSet<String> {
        let found = failed(judgement);
        let missed = probes.iter().filter(|id| !found.contains(**id)).map(|id| format!("missed by {id}"));
        let may =
            |id: &str| self.also.iter().any(|one| *one == id || one.ends_with('-') && id.starts_with(one));
        let surprises = found.iter().filter(|id| !probes.contains(&id.as_str()) && !may(id));
        missed.chain(surprises.map(|id| format!("found by {id}"))).collect()
    }

    /// What the canary says of it.
    pub(crate) fn judgement(&self, mode: Mode) -> Judgement {
        let open = baseline(mode);
        let mut job = self.job.clone();
        job["stages"] = stages(self.moments, self.levels);
        let sealed = rig::run(mode, &job);
        rig::keep(self.name, &sealed);
        let judgement = judge(open, &sealed);
        let found = failed(&judgement).len();
        say(&format!(
            "{}: {}, {found} probes found a way out ({} s)",
            self.name,
            judgement.overall.word(),
            sealed.times["all"]
        ));
        judgement
    }
}

/// Probes that found a way out at any level, or can't exclude one.
pub(crate) fn failed(judgement: &Judgement) -> BTreeSet<String> {
    let leaks = |verdict| matches!(verdict, Verdict::Leak | Verdict::Suspect);
    judgement.probes.iter().filter(|probe| leaks(probe.verdict)).map(|probe| probe.id.clone()).collect()
}
