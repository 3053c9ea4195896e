//! What a trial says it was run with. Only files that the trial's own container can't write are asked.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::job::json;

/// What counts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    /// The digest of the policy.
    #[serde(default)]
    pub policy: Option<String>,
    /// The sidecar: its version, or its image's digest.
    #[serde(default)]
    pub sidecar: Option<String>,
    /// The digest of the task's image.
    #[serde(default)]
    pub image: Option<String>,
}

/// The file in which whoever starts a trial writes it down.
const FILE: &str = "closedbook.json";
/// The decision log, which names the policy in every line.
const LOGS: [&str; 2] = ["egress.jsonl", "closedbook/egress.jsonl"];
/// Longer than any line of the log.
const LONGEST_LINE: u64 = 1 << 20;

impl Stated {
    /// By a trial's folder. `Err`: its files contradict each other.
    pub(super) fn of_trial(folder: &Path) -> Result<Self, String> {
        let mut stated = Self::of_file(&folder.join(FILE))?;
        for log in LOGS {
            let policies = policies(&folder.join(log)).map_err(|why| format!("{log}: {why}"))?;
            for policy in policies {
                match &stated.policy {
                    Some(known) if *known != policy => {
                        return Err(format!(
                            "{log} has decisions of policy {policy}, and the trial's is {known}"
                        ));
                    }
                    _ => stated.policy = Some(policy),
                }
            }
        }
        Ok(stated)
    }

    /// By a job's folder: TrialDesignBench writes down the image.
    pub(super) fn of_job(folder: &Path) -> Result<Self, String> {
        let stated = Self::of_file(&folder.join(FILE))?;
        let image = || {
            let manifest = json(&folder.join("tdb-run.json")).ok()?;
            manifest.get("image_digest").and_then(Value::as_str).map(str::to_owned)
        };
        Ok(Self { image: stated.image.clone().or_else(image), ..stated })
    }

    fn of_file(path: &Path) -> Result<Self, String> {
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => return Ok(Self::default()),
            Err(error) => return Err(format!("{FILE} can't be looked at: {error}")),
        }
        serde_json::from_value(json(path)?).map_err(|error| format!("{FILE}: {error}"))
    }

    /// With what others say where this says nothing.
    pub(super) fn or(&self, other: &Self) -> Self {
        let or = |own: &Option<String>, other: &Option<String>| own.clone().or_else(|| other.clone());
        Self {
            policy: or(&self.policy, &other.policy),
            sidecar: or(&self.sidecar, &other.sidecar),
            image: or(&self.image, &other.image),
        }
    }
}

/// Every policy that a log speaks of. One whose lines can't be read speaks of none that can be trusted.
fn policies(path: &Path) -> Result<BTreeSet<String>, String> {
    let mut policies = BTreeSet::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(policies),
        Err(error) => return Err(format!("can't be read: {error}")),
    };
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if read.map_err(|error| error.to_string())? == 0 {
            break;
        }
        let record: Value =
            serde_json::from_slice(&line).map_err(|error| format!("line {number}: {error}"))?;
        match record.get("policy").and_then(Value::as_str) {
            Some(policy) => policies.insert(policy.to_owned()),
            None => return Err(format!("line {number} names no policy")),
        };
    }
    Ok(policies)
}
