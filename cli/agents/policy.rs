//! `closedbook agents policy`.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use closedbook_agents::{Choice, Table};
use serde_json::json;

use super::job;
use crate::exit::Failure;
use crate::flags::agent::{self, AgentFlags};
use crate::output::{print, print_json};

#[derive(Args)]
pub(super) struct PolicyOf {
    /// The agent's name; several give a policy each, never one for all
    #[arg(value_name = "NAME", required_unless_present = "job")]
    agent_name: Vec<String>,
    #[command(flatten)]
    flags: AgentFlags,
    /// Take agents, versions, providers and logins from a Harbor job's job.yaml or config.json: a policy for each
    #[arg(long, value_name = "FILE", conflicts_with = "agent_name")]
    job: Option<PathBuf>,
    /// Write NAME.toml for each agent into this folder, instead of printing
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Print JSON: policies with their digests and warnings
    #[arg(long)]
    json: bool,
}

impl PolicyOf {
    pub(super) fn run(self) -> Result<ExitCode, Failure> {
        let table = self.flags.table.load()?;
        let choices = self.choices(&table)?;
        if let Some(folder) = &self.into {
            for (name, choice) in &choices {
                write(folder, name, &self.document(choice)?)?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        if self.json {
            let policies = choices.iter().map(|(name, choice)| Ok((name.clone(), self.json(choice)?)));
            let policies = policies.collect::<Result<BTreeMap<String, serde_json::Value>, Failure>>()?;
            print_json(
                &json!({ "schema": 1, "table": table.version(), "digest": table.digest(), "policies": policies }),
            )?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut all = choices.iter();
        match (all.next(), all.next()) {
            (Some((_, choice)), None) => {
                agent::warnings(choice).iter().for_each(|warning| eprintln!("closedbook: {warning}"));
                print(&self.document(choice)?)?;
                Ok(ExitCode::SUCCESS)
            }
            _ => Err(Failure::usage("several agents have several policies, which one document can't hold")
                .remedy("name a folder for them with --into FOLDER, or add --json")),
        }
    }

    fn choices<'a>(&self, table: &'a Table) -> Result<BTreeMap<String, Choice<'a>>, Failure> {
        let refused = |refused: closedbook_agents::Refused| Failure::refused(refused.to_string());
        if let Some(file) = &self.job {
            return job::choices(file, table);
        }
        let choose = |name: &String| Ok((name.clone(), self.flags.choose(table, name).map_err(refused)?));
        self.agent_name.iter().map(choose).collect()
    }

    fn document(&self, choice: &Choice<'_>) -> Result<String, Failure> {
        choice.document(self.flags.judge()).map_err(|refused| Failure::refused(refused.to_string()))
    }

    fn json(&self, choice: &Choice<'_>) -> Result<serde_json::Value, Failure> {
        let policy = agent::policy(choice, self.flags.judge())?;
        let document: serde_json::Value = serde_json::from_str(policy.to_json())
            .map_err(|error| Failure::bug(format!("the policy's own JSON: {error}")))?;
        Ok(json!({
            "agent": choice.row().name,
            "version": choice.usable().version,
            "status": choice.row().status(),
            "condition": choice.condition(),
            "provider": choice.provider().name,
            "auth": choice.auth(),
            "key": choice.provider().key,
            "policy": document,
            "digest": policy.digest(),
            "warnings": agent::warnings(choice),
        }))
    }
}

/// An existing file is not written over: somebody may have changed it by hand.
fn write(folder: &Path, name: &str, document: &str) -> Result<(), Failure> {
    let path = folder.join(format!("{name}.toml"));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .and_then(|mut file| file.write_all(document.as_bytes()));
    written.map_err(|error| Failure::usage(format!("can't write {}: {error}", path.display())))?;
    print(&format!("{}\n", path.display()))
}
