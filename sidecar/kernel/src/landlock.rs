//! A process without a file system (landlock(7)): what is open stays open, nothing else is reached.

use landlock::{
    ABI, Access, AccessFs, AccessNet, RestrictionStatus, Ruleset, RulesetAttr, RulesetError, RulesetStatus,
    Scope,
};

/// The newest version of the kernel's interface that is used; an older kernel gives what it has.
const NEWEST: ABI = ABI::V6;

/// How much of it the kernel gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforced {
    /// Files, bound TCP ports, abstract unix sockets and signals: all that is asked for.
    Fully,
    /// What an older kernel knows of.
    Partly,
    /// Nothing: the kernel has no Landlock, or a container's own filter hides it. The system-call filter stands alone.
    NotAtAll,
}

/// From now on this thread, and all that it starts, opens no file and no folder, binds no TCP port, reaches no abstract
/// unix socket and signals no process that was not started under the same restriction. Needs no_new_privs.
pub fn no_file_system() -> Enforced {
    match restrict() {
        Ok(status) => match status.ruleset {
            RulesetStatus::FullyEnforced => Enforced::Fully,
            RulesetStatus::PartiallyEnforced => Enforced::Partly,
            RulesetStatus::NotEnforced => Enforced::NotAtAll,
        },
        // Seen where a container's filter answers EPERM instead of ENOSYS. It is a second line of defence.
        Err(_) => Enforced::NotAtAll,
    }
}

/// Everything is handled and no rule permits any of it.
fn restrict() -> Result<RestrictionStatus, RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::BindTcp)?
        .scope(Scope::from_all(NEWEST))?
        .create()?
        .restrict_self()
}
