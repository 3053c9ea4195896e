//! Hosts of the table: exact names.

use std::fmt;

use closedbook_policy::{Entry, Name, Pattern, Target};
use serde::{Deserialize, Serialize};

/// A host that an agent needs: one exact name on the default ports.
///
/// No wildcards, no addresses: what the table permits is read by people, and works in every harness.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Host(Name);

impl Host {
    /// The name.
    pub fn name(&self) -> &Name {
        &self.0
    }

    /// The name, as policies write it.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl TryFrom<String> for Host {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let entry = Entry::parse(&text).map_err(|fault| fault.to_string())?;
        // Ports, if there are any, stand in the text and not in the name.
        let is_name = |name: &Name| name.as_str() == text;
        match entry.target() {
            Target::Names(Pattern::Exact(name)) if is_name(name) => Ok(Self(name.clone())),
            _ => Err(format!(
                "{text:?}: the table names hosts exactly, in lower case, without wildcard, address or port"
            )),
        }
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.0.as_str().to_owned()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A host, and what it is needed for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Needed {
    /// The host.
    pub host: Host,
    /// What for, in a few words.
    #[serde(rename = "for")]
    pub purpose: String,
}
