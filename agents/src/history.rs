//! Every version that the table has had.

use closedbook_policy::Digest;
use thiserror::Error;

use crate::diff::Diff;
use crate::fault::InvalidTable;
use crate::table::Table;

/// The tables before the embedded one, oldest first. A version that was once released is never changed: the digests
/// beside them hold that.
const FORMER: &[&str] = &[include_str!("../history/1.toml")];

/// `VERSION DIGEST`, one a line, the embedded one too.
const DIGESTS: &str = include_str!("../history/digests");

const CHANGELOG: &str = "# Changes of the agent table

Made from the tables themselves by `closedbook agents diff --changelog`; the tests hold that it is up to date. What a version
newly allows is named host by host, with the phases and logins that it concerns.
";

/// All versions of the table, oldest first.
#[derive(Debug, Clone)]
pub struct History(Vec<Table>);

/// Why the history is not in order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HistoryFault {
    /// A table that can't be read.
    #[error("table {number} of the history: {fault}")]
    Table {
        /// Which one, from 1.
        number: usize,
        /// What is wrong with it.
        fault: InvalidTable,
    },
    /// Versions that don't count up by one.
    #[error("table {number} of the history has version {version}: versions count up by one")]
    Order {
        /// Which one, from 1.
        number: usize,
        /// The version it has.
        version: u32,
    },
    /// A table that was changed after its version was given.
    #[error("version {version} was changed: its digest is {found}; a change needs a new version")]
    Changed {
        /// The version.
        version: u32,
        /// The digest that it has now.
        found: Digest,
    },
}

impl History {
    /// Reads it.
    pub fn embedded() -> Result<Self, HistoryFault> {
        let mut tables = Vec::new();
        let all = FORMER.iter().map(|source| Table::from_toml(source)).chain([Table::embedded()]);
        for (number, table) in (1..).zip(all) {
            let table = table.map_err(|fault| HistoryFault::Table { number, fault })?;
            if table.version() as usize != number {
                return Err(HistoryFault::Order { number, version: table.version() });
            }
            let noted = format!("{} {}", table.version(), table.digest());
            if !DIGESTS.lines().any(|line| line == noted) {
                return Err(HistoryFault::Changed { version: table.version(), found: table.digest() });
            }
            tables.push(table);
        }
        Ok(Self(tables))
    }

    /// The table of this version.
    pub fn version(&self, version: u32) -> Option<&Table> {
        self.0.iter().find(|table| table.version() == version)
    }

    /// All of them, oldest first.
    pub fn tables(&self) -> &[Table] {
        &self.0
    }

    /// The changelog, newest first: what `agents/CHANGELOG.md` says.
    pub fn changelog(&self) -> String {
        let mut text = String::from(CHANGELOG);
        for pair in self.0.windows(2).rev() {
            if let [old, new] = pair {
                text.push_str(&format!("\n{}", Diff::between(old, new)));
            }
        }
        text
    }
}
