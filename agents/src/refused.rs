//! Why the table does not answer, and what it would accept.

use thiserror::Error;

use crate::row::AuthMode;

/// The table's no (G15). Each says what would be accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refused {
    /// No row has this name.
    #[error("the agent table has no agent {name:?}{}; agents that can be run: {}", hint(.near), list(.known))]
    UnknownAgent {
        /// The name.
        name: String,
        /// The name that was probably meant.
        near: Option<String>,
        /// The agents that can be run.
        known: Vec<String>,
    },
    /// The row refuses.
    #[error("{name} can't be run closed book: {reason}. Agents that can be: {}", list(.known))]
    Agent {
        /// The agent.
        name: String,
        /// Why.
        reason: String,
        /// The agents that can be run.
        known: Vec<String>,
    },
    /// Another version of the CLI.
    #[error(
        "the agent table knows {agent} {pinned}, not {asked}: another version may have other tools and obey other switches; install {pinned}, or use a table that has {asked}"
    )]
    Version {
        /// The agent.
        agent: String,
        /// The version that was named.
        asked: String,
        /// The version of the row.
        pinned: String,
    },
    /// A login that the agent does not have.
    #[error("{agent} has no login {asked}; it has: {}", list(.accepted))]
    Auth {
        /// The agent.
        agent: String,
        /// The login that was named.
        asked: AuthMode,
        /// Those it has.
        accepted: Vec<String>,
    },
    /// A provider that the agent can't use with this login.
    #[error("{agent} with login {auth} can't use the provider {asked:?}{}; it can use: {}", hint(.near), list(.accepted))]
    Provider {
        /// The agent.
        agent: String,
        /// The login.
        auth: AuthMode,
        /// The provider that was named.
        asked: String,
        /// The name that was probably meant.
        near: Option<String>,
        /// Those it can use.
        accepted: Vec<String>,
    },
    /// Several providers, and none named.
    #[error("{agent} can use several providers, and hosts depend on which: name one of {}", list(.accepted))]
    ProviderNeeded {
        /// The agent.
        agent: String,
        /// Those it can use.
        accepted: Vec<String>,
    },
    /// A judge that is no provider.
    #[error("the agent table has no provider {asked:?} for the judge{}; it has: {}", hint(.near), list(.accepted))]
    Judge {
        /// The provider that was named.
        asked: String,
        /// The name that was probably meant.
        near: Option<String>,
        /// All providers.
        accepted: Vec<String>,
    },
}

fn hint(near: &Option<String>) -> String {
    near.as_ref().map(|near| format!(" (did you mean {near}?)")).unwrap_or_default()
}

fn list(names: &[String]) -> String {
    names.join(", ")
}
