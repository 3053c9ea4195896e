//! The agents of a Harbor job, as the table knows them.

use std::collections::BTreeMap;
use std::path::Path;

use closedbook_agents::{Ask, AuthMode, Choice, Table};
use closedbook_audit::config::harbor::{self, JobAgent};

use crate::exit::Failure;
use crate::input;

/// More than any job has.
const MOST: u64 = 2 << 20;

/// A choice for each agent of the job, by the agent's name; where one stands there twice, with the provider and the login.
///
/// The provider is the part of the model's name before the slash. A login by subscription is known by the variables that make
/// a harness use it.
pub(super) fn choices<'a>(file: &Path, table: &'a Table) -> Result<BTreeMap<String, Choice<'a>>, Failure> {
    let shown = file.display().to_string();
    let bytes =
        input::bytes(file, MOST).map_err(|error| Failure::usage(format!("can't read {shown}: {error}")))?;
    let agents = harbor::read(&shown, &bytes).map_err(|malformed| Failure::usage(malformed.to_string()))?;
    let mut choices = BTreeMap::new();
    for agent in agents {
        let refused = |why: String| Failure::refused(format!("{shown}, {}: {why}", agent.field));
        let name = agent.agent.as_deref().unwrap_or(&agent.called);
        let provider = provider(&agent).map_err(refused)?;
        let ask = Ask {
            agent: name,
            provider: Some(provider),
            auth: Some(auth(table, &agent, name)),
            version: agent.version.as_deref(),
        };
        let choice = table.choose(&ask).map_err(|no| refused(no.to_string()))?;
        let mut key = name.to_owned();
        for more in [choice.provider().name.as_str(), choice.auth().word()] {
            if choices.contains_key(&key) {
                key = format!("{key}-{more}");
            }
        }
        choices.insert(key, choice);
    }
    Ok(choices)
}

fn provider(agent: &JobAgent) -> Result<&str, String> {
    let model = agent.model.as_deref().ok_or("it names no model, and the hosts depend on whose it is")?;
    let (provider, _) = model
        .split_once('/')
        .ok_or_else(|| format!("the model {model:?} does not say whose it is: write PROVIDER/MODEL"))?;
    Ok(provider)
}

fn auth(table: &Table, agent: &JobAgent, name: &str) -> AuthMode {
    let usable = table.row(name).and_then(|row| row.usable());
    let login = usable.and_then(|usable| usable.auth.get(&AuthMode::Subscription));
    let asks =
        |login: &closedbook_agents::Login| login.env.keys().any(|variable| agent.env.contains_key(variable));
    if login.is_some_and(asks) { AuthMode::Subscription } else { AuthMode::Api }
}
