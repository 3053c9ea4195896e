//! What was found.

use serde::Serialize;

use super::Origin;
use crate::Malformed;

/// What an audit of one start found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The row's name.
    pub agent: String,
    /// The version that was audited, where known.
    pub version: Option<String>,
    /// The web tools of the row, in its order.
    pub tools: Vec<ToolReport>,
    /// What else brings the web, or may.
    pub brings: Vec<Bringer>,
    /// What a person should know besides: settings without effect, misspelt ones, files that are passed over.
    pub remarks: Vec<Remark>,
    /// Input that can't be read.
    pub malformed: Vec<Malformed>,
    /// The files that were read, in order.
    pub read: Vec<String>,
}

/// One web tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolReport {
    /// Its name, as the model sees it.
    pub tool: String,
    /// Off, on, or unknown.
    pub state: State,
    /// In one sentence, why.
    pub why: String,
    /// Every setting that speaks of it, strongest first; the first that counts decides.
    pub settings: Vec<Setting>,
}

/// Whether the model is offered a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// A setting that this version is known to obey switches it off.
    Off,
    /// Nobody can tell.
    Unknown,
    /// It is offered.
    On,
}

/// One place that speaks of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// What stands there: `permissions.deny has "WebSearch"`.
    pub what: String,
    /// Where.
    pub origin: Origin,
    /// The layer's name in the CLI's own order: `managed settings`, `project settings`, `flag`.
    pub layer: &'static str,
    /// What it does.
    pub says: Says,
}

/// What a setting does to a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "says", content = "why")]
pub enum Says {
    /// It switches the tool off.
    Off,
    /// It switches the tool on, or leaves it on.
    On,
    /// A stronger setting, or the CLI's rule of combining them, makes it void.
    Overridden(String),
    /// The CLI passes over it: misspelt, wrong type, wrong place.
    Ignored(String),
    /// What it does is not known.
    Unclear(String),
}

/// Something that brings web access without being one of the row's tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Bringer {
    /// What it is.
    pub kind: Kind,
    /// What it is called.
    pub name: String,
    /// Where it is said.
    pub origin: Origin,
    /// Whether it is in effect.
    pub state: State,
    /// What it would allow, or why it does not.
    pub why: String,
}

/// What can bring web access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A server of the Model Context Protocol that is reached over the network: the CLI contacts it by itself.
    McpRemote,
    /// One that is started as a local command: it can do what its container can, and its tools are unknown.
    McpLocal,
    /// A connector or app that runs at the provider.
    Connector,
    /// A plugin or extension.
    Plugin,
    /// A command that runs at an event.
    Hook,
    /// A subagent with tools of its own.
    Subagent,
    /// A skill, custom command or recipe that brings tools.
    Skill,
    /// A provider or gateway that adds tools by itself.
    Provider,
}

/// Something a person should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// Where.
    pub origin: Origin,
    /// What.
    pub text: String,
}

/// The verdict over a whole report, worst first in the order of the exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every web tool is off and nothing else brings the web.
    Off,
    /// Something is on.
    On,
    /// Nothing is known to be on, and something is unknown.
    Unknown,
    /// Something could not be read.
    Malformed,
}

impl Report {
    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        let states =
            self.tools.iter().map(|tool| tool.state).chain(self.brings.iter().map(|bringer| bringer.state));
        match states.max() {
            _ if !self.malformed.is_empty() => Verdict::Malformed,
            Some(State::On) => Verdict::On,
            Some(State::Unknown) => Verdict::Unknown,
            Some(State::Off) | None => Verdict::Off,
        }
    }
}
