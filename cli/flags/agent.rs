//! `--agent` and what belongs to it: from the agent table to a policy.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use closedbook_agents::{Ask, AuthMode, Choice, Judge, Refused, Table};
use closedbook_policy::Policy;

use crate::exit::{Failure, chain};
use crate::input;

/// How an agent logs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Auth {
    /// With a key of the provider's API.
    Api,
    /// With the login of a subscription.
    Subscription,
}

/// Which provider, which login, which table.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AgentFlags {
    /// Whose models the agent calls [default: the only provider that it can use].
    #[arg(long, value_name = "NAME", requires = "agent_name")]
    pub(crate) provider: Option<String>,

    /// How the agent logs in [default: api].
    #[arg(long, value_enum, requires = "agent_name")]
    pub(crate) auth: Option<Auth>,

    /// The version of the agent's CLI: refused if it is not the one that the table speaks of.
    #[arg(long, value_name = "VERSION", requires = "agent_name")]
    pub(crate) agent_version: Option<String>,

    /// Whose model judges in the verifier phase: a provider, or `none` [default: the table's].
    #[arg(long, value_name = "PROVIDER", requires = "agent_name")]
    pub(crate) judge: Option<String>,

    #[command(flatten)]
    pub(crate) table: TableFlag,
}

/// Which table.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TableFlag {
    /// An agent table to use instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
}

impl TableFlag {
    /// The table.
    pub(crate) fn load(&self) -> Result<Table, Failure> {
        match &self.table {
            Some(path) => table(path),
            None => {
                Table::embedded().map_err(|fault| Failure::bug(format!("the built-in agent table: {fault}")))
            }
        }
    }
}

/// More than any table has.
const MOST: u64 = 2 << 20;

/// Reads a table from a file.
pub(crate) fn table(path: &Path) -> Result<Table, Failure> {
    let shown = path.display();
    let text = input::text(path, MOST)
        .map_err(|why| Failure::usage(format!("can't read the agent table {shown}: {why}")))?;
    Table::from_toml(&text).map_err(|invalid| {
        let faults: Vec<String> = invalid.faults().collect();
        Failure::usage(format!("the agent table {shown} can't be used:\n  {}", faults.join("\n  ")))
    })
}

impl AgentFlags {
    /// What the table says to that. The caller decides what a refusal means for its exit code.
    pub(crate) fn choose<'a>(&self, table: &'a Table, agent: &str) -> Result<Choice<'a>, Refused> {
        let auth = self.auth.map(|auth| match auth {
            Auth::Api => AuthMode::Api,
            Auth::Subscription => AuthMode::Subscription,
        });
        let (provider, version) = (self.provider.as_deref(), self.agent_version.as_deref());
        table.choose(&Ask { agent, provider, auth, version })
    }

    /// Who judges.
    pub(crate) fn judge(&self) -> Judge<'_> {
        match self.judge.as_deref() {
            None => Judge::Usual,
            Some("none") => Judge::Nobody,
            Some(name) => Judge::Provider(name),
        }
    }
}

/// The policy of a choice.
pub(crate) fn policy(choice: &Choice<'_>, judge: Judge<'_>) -> Result<Policy, Failure> {
    let made = choice.policy(judge).map_err(|refused| Failure::refused(refused.to_string()))?;
    made.map_err(|fault| Failure::bug(format!("the policy of {}: {}", choice.row().name, chain(&fault))))
}

/// What must be said with every choice: the condition, and what nobody has verified.
pub(crate) fn warnings(choice: &Choice<'_>) -> Vec<String> {
    let (name, login) = (&choice.row().name, choice.login());
    let condition = choice.condition().map(|condition| {
        format!("{name} is closed book only if {}; to check: {}", condition.text, condition.check)
    });
    let unverified = (!login.verified).then(|| {
        let note = login.note.as_deref().unwrap_or("nobody has shown that they are enough");
        format!("the hosts of {name} with login {} are not verified: {note}", choice.auth())
    });
    condition.into_iter().chain(unverified).collect()
}
