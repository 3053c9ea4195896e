//! An agent with provider and login, and the policy that follows from them.

use std::fmt::Write as _;

use closedbook_policy::{InvalidPolicy, Policy};

use crate::host::Host;
use crate::near::nearest;
use crate::refused::Refused;
use crate::row::{AuthMode, Condition, Login, Provider, Row, Standing, Usable};
use crate::table::Table;

/// What a user asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ask<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The provider. May be left out if there is only one.
    pub provider: Option<&'a str>,
    /// How to log in; `api` if nothing is said.
    pub auth: Option<AuthMode>,
    /// The CLI's version, where it is known.
    pub version: Option<&'a str>,
}

/// An agent that may be run, with a provider and a login that it has. Only [`Table::choose`] makes one.
#[derive(Debug, Clone, Copy)]
pub struct Choice<'a> {
    table: &'a Table,
    row: &'a Row,
    usable: &'a Usable,
    provider: &'a Provider,
    auth: AuthMode,
    login: &'a Login,
}

/// Whose model judges in the verifier phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Judge<'a> {
    /// The table's own.
    #[default]
    Usual,
    /// This provider's.
    Provider(&'a str),
    /// Nobody's: the verifier reaches nothing.
    Nobody,
}

impl<'a> Choice<'a> {
    pub(crate) fn of(table: &'a Table, ask: &Ask<'_>) -> Result<Self, Refused> {
        let row = row(table, ask.agent)?;
        let usable = row.usable().ok_or_else(|| refusal(table, row))?;
        if let Some(asked) = ask.version.filter(|asked| *asked != usable.version.as_str()) {
            return Err(Refused::Version {
                agent: row.name.clone(),
                asked: asked.to_owned(),
                pinned: usable.version.to_string(),
            });
        }
        let auth = ask.auth.unwrap_or(AuthMode::Api);
        let login = usable.auth.get(&auth).ok_or_else(|| Refused::Auth {
            agent: row.name.clone(),
            asked: auth,
            accepted: usable.auth.keys().map(ToString::to_string).collect(),
        })?;
        let provider = provider(table, row, auth, login, ask.provider)?;
        Ok(Self { table, row, usable, provider, auth, login })
    }

