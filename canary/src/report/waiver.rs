//! Suspicions that somebody has looked into.

use serde::{Deserialize, Serialize};

use super::judgement::ProbeVerdict;
use crate::probe::Level;

/// Waivers, as a file has them: TOML (`[[waive]]`) or JSON (`{"waive": [...]}`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waivers {
    /// Each of them.
    #[serde(default)]
    pub waive: Vec<Waiver>,
}

/// Why a probe's suspicion does not count. A leak always counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waiver {
    /// The probe.
    pub id: String,
    /// In this phase alone.
    #[serde(default)]
    pub phase: Option<String>,
    /// At this level alone.
    #[serde(default)]
    pub level: Option<Level>,
    /// Why.
    pub reason: String,
}

impl Waivers {
    /// From a file's text.
    pub fn from_text(text: &str) -> Result<Self, String> {
        let waivers: Self = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| error.to_string())?
        } else {
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?
        };
        for waiver in &waivers.waive {
            if waiver.reason.trim().is_empty() {
                return Err(format!("the waiver of {} gives no reason", waiver.id));
            }
            if crate::find(&waiver.id).is_none() {
                return Err(format!("there is no probe {:?}; canary list says which there are", waiver.id));
            }
        }
        Ok(waivers)
    }

    /// The waiver for this probe.
    pub(super) fn find(&self, id: &str, phase: &str, level: Level) -> Option<&Waiver> {
        self.waive.iter().find(|waiver| waiver.covers(id, phase, level))
    }

    /// A waiver that waives nothing is a mistake, or no longer needed.
    pub(super) fn unused(&self, probes: &[ProbeVerdict]) -> Vec<String> {
        let unused = self.waive.iter().filter(|waiver| {
            let used = |probe: &ProbeVerdict| {
                probe.waived.is_some() && waiver.covers(&probe.id, &probe.phase, probe.level)
            };
            !probes.iter().any(used)
        });
        unused
            .map(|waiver| format!("the waiver of {} waives nothing: no such suspicion", waiver.id))
            .collect()
    }
}

impl Waiver {
    fn covers(&self, id: &str, phase: &str, level: Level) -> bool {
        self.id == id
            && self.phase.as_deref().is_none_or(|only| only == phase)
            && self.level.is_none_or(|only| only == level)
    }
}
