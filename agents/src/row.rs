//! A row of the table, and what it is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::host::{Host, Needed};
use crate::switch::{Switch, Tool};
use crate::version::Version;

/// An agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name, which is Harbor's where Harbor has it.
    pub name: String,
    /// For people.
    pub title: String,
    /// Whether it can be run closed book, and how.
    pub standing: Standing,
    /// Where sources disagree, and what the row goes by.
    pub disagreements: Vec<Disagreement>,
    /// What else is worth knowing.
    pub notes: Vec<String>,
    /// The sources, by name.
    pub sources: Vec<String>,
}

/// Whether an agent can be run closed book.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "status")]
pub enum Standing {
    /// Its switches are known, and its transcript can be audited.
    Supported(Box<Usable>),
    /// Only if the condition holds, which a check can show.
    Conditional {
        /// The condition.
        condition: Condition,
        /// The rest.
        #[serde(flatten)]
        usable: Box<Usable>,
    },
    /// Not.
    Refused {
        /// Why.
        reason: String,
    },
}

/// What must hold before a conditional agent may be scored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The condition.
    pub text: String,
    /// The command that shows whether it holds.
    pub check: String,
}

/// How to run an agent closed book.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Usable {
    /// The program's name.
    pub program: String,
    /// The package it comes in: `npm:@openai/codex`.
    pub package: String,
    /// The one version that this row speaks of.
    pub version: Version,
    /// Whether images are expected to hold it. If not, it is installed in the setup phase.
    pub preinstalled: bool,
    /// The labels that an image must carry, where images carry any: one of them names the version.
    pub labels: BTreeMap<String, String>,
    /// The ways to log in.
    pub auth: BTreeMap<AuthMode, Login>,
    /// Hosts that installing needs: reachable in the setup phase alone.
    pub setup: Vec<Needed>,
    /// Hosts that the CLI asks for and can do without: refused, and expected in the log.
    pub optional: Vec<Needed>,
    /// How the reasoning effort is set, where the harness can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
    /// Its web tools.
    pub tools: Vec<Tool>,
    /// Settings that keep it from calling home.
    pub quiet: Vec<Quiet>,
    /// Files that it reads its settings from, also those of the work directory.
    pub config: Vec<String>,
    /// Files that tell what it did.
    pub transcripts: Vec<String>,
    /// Names in its transcript that prove that a web tool ran.
    pub events: Vec<String>,
    /// How to start it for a probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// A setting, and what it does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quiet {
    /// What it does.
    pub does: String,
    /// The setting.
    pub switch: Switch,
}

/// How an agent proves who pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthMode {
    /// With a key of the provider's API.
    Api,
    /// With the login of a subscription.
    Subscription,
}

impl AuthMode {
    /// Both.
    pub const ALL: [AuthMode; 2] = [AuthMode::Api, AuthMode::Subscription];

    /// The word in tables and flags.
    pub fn word(self) -> &'static str {
        match self {
            AuthMode::Api => "api",
            AuthMode::Subscription => "subscription",
        }
    }
}

impl fmt::Display for AuthMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One way to log in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Login {
    /// Whose models can be used so.
    pub providers: BTreeSet<String>,
    /// The hosts of the agent phase, where they are not the provider's API hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<Host>>,
    /// How a person logs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The variable or file that holds the login.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Variables that make a harness use it.
    pub env: BTreeMap<String, String>,
    /// Whether a run has shown that these hosts are enough.
    pub verified: bool,
    /// What is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// How the reasoning effort is set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effort {
    /// The flag or setting.
    pub how: String,
    /// What it takes, lowest first.
    pub levels: Vec<EffortLevel>,
    /// What happens with another level, or none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A level of reasoning effort, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the words are all there is to say")]
pub enum EffortLevel {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

/// How an agent is started to see which tools it offers. `{prompt}` in an argument stands for the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// Arguments.
    pub args: Vec<String>,
    /// The provider whose protocol it speaks then.
    pub provider: String,
    /// Variables.
    pub env: BTreeMap<String, String>,
    /// Files that must be there.
    pub files: Vec<ProbeFile>,
}

/// A file of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProbeFile {
    /// Its path, below `~/`.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// A question that sources answer differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Disagreement {
    /// The question.
    pub about: String,
    /// What each source says, by its name.
    pub says: BTreeMap<String, String>,
    /// What the row goes by, and why.
    pub row: String,
}

/// Whose models an agent may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Provider {
    /// Its name, which is the part of a model's name before the slash.
    pub name: String,
    /// For people.
    pub title: String,
    /// The variable that holds the key of its API.
    pub key: String,
    /// The hosts of its API.
    pub hosts: Vec<Host>,
    /// What is worth knowing.
    pub notes: Vec<String>,
    /// The sources, by name.
    pub sources: Vec<String>,
}

impl Row {
    /// How to run it, unless it is refused.
    pub fn usable(&self) -> Option<&Usable> {
        match &self.standing {
            Standing::Supported(usable) | Standing::Conditional { usable, .. } => Some(usable),
            Standing::Refused { .. } => None,
        }
    }

    /// `supported`, `conditional`, `refused`.
    pub fn status(&self) -> &'static str {
        match self.standing {
            Standing::Supported(_) => "supported",
            Standing::Conditional { .. } => "conditional",
            Standing::Refused { .. } => "refused",
        }
    }
}
