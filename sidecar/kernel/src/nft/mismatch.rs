//! Differences between the rules meant and those that stand, and how they are told.

use std::fmt;

use super::ruleset::Name;

/// Every difference found, never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatches(pub Vec<Mismatch>);

/// One difference between the rules meant and those that stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// There is no such table.
    TableMissing(Name),
    /// The table has flags; `dormant` (1) switches every chain of it off.
    TableFlags(u32),
    /// A chain isn't there.
    ChainMissing(Name),
    /// A chain is there that wasn't meant.
    ChainExtra(String),
    /// Type, hook, priority or policy of a chain is another.
    ChainChanged {
        /// Which chain.
        chain: Name,
        /// What was meant.
        meant: String,
        /// What stands.
        found: String,
    },
    /// A rule isn't there.
    RuleMissing {
        /// The chain it belongs to.
        chain: Name,
        /// Its comment.
        rule: Name,
    },
    /// A rule has the comment of one that was meant, and does something else.
    RuleChanged {
        /// The chain it is in.
        chain: Name,
        /// Its comment.
        rule: Name,
        /// Bytecode that stands.
        found: String,
    },
    /// A rule is there that wasn't meant, or one too often.
    RuleExtra {
        /// The chain it is in.
        chain: Name,
        /// Its bytecode.
        found: String,
    },
    /// The rules are right and their order isn't.
    RulesReordered {
        /// The chain they are in.
        chain: Name,
    },
    /// A message libnftnl doesn't understand; it may be anything.
    Unreadable,
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, mismatch) in self.0.iter().enumerate() {
            write!(f, "{}{mismatch}", if position > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TableMissing(table) => write!(f, "table {table} is missing"),
            Self::TableFlags(flags) => write!(f, "the table has flags {flags:#x}"),
            Self::ChainMissing(chain) => write!(f, "chain {chain} is missing"),
            Self::ChainExtra(chain) => write!(f, "chain {chain} was added"),
            Self::ChainChanged { chain, meant, found } => {
                write!(f, "chain {chain} is {found} instead of {meant}")
            }
            Self::RuleMissing { chain, rule } => write!(f, "rule \"{rule}\" of chain {chain} is missing"),
            Self::RuleChanged { chain, rule, .. } => {
                write!(f, "rule \"{rule}\" of chain {chain} was changed")
            }
            Self::RuleExtra { chain, found } => {
                write!(f, "chain {chain} has an added rule:{}", one_line(found))
            }
            Self::RulesReordered { chain } => write!(f, "the rules of chain {chain} are in another order"),
            Self::Unreadable => f.write_str("a part of them is unknown to this program"),
        }
    }
}

fn one_line(bytecode: &str) -> String {
    bytecode.lines().skip(1).map(str::trim).fold(String::new(), |text, line| format!("{text} {line}"))
}
