//! Web tools, and what switches them off.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A web tool of an agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tool {
    /// Its name, as the model sees it.
    pub name: String,
    /// Where it runs, which decides whether an allowlist can stop it.
    pub runs: Runs,
    /// What it does on the network.
    pub does: String,
    /// The settings that switch it off. Empty where none is known: then the row is never plainly supported.
    pub switches: Vec<Switch>,
    /// How and when the switches were shown to work.
    pub verified: String,
}

/// Where a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runs {
    /// In the agent's container: the allowlist stops it.
    Client,
    /// At the model's provider, reached through the allowed model host: no allowlist can stop it.
    Provider,
    /// Either, or first at the provider and then in the container.
    Both,
}

/// A setting that switches something off.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "RawSwitch")]
pub struct Switch {
    /// Where it stands.
    #[serde(flatten)]
    pub place: Place,
    /// What it is set to. `None` for a flag that takes no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<toml::Value>,
}

/// Where a setting stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", untagged)]
pub enum Place {
    /// A flag of the command line.
    Flag {
        /// With its dashes.
        flag: String,
    },
    /// A key of a settings file.
    File {
        /// Its path: absolute, or below `~/`.
        file: String,
        /// Keys from the root, separated by dots.
        key: String,
    },
    /// An environment variable.
    Env {
        /// Its name.
        env: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSwitch {
    flag: Option<String>,
    file: Option<String>,
    key: Option<String>,
    env: Option<String>,
    value: Option<toml::Value>,
}

impl TryFrom<RawSwitch> for Switch {
    type Error = &'static str;

    fn try_from(raw: RawSwitch) -> Result<Self, &'static str> {
        let RawSwitch { flag, file, key, env, value } = raw;
        let place = match (flag, file, key, env) {
            (Some(flag), None, None, None) if flag.starts_with('-') => Place::Flag { flag },
            (None, Some(file), Some(key), None) => Place::File { file, key },
            (None, None, None, Some(env)) => Place::Env { env },
            _ => return Err("a switch is one of: flag = \"--...\"; file and key; env"),
        };
        let is_text = matches!(value, Some(toml::Value::String(_)));
        match place {
            Place::Flag { .. } if value.is_some() && !is_text => Err("the value of a flag is a string"),
            Place::Env { .. } if !is_text => Err("a variable needs a value, which is a string"),
            Place::File { .. } if value.is_none() => Err("a key of a file needs a value"),
            place => Ok(Self { place, value }),
        }
    }
}

/// As a person would write it: `--flag VALUE`, `KEY = VALUE in FILE`, `VARIABLE=VALUE`.
impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<toml::Value>| match value {
            Some(toml::Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => String::new(),
        };
        match (&self.place, &self.value) {
            (Place::Flag { flag }, None) => f.write_str(flag),
            (Place::Flag { flag }, value) => write!(f, "{flag} {}", text(value)),
            (Place::Env { env }, value) => write!(f, "{env}={}", text(value)),
            (Place::File { file, key }, Some(value)) => write!(f, "{key} = {value} in {file}"),
            (Place::File { file, key }, None) => write!(f, "{key} in {file}"),
        }
    }
}
