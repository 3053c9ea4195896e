//! How many probes came to which end, and what failed first: what table and page have in common.

use crate::probe::Group;
use crate::report::judgement::ProbeVerdict;
use crate::verdict::Verdict;

/// Ends of some probes, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [usize; Verdict::ALL.len()],
}

impl Tally {
    /// Counts.
    pub fn of<'a>(probes: impl Iterator<Item = &'a ProbeVerdict>) -> Self {
        let mut tally = Self::default();
        for probe in probes {
            if let Some(count) = tally.counts.get_mut(place(probe.verdict)) {
                *count += 1;
            }
        }
        tally
    }

    /// How many came to this end.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.counts.get(place(verdict)).copied().unwrap_or(0)
    }

    /// How many did what they should.
    pub fn good(&self) -> usize {
        [Verdict::Allowed, Verdict::Blocked, Verdict::Rewritten]
            .map(|verdict| self.count(verdict))
            .iter()
            .sum()
    }

    /// All.
    pub fn all(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The worst of them.
    pub fn worst(&self) -> Option<Verdict> {
        Verdict::ALL.into_iter().rev().find(|verdict| self.count(*verdict) > 0)
    }
}

fn place(verdict: Verdict) -> usize {
    Verdict::ALL.iter().position(|other| *other == verdict).unwrap_or(0)
}

/// The group of a probe, by its id: also of one that this program does not know.
pub fn group(id: &str) -> Option<Group> {
    Group::ALL
        .into_iter()
        .find(|group| id.strip_prefix(group.word()).is_some_and(|rest| rest.starts_with('-')))
}

/// The same finding in several stages.
#[derive(Debug)]
pub struct Finding<'a> {
    /// One of them.
    pub probe: &'a ProbeVerdict,
    /// Where: phase and level.
    pub places: Vec<String>,
}

/// What keeps a report from passing: the worst first, each probe once for each end.
pub fn findings(probes: &[ProbeVerdict]) -> Vec<Finding<'_>> {
    let mut findings: Vec<Finding<'_>> = Vec::new();
    for probe in probes.iter().filter(|probe| probe.counts_against()) {
        let place = format!("{}/{}", probe.phase, probe.level);
        let same =
            |known: &&mut Finding<'_>| known.probe.id == probe.id && known.probe.verdict == probe.verdict;
        match findings.iter_mut().find(same) {
            Some(known) => known.places.push(place),
            None => findings.push(Finding { probe, places: vec![place] }),
        }
    }
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.probe.verdict));
    findings
}

/// What to do about it.
pub fn remedy(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Leak => "don't score what was run like this",
        Verdict::Suspect => "find out whether it is one; --waive FILE names those that were looked into",
        Verdict::Refused => {
            "the policy permits it: see that the policy in force is the one the canary was told of"
        }
        Verdict::Inconclusive => {
            "it has to work where nothing is in its way: see that the witness and the baseline are up, then run it again"
        }
        _ => "nothing",
    }
}
