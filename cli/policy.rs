//! `closedbook policy`: look at a policy without running anything.

use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use closedbook_policy::Policy;

use crate::exit::Failure;

mod check;
mod explain;
mod file;
mod ruleset;

/// Look at a policy without running anything
#[derive(Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Check a policy file and point out what is wider than it looks
    ///
    /// Exits 2 if the file is no policy. Advice does not change the exit code, unless --strict is given.
    Check(check::Check),
    /// Say whether something would pass, by which entry, and what would permit it
    ///
    /// Exits 0 if it would pass and 1 if not. Without --phase, all phases are shown, and one that permits is enough.
    Explain(explain::Explain),
    /// Print the digest of a policy: SHA-256 over its canonical JSON
    Digest(check::Digest),
    /// Print the packet rules of a sealed namespace, as nft -f takes them
    ///
    /// They are the same for every policy: names are decided by the proxy, and these rules only lead there.
    Ruleset(ruleset::Ruleset),
}

/// Runs the verb.
pub(crate) fn run(args: PolicyArgs) -> Result<ExitCode, Failure> {
    match args.verb {
        Verb::Check(check) => check.run(),
        Verb::Explain(explain) => explain.run(),
        Verb::Digest(digest) => digest.run(),
        Verb::Ruleset(ruleset) => ruleset.run(),
    }
}

/// Reads the policy in a file, TOML or JSON; `-` is standard input. The failure names every fault with its place.
pub(crate) fn load(path: &Path) -> Result<Policy, Failure> {
    file::load(path).map_err(|unusable| unusable.failure(path))
}