    /// The row.
    pub fn row(&self) -> &'a Row {
        self.row
    }

    /// How the agent is run.
    pub fn usable(&self) -> &'a Usable {
        self.usable
    }

    /// The provider.
    pub fn provider(&self) -> &'a Provider {
        self.provider
    }

    /// The login.
    pub fn auth(&self) -> AuthMode {
        self.auth
    }

    /// What is known of this way to log in.
    pub fn login(&self) -> &'a Login {
        self.login
    }

    /// What must hold besides, for an agent that is supported on a condition.
    pub fn condition(&self) -> Option<&'a Condition> {
        match &self.row.standing {
            Standing::Conditional { condition, .. } => Some(condition),
            Standing::Supported(_) | Standing::Refused { .. } => None,
        }
    }

    /// The hosts of the agent phase: the model's API, or the login's own hosts.
    pub fn agent_hosts(&self) -> &'a [Host] {
        self.login.hosts.as_deref().unwrap_or(&self.provider.hosts)
    }

    /// The hosts of the setup phase: those of the agent phase, and what installing needs.
    pub fn setup_hosts(&self) -> impl Iterator<Item = &'a Host> {
        let more = self.usable.setup.iter().map(|needed| &needed.host);
        let agent = self.agent_hosts();
        agent.iter().chain(more.filter(move |host| !agent.contains(host)))
    }

    /// The hosts of the verifier phase.
    pub fn verifier_hosts(&self, judge: Judge<'_>) -> Result<&'a [Host], Refused> {
        let name = match judge {
            Judge::Nobody => return Ok(&[]),
            Judge::Usual => self.table.judge(),
            Judge::Provider(name) => name,
        };
        let known = || self.table.providers().map(|provider| provider.name.as_str());
        self.table.provider(name).map(|provider| provider.hosts.as_slice()).ok_or_else(|| Refused::Judge {
            asked: name.to_owned(),
            near: nearest(name, known()).map(str::to_owned),
            accepted: known().map(str::to_owned).collect(),
        })
    }

    /// The policy of all three phases, as a document for people: every host with what it is for.
    pub fn document(&self, judge: Judge<'_>) -> Result<String, Refused> {
        let Self { table, row, usable, provider, auth, .. } = self;
        let model = match auth {
            AuthMode::Api => provider.title.clone(),
            AuthMode::Subscription => "the subscription".to_owned(),
        };
        let agent: Vec<(&Host, &str)> =
            self.agent_hosts().iter().map(|host| (host, model.as_str())).collect();
        let setup: Vec<(&Host, &str)> = self
            .setup_hosts()
            .map(|host| {
                let purpose = usable
                    .setup
                    .iter()
                    .find(|needed| needed.host == *host)
                    .map(|needed| needed.purpose.as_str());
                (host, if self.agent_hosts().contains(host) { &*model } else { purpose.unwrap_or_default() })
            })
            .collect();
        let verifier: Vec<(&Host, &str)> =
            self.verifier_hosts(judge)?.iter().map(|host| (host, "the judge's model")).collect();
        let mut text = format!(
            "# {} {}, provider {}, login {auth}. Agent table {} of {}.\n# Table digest: {}\n",
            row.title,
            usable.version,
            provider.name,
            table.version(),
            table.date(),
            table.digest(),
        );
        if let Some(condition) = self.condition() {
            let _ = writeln!(text, "# Only if: {}\n# Check: {}", condition.text, condition.check);
        }
        let _ = writeln!(text, "schema = 1\nname = \"{}\"", row.name);
        for (phase, hosts) in [("setup", setup), ("agent", agent), ("verifier", verifier)] {
            let _ = write!(text, "\n[phase.{phase}]\nallow = [");
            for (host, purpose) in &hosts {
                let _ = write!(text, "\n    \"{host}\", # {purpose}");
            }
            text += if hosts.is_empty() { "]\n" } else { "\n]\n" };
        }
        Ok(text)
    }

    /// The policy itself.
    ///
    /// # Errors
    ///
    /// The outer one if the judge is unknown. The inner one never, as long as hosts are exact names: a test holds it for
    /// every row.
    pub fn policy(&self, judge: Judge<'_>) -> Result<Result<Policy, InvalidPolicy>, Refused> {
        self.document(judge).map(|text| Policy::from_toml(&text))
    }
}

fn row<'a>(table: &'a Table, name: &str) -> Result<&'a Row, Refused> {
    table.row(name).ok_or_else(|| Refused::UnknownAgent {
        name: name.chars().take(60).collect(),
        near: nearest(name, table.rows().map(|row| row.name.as_str())).map(str::to_owned),
        known: runnable(table),
    })
}

fn refusal(table: &Table, row: &Row) -> Refused {
    let reason = match &row.standing {
        Standing::Refused { reason } => reason.clone(),
        Standing::Supported(_) | Standing::Conditional { .. } => String::new(),
    };
    Refused::Agent { name: row.name.clone(), reason, known: runnable(table) }
}

fn provider<'a>(
    table: &'a Table,
    row: &Row,
    auth: AuthMode,
    login: &Login,
    asked: Option<&str>,
) -> Result<&'a Provider, Refused> {
    let accepted = || login.providers.iter().cloned().collect::<Vec<_>>();
    let mut several = login.providers.iter();
    let name = match (asked, several.next(), several.next()) {
        (None, Some(only), None) => only.as_str(),
        (None, ..) => return Err(Refused::ProviderNeeded { agent: row.name.clone(), accepted: accepted() }),
        (Some(asked), ..) => asked,
    };
    table.provider(name).filter(|provider| login.providers.contains(&provider.name)).ok_or_else(|| {
        Refused::Provider {
            agent: row.name.clone(),
            auth,
            asked: name.chars().take(60).collect(),
            near: nearest(name, login.providers.iter().map(String::as_str)).map(str::to_owned),
            accepted: accepted(),
        }
    })
}

fn runnable(table: &Table) -> Vec<String> {
    table.rows().filter(|row| row.usable().is_some()).map(|row| row.name.clone()).collect()
}

#[cfg(test)]
mod tests;
