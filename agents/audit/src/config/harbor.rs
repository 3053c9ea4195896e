//! What Harbor starts agents with: from its job or trial file to starts that can be audited.
//!
//! Read in Harbor 0.25's adapters. Each writes some files in the container and passes some flags and variables; the files
//! are laid over the container's own, and what an adapter overwrites is gone. Two of its ways matter most: Claude Code
//! runs with another settings folder, so that `~/.claude/settings.json` does not count, and Gemini CLI's settings file is
//! written anew.

use std::collections::BTreeMap;

use closedbook_document::{Format, Node};

use super::{Document, Launch, Origin, Remark};
use crate::Malformed;

mod adapter;
mod overlay;
mod write;

pub use overlay::Overlay;

/// An agent of a job.
#[derive(Debug, Clone)]
pub struct JobAgent {
    /// Where it stands: `agents[0]`.
    pub field: String,
    /// The row's name; `None` if its adapter is not known here.
    pub agent: Option<String>,
    /// What the job calls it.
    pub called: String,
    /// The model, as the job names it: `anthropic/claude-opus-5`.
    pub model: Option<String>,
    /// The CLI's version, where the job says it.
    pub version: Option<String>,
    /// The arguments that Harbor passes; `None` where the adapter is not followed.
    pub argv: Option<Vec<(String, Origin)>>,
    /// The variables that Harbor and the job set.
    pub env: BTreeMap<String, (String, Origin)>,
    /// What Harbor writes in the container.
    pub written: Vec<Written>,
    /// What a person should know.
    pub remarks: Vec<Remark>,
}

/// Something that Harbor writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// A file; a path that begins with `~/` lies in the agent's home.
    File(String, Vec<u8>),
    /// A file whose contents are not known, and why.
    Unknown(String, String),
    /// A folder's contents, copied from another.
    Copied(String, String),
}

impl JobAgent {
    /// The start of this agent over these files; `launch` holds what else is known.
    pub fn launch<'a>(&self, launch: Launch<'a>, files: &'a Overlay<'_>) -> Launch<'a> {
        let mut env = launch.env;
        env.extend(self.env.clone());
        Launch {
            argv: launch.argv.or_else(|| self.argv.clone()),
            env,
            version: launch.version.or_else(|| self.version.clone()),
            files,
            ..launch
        }
    }
}

/// Reads a job's `job.yaml` or `config.json`, or a trial's `config.json` or `result.json`.
pub fn read(path: &str, source: &[u8]) -> Result<Vec<JobAgent>, Malformed> {
    let format = if path.ends_with(".json") { Format::Json } else { Format::Yaml };
    let root = format
        .read_bytes(source)
        .map_err(|fault| Malformed::at(path, source, fault.at, format!("no {}: {fault}", format.title())))?;
    let document = Document::new(path, root, source.to_vec());
    let root = &document.root;
    let version = root.at_path(&["agent_info", "version"]).and_then(Node::text);
    let trial = root.at_path(&["config", "agent"]).map(|node| ("config.agent", node));
    let trial = trial.or_else(|| root.get("agent").map(|node| ("agent", node)));
    let listed = match (root.get("agents"), trial) {
        (Some(agents), _) if !agents.items().is_empty() => {
            let each = agents.items().iter().enumerate();
            each.map(|(number, node)| (format!("agents[{number}]"), node)).collect()
        }
        (_, Some((field, node))) => vec![(field.to_owned(), node)],
        _ => {
            let reason = "there is no `agents` list in it, and no trial's `agent`";
            return Err(Malformed::at(path, source, root.at, reason));
        }
    };
    let mut agents = Vec::new();
    for (field, node) in listed {
        if node.get("name").is_none() && node.get("import_path").is_none() {
            let reason = format!("{field} needs a `name` or an `import_path`");
            return Err(Malformed::at(path, source, node.at, reason));
        }
        let mut agent = adapter::agent(&document, field, node);
        agent.version = agent.version.or_else(|| version.map(str::to_owned));
        agents.push(agent);
    }
    Ok(agents)
}

#[cfg(test)]
mod tests;
