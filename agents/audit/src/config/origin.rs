//! Where something is said.

use std::fmt;

use closedbook_document::Place;
use serde::Serialize;

/// Where a setting stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "in")]
pub enum Origin {
    /// In a file.
    File {
        /// Its path as the agent sees it.
        path: String,
        /// Where in it.
        place: Option<Place>,
    },
    /// In the arguments, counted from 1.
    Argument {
        /// Which one.
        number: usize,
    },
    /// In an environment variable.
    Variable {
        /// Its name.
        name: String,
    },
    /// In a harness's own file, which passes it on.
    Harness {
        /// The file.
        path: String,
        /// Where in it.
        place: Option<Place>,
        /// What passes it on: `agents[0].kwargs.disallowed_tools`.
        field: String,
    },
    /// Nowhere: it is what the CLI does by itself.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |f: &mut fmt::Formatter<'_>, path: &str, place: &Option<Place>| match place {
            Some(place) => write!(f, "{path}:{}", place.line),
            None => f.write_str(path),
        };
        match self {
            Origin::File { path, place } => at(f, path, place),
            Origin::Argument { number } => write!(f, "argument {number}"),
            Origin::Variable { name } => write!(f, "${name}"),
            Origin::Harness { path, place, field } => {
                at(f, path, place)?;
                write!(f, " ({field})")
            }
            Origin::Default => f.write_str("the CLI's default"),
        }
    }
}
