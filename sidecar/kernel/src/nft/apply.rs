//! Loading a ruleset: one transaction, every message of it acknowledged.

use std::{fmt, io};

use netlink_sys::protocols::NETLINK_NETFILTER;
use nix::errno::Errno;
use thiserror::Error;

use super::{
    encode::{self, Before},
    feature::Feature,
    readback,
    ruleset::{Name, Ruleset},
};
use crate::netlink::{Channel, messages};

/// Why a ruleset isn't loaded. The rules that stood before still stand.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// The process lacks `CAP_NET_ADMIN` in the user namespace that owns the network namespace.
    #[error("loading packet rules needs CAP_NET_ADMIN in the task's network namespace")]
    NotPermitted,
    /// A part of nf_tables isn't there. Of several parts the first that is really missing is meant; the kernel
    /// doesn't say which.
    #[error("the kernel lacks what {step} needs; on the host: modprobe {}", modules(.features))]
    Lacks {
        /// What needs it.
        step: Step,
        /// What may be missing.
        features: Vec<Feature>,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// The kernel refused a message for another reason.
    #[error("the kernel refused {step}")]
    Refused {
        /// What was refused.
        step: Step,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// The conversation itself failed.
    #[error("no answer from nf_tables")]
    Netlink(#[source] io::Error),
}

/// What one message of the transaction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The transaction as a whole.
    Transaction,
    /// Makes or empties the table.
    Table(Name),
    /// Adds a chain.
    Chain(Name),
    /// Adds a rule.
    Rule {
        /// The chain it is added to.
        chain: Name,
        /// Its comment.
        rule: Name,
    },
}

/// Replaces the table in the calling thread's network namespace by `ruleset`, atomically: packets see the old
/// rules or the new ones, never none. To be called before [`lo::seal`](crate::lo::seal) opens the first route
/// (G6).
///
/// # Errors
/// See [`ApplyError`]; on each of them nothing has changed.
pub fn apply(ruleset: &Ruleset) -> Result<(), ApplyError> {
    let channel =
        Channel::open(NETLINK_NETFILTER).map_err(|error| failure(ruleset, Step::Transaction, error))?;
    // Closing a netlink socket waits until what was deleted is destroyed, which takes the kernel some 10 ms (an RCU
    // grace period). In a new namespace there is nothing to delete. Where that can't be told, the transaction tells.
    let before = match readback::has_table(&channel, ruleset.table) {
        Ok(false) => Before::Nothing,
        Ok(true) | Err(_) => Before::Anything,
    };
    let (batch, steps) = encode::batch(ruleset, before);
    let mut numbers = batch.sequence_numbers();
    // Kernels before 6.10 don't acknowledge the two messages around the transaction.
    let first = if numbers.len() > steps.len() { numbers.start.saturating_add(1) } else { numbers.start };
    let step = |sequence: u32| {
        let position = sequence.checked_sub(first).and_then(|position| usize::try_from(position).ok());
        position.and_then(|position| steps.get(position)).copied().unwrap_or(Step::Transaction)
    };

    for page in &batch {
        channel.send(page).map_err(ApplyError::Netlink)?;
    }
    // Acknowledgements come in the order of the messages.
    while !numbers.is_empty() {
        let datagram = channel.receive().map_err(ApplyError::Netlink)?;
        for answer in messages(&datagram) {
            match answer.result() {
                Some(Err(error)) => return Err(failure(ruleset, step(answer.sequence), error)),
                Some(Ok(())) if numbers.start == answer.sequence => {
                    numbers.next();
                }
                Some(Ok(())) | None => {}
            }
        }
    }
    Ok(())
}

fn failure(ruleset: &Ruleset, step: Step, source: io::Error) -> ApplyError {
    let errno = Errno::from_raw(source.raw_os_error().unwrap_or(0));
    let features = match step {
        Step::Transaction => vec![Feature::NfTables],
        Step::Table(_) => vec![Feature::Inet],
        Step::Chain(name) => {
            ruleset.chains.iter().filter(|chain| chain.name == name).flat_map(Feature::of_chain).collect()
        }
        Step::Rule { rule: comment, .. } => {
            let rules = ruleset.chains.iter().flat_map(|chain| &chain.rules);
            rules.filter(|rule| rule.comment == comment).flat_map(Feature::of_rule).collect()
        }
    };
    match errno {
        Errno::EPERM => ApplyError::NotPermitted,
        errno if Feature::is_missing(errno) && !features.is_empty() => {
            ApplyError::Lacks { step, features, source }
        }
        _ => ApplyError::Refused { step, source },
    }
}

fn modules(features: &[Feature]) -> String {
    features.iter().map(|feature| feature.modules()).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transaction => f.write_str("the transaction"),
            Self::Table(name) => write!(f, "table {name}"),
            Self::Chain(name) => write!(f, "chain {name}"),
            Self::Rule { chain, rule } => write!(f, "rule \"{rule}\" of chain {chain}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nft::{SealedPorts, sealed};

    fn failed(step: Step, errno: Errno) -> ApplyError {
        failure(&sealed(&SealedPorts::default()), step, errno.into())
    }

    fn rule(chain: &'static std::ffi::CStr, rule: &'static std::ffi::CStr) -> Step {
        Step::Rule { chain: Name::new(chain), rule: Name::new(rule) }
    }

    #[test]
    fn a_missing_module_is_named_with_the_remedy() {
        for (step, modules) in [
            (Step::Transaction, "nf_tables"),
            (Step::Chain(Name::new(c"divert")), "nft_chain_nat"),
            (rule(c"divert", c"own"), "nft_fib_inet"),
            (rule(c"divert", c"tcp"), "nft_redir"),
            (rule(c"judge", c"invalid"), "nft_ct"),
            (rule(c"refuse", c"logged"), "nft_limit nft_log nfnetlink_log"),
            (rule(c"refuse", c"refused-tcp"), "nft_reject_inet"),
        ] {
            let error = failed(step, Errno::ENOENT);
            assert!(matches!(error, ApplyError::Lacks { .. }), "{error}");
            assert!(error.to_string().ends_with(&format!("modprobe {modules}")), "{error}");
        }
    }

    #[test]
    fn a_rule_of_plain_expressions_lacks_nothing() {
        assert!(matches!(failed(rule(c"guard_out", c"lo-out"), Errno::ENOENT), ApplyError::Refused { .. }));
    }

    #[test]
    fn other_errors_are_not_taken_for_a_missing_module() {
        assert!(matches!(failed(rule(c"divert", c"own"), Errno::EINVAL), ApplyError::Refused { .. }));
        assert!(matches!(failed(Step::Transaction, Errno::EPERM), ApplyError::NotPermitted));
    }
}
