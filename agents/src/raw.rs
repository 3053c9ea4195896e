//! The table as it is written: a strict schema, nothing checked beyond types and keys.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::host::Host;
use crate::row::{AuthMode, EffortLevel};
use crate::switch::{Runs, Switch};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    pub(crate) schema: u32,
    pub(crate) version: u32,
    pub(crate) date: String,
    pub(crate) judge: String,
    #[serde(default)]
    pub(crate) sources: BTreeMap<String, Source>,
    pub(crate) providers: BTreeMap<String, Provider>,
    pub(crate) agents: BTreeMap<String, Agent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    pub(crate) title: String,
    pub(crate) date: String,
    pub(crate) link: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Provider {
    pub(crate) title: String,
    pub(crate) key: String,
    pub(crate) hosts: Vec<Host>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    #[serde(default)]
    pub(crate) sources: Vec<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Status {
    Supported,
    Conditional,
    Refused,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    pub(crate) title: String,
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
    pub(crate) condition: Option<Condition>,
    pub(crate) program: Option<String>,
    pub(crate) package: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) preinstalled: Option<bool>,
    #[serde(default)]
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) auth: Option<BTreeMap<AuthMode, Auth>>,
    #[serde(default)]
    pub(crate) setup: Vec<Needed>,
    #[serde(default)]
    pub(crate) optional: Vec<Needed>,
    pub(crate) effort: Option<Effort>,
    #[serde(default)]
    pub(crate) tools: Vec<Tool>,
    #[serde(default)]
    pub(crate) quiet: Vec<Quiet>,
    #[serde(default)]
    pub(crate) config: Vec<String>,
    #[serde(default)]
    pub(crate) transcripts: Vec<String>,
    #[serde(default)]
    pub(crate) events: Vec<String>,
    pub(crate) probe: Option<Probe>,
    #[serde(default)]
    pub(crate) disagreements: Vec<Disagreement>,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    #[serde(default)]
    pub(crate) sources: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Condition {
    pub(crate) text: String,
    pub(crate) check: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Auth {
    pub(crate) providers: Vec<String>,
    pub(crate) hosts: Option<Vec<Host>>,
    pub(crate) login: Option<String>,
    pub(crate) token: Option<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) verified: bool,
    pub(crate) note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Needed {
    pub(crate) host: Host,
    #[serde(rename = "for")]
    pub(crate) purpose: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Effort {
    pub(crate) how: String,
    pub(crate) levels: Vec<EffortLevel>,
    pub(crate) note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) runs: Runs,
    pub(crate) does: String,
    pub(crate) switches: Vec<Switch>,
    pub(crate) verified: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Quiet {
    #[serde(rename = "does")]
    pub(crate) does: String,
    pub(crate) switch: Switch,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    pub(crate) args: Vec<String>,
    pub(crate) provider: String,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) files: Vec<ProbeFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProbeFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Disagreement {
    pub(crate) about: String,
    pub(crate) says: BTreeMap<String, String>,
    pub(crate) row: String,
}
